"""Where the mapping that a call unpacks is made without a key: ``setup()`` of ``def setup(**kwargs): init(**kwargs)``, ``kwargs = {}``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec import Struct

from ddp_codemod.dataflow.callers import callers_of
from ddp_codemod.dataflow.calls import find_names
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.mapping_stores import KeyEffect, find_reaching_stores, find_stores
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.discover.kinds import is_test
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.scopes import bindings, owner_scope, scope_of

_DEPTH = 5  # functions that hand their keywords on to each other
_OF_ONE_KEY = frozenset({"get", "pop", "setdefault"})
_UNCLEAR = (KeyEffect.FILLS, KeyEffect.MIXES, KeyEffect.CHANGES)


class MissingKey(Struct, frozen=True, eq=False):
    """Where a key is omitted.

    ``call``: what can pass it as a keyword, because nothing but the unpacking looks into the mapping from there on; None for others.
    """

    module: Module
    call: ast.Call | None


def find_missing_keys(
    tracer: Tracer, module: Module, mapping: ast.expr, name: str, alone: bool = True, depth: int = _DEPTH
) -> Iterator[MissingKey]:
    """The places from which a mapping surely comes without a key.

    What is not followed gives none: whether it has the key is not known.
    """
    if isinstance(mapping, ast.Dict) or _is_plain_dict(tracer, module, mapping):
        yield from _search_display(tracer, module, mapping, name, alone, depth)
    elif isinstance(mapping, ast.Name) and depth:
        scope = owner_scope(module, scope_of(module, mapping), mapping.id)
        if scope is not None:
            yield from _search_name(tracer, module, mapping, scope, name, alone, depth)


def _is_plain_dict(tracer: Tracer, module: Module, node: ast.expr) -> bool:
    plain = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict" and not node.args
    return plain and not tracer.resolver.resolve(module, node.func)  # type: ignore[attr-defined]


def _search_display(tracer: Tracer, module: Module, node: ast.expr, name: str, alone: bool, depth: int) -> Iterator[MissingKey]:
    """The place itself, where a display has neither the key nor anything that is put into it; else what that lacks."""
    assert isinstance(node, (ast.Call, ast.Dict))
    if isinstance(node, ast.Dict):
        given = [tracer.facts.fold(module, key) if key is not None else None for key in node.keys]
        if any(key is not None and (not isinstance(key, Known) or key.value == name) for key in given):
            return
        inner = [value for key, value in zip(node.keys, node.values, strict=True) if key is None]
    else:
        if any(keyword.arg == name for keyword in node.keywords):
            return
        inner = [keyword.value for keyword in node.keywords if keyword.arg is None]
    if not inner:
        yield MissingKey(module, node if alone and isinstance(node, ast.Call) else None)
    elif len(inner) == 1:
        yield from find_missing_keys(tracer, module, inner[0], name, alone, depth - 1)


def _search_name(
    tracer: Tracer, module: Module, mapping: ast.Name, scope: ast.AST, name: str, alone: bool, depth: int
) -> Iterator[MissingKey]:
    steps = list(find_stores(tracer, module, scope, mapping, Known(name)))
    if any(step.does in _UNCLEAR for step in steps):
        return
    reached, open_ = find_reaching_stores(tracer, module, steps, mapping, scope)
    alone = alone and _is_only_unpacked(tracer, module, mapping, scope, name)
    for step in reached:
        if step.does is KeyEffect.MAKES and step.value is not None:
            yield from find_missing_keys(tracer, module, step.value, name, alone, depth - 1)
    if open_ and isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)) and scope.args.kwarg is not None:
        if [one.node for one in bindings(module, scope)[mapping.id] if one.kind == "parameter"] == [scope.args.kwarg]:
            yield from _search_callers(tracer, module, scope, name, alone, depth)


def _search_callers(
    tracer: Tracer, module: Module, function: ast.FunctionDef | ast.AsyncFunctionDef, name: str, alone: bool, depth: int
) -> Iterator[MissingKey]:
    """The calls that omit a keyword; tests do so for reasons of their own."""
    if any(one.arg == name for one in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)):
        return  # what is passed under the name is a parameter's, and never among the keywords
    for given in callers_of(tracer, module, function):
        spread = [keyword.value for keyword in given.keywords if keyword.arg is None]
        missing = not any(keyword.arg == name for keyword in given.keywords)
        if not missing or is_test(given.module.name) or tracer.facts.unreachable(given.module, given.call) is not None:
            continue
        if not spread:
            direct = given.keywords == tuple(given.call.keywords)
            yield MissingKey(given.module, given.call if alone and direct else None)
        elif len(spread) == 1:
            yield from find_missing_keys(tracer, given.module, spread[0], name, alone, depth - 1)


def _is_only_unpacked(tracer: Tracer, module: Module, mapping: ast.Name, scope: ast.AST, name: str) -> bool:
    """Whether the code reads nothing else of a mapping that the key would change."""
    for node in find_names(module, mapping.id):
        if node is mapping or not isinstance(node.ctx, ast.Load):
            continue
        if owner_scope(module, scope_of(module, node), node.id) is scope and not _is_about_another_key(
            tracer, module, node, name
        ):
            return False
    return True


def _is_about_another_key(tracer: Tracer, module: Module, node: ast.Name, name: str) -> bool:
    around = module.parents.get(node)
    if isinstance(around, ast.Attribute):
        call = module.parents.get(around)
        if not isinstance(call, ast.Call) or around.attr not in _OF_ONE_KEY or not call.args:
            return False
        key = tracer.facts.fold(module, call.args[0])
        return isinstance(key, Known) and key.value != name
    if not isinstance(around, ast.Subscript) or around.value is not node:
        return False
    key = tracer.facts.fold(module, around.slice)
    return isinstance(key, Known) and (key.value != name or not isinstance(around.ctx, ast.Load))
