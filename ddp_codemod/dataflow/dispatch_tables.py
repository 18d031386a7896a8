"""Functions that are called through a table: ``STARTERS["gpu"]("nccl")``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ddp_codemod.dataflow.calls import CallArguments
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.sites.entities import Definition, Variable
from ddp_codemod.sites.scopes import bindings, owner_scope, scope_of
from ddp_codemod.sites.word_search import has_word_in_context

_KEYED, _ENDED = re.compile(rb":\s*(?:[\w.]+\.)?\Z"), re.compile(rb"\s*[,}\n\r#]")


def find_table_calls(tracer: Tracer, other: Module, function: ast.AST) -> Iterator[CallArguments]:
    """The calls of a file whose callee is looked up in a table that holds the function."""
    for call in _list_table_calls(other):
        if any(entity.node is function for entity in resolve_table_entry(tracer, other, call.func)):
            yield CallArguments(other, call, tuple(call.args), tuple(call.keywords))


def resolve_table_entry(tracer: Tracer, module: Module, node: ast.expr) -> Iterator[Definition]:
    """The functions and classes of the project that a look-up in a table can give."""
    looked_up = _split_lookup(module, node)
    if looked_up is None:
        return
    table, key = looked_up
    for other, display in _find_displays(tracer, module, table):
        for entry, value in zip(display.keys, display.values, strict=True):
            wanted = not (isinstance(key, ast.Constant) and isinstance(entry, ast.Constant)) or entry.value == key.value
            if wanted and isinstance(value, (ast.Name, ast.Attribute)):
                yield from (one for one in tracer.resolver.resolve(other, value) if isinstance(one, Definition))


def find_table_files(tracer: Tracer, module: Module, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Module]:
    """The files that have a table with the function in it, and those that import a name from such a file."""
    project = tracer.resolver.project
    seen: set[str] = set()
    known = tracer.memory.setdefault("tables", {})
    if function.name not in known:
        key = function.name.encode()
        known[function.name] = [
            name for name in project.mentioning(function.name) if has_word_in_context(project.data(name), key, _KEYED, _ENDED)
        ]
    for name in known[function.name]:
        other = project.module(name)
        for table in other.nodes.get(ast.Dict, ()) if other else ():
            assert isinstance(table, ast.Dict)
            assert other is not None
            if not any(last_name(value) == function.name for value in table.values):
                continue
            named = [part.id for part in getattr(other.parents.get(table), "targets", ()) if isinstance(part, ast.Name)]
            for file in {name, *(file for word in named for file in project.using(name, word))} - seen:
                seen.add(file)
                if (using := project.module(file)) is not None:
                    yield using


def _list_table_calls(module: Module) -> list[ast.Call]:
    """The calls of a file that may go through a table, worked out once."""
    if "table-calls" not in module.own:
        calls = module.nodes.get(ast.Call, ())
        module.own["table-calls"] = [call for call in calls if _split_lookup(module, call.func) is not None]  # type: ignore[attr-defined]
    return module.own["table-calls"]  # type: ignore[return-value]


def _split_lookup(module: Module, node: ast.expr, depth: int = 0) -> tuple[ast.expr, ast.expr] | None:
    """The table and the key of ``T[key]``, ``T.get(key)``, or of a name that is assigned one of these and nothing else."""
    if isinstance(node, ast.Subscript):
        return node.value, node.slice
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args:
        return node.func.value, node.args[0]
    if isinstance(node, ast.Name) and not depth:
        home = owner_scope(module, scope_of(module, node), node.id)
        made = bindings(module, home).get(node.id, ()) if home is not None else ()
        if len(made) == 1 and made[0].kind == "value" and isinstance(made[0].value, (ast.Subscript, ast.Call)):
            return _split_lookup(module, made[0].value, 1)
    return None


def _find_displays(tracer: Tracer, module: Module, node: ast.expr) -> Iterator[tuple[Module, ast.Dict]]:
    if isinstance(node, ast.Dict):
        yield module, node
    for entity in tracer.resolver.resolve(module, node) if isinstance(node, (ast.Name, ast.Attribute)) else ():
        if isinstance(entity, Variable):
            for made in bindings(entity.module, entity.scope).get(entity.name, ()):
                if isinstance(made.value, ast.Dict):
                    yield entity.module, made.value
