"""Values of any kind, numbers and lists too, that a program reads from configuration files which it opens itself."""

from __future__ import annotations

import ast

from ddp_codemod.dataflow.allocation_sites import AllocationKind, find_origins
from ddp_codemod.dataflow.config_keys import find_key_path
from ddp_codemod.dataflow.field_stores import has_store, may_store
from ddp_codemod.dataflow.opened_files import find_opened_files
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.dataflow.values import Trace
from ddp_codemod.discover.kinds import NOTEBOOK
from ddp_codemod.parse.document import Document
from ddp_codemod.parse.python import Module

ConfigValue = str | tuple[str, ...]  # what a scalar reads as; of a list, its scalars


def read_config_values(tracer: Tracer, module: Module, node: ast.expr, rest: tuple[str, ...] = ()) -> list[ConfigValue] | None:
    """What the files give for the keys that an expression goes through and ``rest``; None where something else may give a value."""
    keys = (*find_key_path(node), *rest)
    if not keys or isinstance(node, ast.Call) or is_set(tracer, keys[-1]):
        return None
    origin = find_origins(tracer, module, node, Trace())
    made = [one for one in origin.made if one.maker is AllocationKind.FILE and one.call is not None]
    files = find_opened_files(tracer, origin) if made and len(made) == len(origin.made) else None
    if files is None:
        return None
    below = keys[len(find_key_path(origin.at)) :]
    traces = {(*one.path, *below) for one in made}
    found = [
        value
        for document in tracer.resolver.project.documents(keys[-1])
        if files.has(document.name)
        for path in traces
        for value in _read_values(document, path)
    ]
    return found or None


def _read_values(document: Document, path: tuple[str, ...]) -> list[ConfigValue]:
    if listed := document.mapping(path):
        return [tuple(entry.value for entry in listed)]
    return [entry.value for entry in document.at(path)]


def is_set(tracer: Tracer, key: str) -> bool:
    """Whether code of the project puts a value of its own under the key, in any object."""
    project = tracer.resolver.project
    files = (name for name in project.mentioning(key) if name.endswith(NOTEBOOK) or may_store(project.data(name), key))
    return any(has_store(module, key) for name in files for module in project.programs(name))
