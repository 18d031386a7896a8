"""Calls of what is looked up by a name that is put together: ``getattr(module, "init_%s" % launcher)(...)``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ddp_codemod.dataflow.calls import CallArguments, Def
from ddp_codemod.dataflow.joined_texts import list_text_fragments
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.sites.entities import Definition, Instance, ModuleRef

# what is got is called there and then; two levels of brackets may be in it
_CALLED = re.compile(rb"\bgetattr\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\s*\(")


def find_dynamic_calls(tracer: Tracer, module: Module, function: Def) -> Iterator[CallArguments]:
    """The calls that can run a function of a module or class by its name."""
    for other, call, owner, name in _list_dynamic_calls(tracer):
        pattern = _compile_name_pattern(name)
        if pattern is None or not pattern.fullmatch(function.name):
            continue
        for entity in tracer.resolver.resolve(other, owner):
            holder = entity.module.tree if isinstance(entity, ModuleRef) else getattr(entity, "node", None)
            if isinstance(entity, (ModuleRef, Instance, Definition)) and module.parents.get(function) is holder:
                yield CallArguments(other, call, tuple(call.args), tuple(call.keywords))


def _list_dynamic_calls(tracer: Tracer) -> list[tuple[Module, ast.Call, ast.expr, ast.expr]]:
    """Every such call of the project, with what it looks into and the name that it looks for."""
    known = tracer.memory.get("by name")
    if known is None:
        known = tracer.memory["by name"] = list(_search_dynamic_calls(tracer))
    return list(known)


def _search_dynamic_calls(tracer: Tracer) -> Iterator[tuple[Module, ast.Call, ast.expr, ast.expr]]:
    project = tracer.resolver.project
    for file in project.mentioning("getattr"):
        module = project.module(file) if _CALLED.search(project.data(file)) else None
        for call in module.nodes.get(ast.Call, ()) if module is not None else ():
            assert isinstance(call, ast.Call)
            assert module is not None
            got = call.func
            if isinstance(got, ast.Call) and last_name(got.func) == "getattr" and len(got.args) >= 2:
                yield module, call, got.args[0], got.args[1]


def _compile_name_pattern(name: ast.expr) -> re.Pattern[str] | None:
    """What the names look like that an expression can give; None where nothing of it is written out."""
    parts = list_text_fragments(name)
    if not parts or not any(isinstance(part, str) and part for part in parts):
        return None
    return re.compile("".join(re.escape(part) if isinstance(part, str) else r"\w+" for part in parts))
