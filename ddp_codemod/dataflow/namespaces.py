"""Objects whose attributes are what a call was passed, or what was assigned to them: ``SimpleNamespace(backend=...)``, ``CfgNode()``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec.structs import replace

from ddp_codemod.dataflow.copies import find_copy_source
from ddp_codemod.dataflow.field_stores import find_stores_by_text
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.dataflow.values import Trace, Value
from ddp_codemod.kinds import OriginKind
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.sites.entities import Definition
from ddp_codemod.sites.scopes import scope_of

DEPTH = 4  # copies of copies


def trace_namespace(tracer: Tracer, module: Module, node: ast.Attribute, trace: Trace) -> tuple[list[Value], bool]:
    """The sources of ``x.a.b`` where the project made ``x`` by a call of somebody else's class.

    Also whether that is all: an ``x`` that some callers make this way, and others have parsed from a command line, holds more.
    """
    path: list[str] = []
    at: ast.expr = node
    while isinstance(at, ast.Attribute):
        path.insert(0, at.attr)
        at = at.value
    found: list[Value] = []
    whole = True
    for source in _find_origins(tracer, module, at, trace) if isinstance(at, (ast.Name, ast.Call)) else ():
        home, call, before = source.module, source.node, len(found)
        if not isinstance(home, Module) or not isinstance(call, ast.Call):
            whole = False
            continue
        for name in _list_assigned_names(home, call):
            for binding in find_stores_by_text(home, ".".join([name, *path])):
                if binding.value is not None and scope_of(home, binding.node) is scope_of(home, call):
                    step = source.trace.step(
                        home.place(binding.node), Reason.of("hop-assigned", name=binding.name), OriginKind.ASSIGNMENT
                    )
                    found += tracer.evaluate(home, binding.value, step)
        step = source.trace.step(home.place(call), Reason.of("hop-key", text=path[0]), OriginKind.KEY)
        for keyword in call.keywords:
            if keyword.arg == path[0]:
                found += tracer.descend(home, keyword.value, path[1:], step)
            elif keyword.arg is None and isinstance(keyword.value, ast.Dict):  # ``SimpleNamespace(**{...})``
                found += tracer.descend(home, keyword.value, path, step)
        if len(call.args) == 1 and _is_mapping(tracer, home, call):
            found += tracer.descend(home, call.args[0], path, step)
        # what is read from a command line or a file has a value before one is stored, and whenever none is
        read = {name for idioms in tracer.idioms for name in (*idioms.option_parsers, *idioms.file_readers)}
        whole = whole and len(found) > before and last_name(call.func) not in read
    return found, whole


def _find_origins(
    tracer: Tracer, module: Module, node: ast.expr, trace: Trace, seen: frozenset[ast.expr] = frozenset()
) -> Iterator[Value]:
    """What an object can be: the calls that made it, or what it was copied from, copies of copies included, and what is no call."""
    for source in tracer.evaluate(module, node, replace(trace, kind=OriginKind.OBJECT)):
        call = source.node
        if not isinstance(call, ast.Call) or not isinstance(source.module, Module):
            yield source
            continue
        original = find_copy_source(tracer, source.module, call)
        if original is None:
            yield source
        elif original not in seen and len(seen) < DEPTH:
            yield from _find_origins(tracer, source.module, original, source.trace, seen | {original})


def _list_assigned_names(module: Module, call: ast.Call) -> list[str]:
    """The names that the object of a call gets at once."""
    statement = module.parents.get(call)
    if isinstance(statement, ast.Assign):
        return [target.id for target in statement.targets if isinstance(target, ast.Name)]
    return []


def _is_mapping(tracer: Tracer, module: Module, call: ast.Call) -> bool:
    """Whether what a call makes holds the entries of the mapping that it is passed."""
    names = set(tracer.resolver.names(module, call.func))
    if any(names & set(idioms.attribute_mappings) for idioms in tracer.idioms):
        return True
    classes = (entity for entity in tracer.resolver.resolve(module, call.func) if isinstance(entity, Definition))
    made = [entity for entity in classes if isinstance(entity.node, ast.ClassDef)]
    return any("dict" in map(ast.unparse, entity.node.bases) for entity in made if isinstance(entity.node, ast.ClassDef))
