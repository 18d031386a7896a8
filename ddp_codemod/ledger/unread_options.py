"""Options of a command line that the project declares, and whose values no program reads."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Collection, Container, Iterable, Iterator

from ddp_codemod.dataflow.calls import find_names
from ddp_codemod.dataflow.declared_options import find_declarations, index_declarations
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.ledger.unread_keys import index_nodes_by_name
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.sites.entities import External

_HOLDERS = frozenset({"args", "opt", "opts", "options"})  # what the object with all options is mostly called


def is_unread_default(tracer: Tracer, module: Module, node: ast.expr, blind: Container[str]) -> bool:
    """Whether an expression is the default of such an option."""
    around = module.parents[node]
    call = module.parents[around] if isinstance(around, ast.keyword) else around
    if not isinstance(call, ast.Call):
        return False
    if "options by call" not in module.cache:
        table: dict[ast.AST, list[str]] = {}
        for name, result in index_declarations(tracer, module).items():
            for one, _ in result:
                table.setdefault(one, []).append(name)
        module.cache["options by call"] = table
    names: list[str] = module.cache["options by call"].get(call, [])  # type: ignore[attr-defined]
    return any(is_unread_option(tracer, name, blind) for name in names)


def is_unread_option(tracer: Tracer, name: str, blind: Container[str]) -> bool:
    """Whether the project declares an option of this name, and nobody can read it.

    ``blind``: packages that may be handed all options, and read none for a group.
    """
    name = name.lstrip("-").replace("-", "_")
    known: dict[str, bool] = tracer.memory.setdefault("unread options", {})
    if name not in known:
        calls = {call for result in find_declarations(tracer, name).values() for _, call, _ in result}
        known[name] = bool(calls) and not _is_read(tracer, name, calls) and not _is_options_object_given(tracer, blind)
    return known[name]


def _is_read(tracer: Tracer, name: str, calls: Collection[ast.AST]) -> bool:
    """Whether anything in the project has this name, but for the calls that declare the option."""
    project = tracer.resolver.project
    return any(
        not any(around in calls for around in module.ancestors(node))
        for file in project.mentioning(name)
        for module in project.programs(file)
        for node in index_nodes_by_name(module).get(name, ())
    )


def _is_options_object_given(tracer: Tracer, blind: Container[str]) -> bool:
    """Whether a library may be passed the object with all options, or a table of them."""
    if "options handed on" not in tracer.memory:
        project = tracer.resolver.project
        held = _HOLDERS | {
            name for file in project.names if b"parse_" in project.data(file) for name in _list_parsed_names(tracer, file)
        }
        given = re.compile(rb"[(,*=]\s*(?:%s)\s*[,).]" % "|".join(map(re.escape, sorted(held))).encode())
        tracer.memory["options handed on"] = any(
            not _is_blind(tracer, module, call, blind)
            for file in project.names
            if given.search(project.data(file))
            for module in project.programs(file)
            for call in find_calls_given(
                module, (part for name in held for part in find_names(module, name) if _is_whole(module, part))
            )
        )
    return bool(tracer.memory["options handed on"])


def _list_parsed_names(tracer: Tracer, file: str) -> set[str]:
    """The names that a file gives to what a parser returns."""
    parsers = {name for idioms in tracer.idioms for name in idioms.option_parsers}
    assigned = (
        node
        for module in tracer.resolver.project.programs(file)
        for node in module.nodes.get(ast.Assign, ())
        if isinstance(node, ast.Assign)
    )
    result = [node for node in assigned if isinstance(node.value, ast.Call) and last_name(node.value.func) in parsers]
    return {part.id for node in result for target in node.targets for part in ast.walk(target) if isinstance(part, ast.Name)}


def _is_whole(module: Module, part: ast.Name) -> bool:
    """Whether an object is meant with all that it holds: ``args``, ``args.__dict__``."""
    around = module.parents[part]
    return not isinstance(around, ast.Attribute) or around.attr == "__dict__"


def find_calls_given(module: Module, parts: Iterable[ast.Name]) -> Iterator[ast.Call]:
    """The calls that names are in the arguments of: ``f(args)``, ``f(vars(args))``, ``f(**args.__dict__)``."""
    for part in parts:
        below: ast.AST = part
        for around in module.ancestors(part):
            if isinstance(around, ast.stmt):
                break
            if isinstance(around, ast.Call) and below is not around.func:
                yield around
            below = around


def _is_blind(tracer: Tracer, module: Module, call: ast.Call, blind: Container[str]) -> bool:
    """Whether a call is none of a library, or of one that reads no option for a group."""
    names = [entity.name for entity in tracer.resolver.resolve(module, call.func) if isinstance(entity, External)]
    return all(name.partition(".")[0] in sys.stdlib_module_names or name.partition(".")[0] in blind for name in names)
