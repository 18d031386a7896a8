"""Finds conditions that a platform turns off together with what keeps ranks in step: they would train apart, and nothing says so."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from ddp_codemod.catalog.advisory import Pattern
from ddp_codemod.dataflow.blocks import behind
from ddp_codemod.dataflow.demands import asks, leaves
from ddp_codemod.parse.python import Module, walk
from ddp_codemod.policy.findings import Context
from ddp_codemod.sites.entities import Definition
from ddp_codemod.sites.scopes import scope_of

_DEPTH = 2  # functions of the project through which a model is wrapped
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def unsynced(context: Context, pattern: Pattern, module: Module) -> Iterator[ast.expr]:
    """The tests that ask for a device (``makers``) and are off here, in whose branch alone a model is wrapped by one of ``names``."""
    for kind in (ast.If, ast.IfExp):
        for node in module.nodes.get(kind, ()):
            assert isinstance(node, (ast.If, ast.IfExp))
            taken = context.facts.truth(module, node.test)
            if taken is None or not _asks(context, pattern, module, node.test):
                continue
            off, on = _branches(module, node, taken)
            if not _wraps(context, pattern, module, off) or _wraps(context, pattern, module, on):
                continue
            if context.facts.unreachable(module, node) is None and not _synchronises(context, pattern, module, node, off):
                yield node.test


def _branches(module: Module, node: ast.If | ast.IfExp, taken: bool) -> tuple[Sequence[ast.AST], Sequence[ast.AST]]:
    """What a platform leaves out of a condition, and what runs in its place."""
    body, orelse = ([node.body], [node.orelse]) if isinstance(node, ast.IfExp) else (node.body, node.orelse)
    on, off = (body, orelse) if taken else (orelse, body)
    if isinstance(node, ast.If) and taken and isinstance(node.body[-1], ast.Return):
        return [*off, *behind(module, node)], on
    if any(isinstance(part, ast.stmt) and leaves(part) for part in on):
        return [], on  # it says so, and ends
    return off, on


def _asks(context: Context, pattern: Pattern, module: Module, test: ast.expr) -> bool:
    """Whether a test asks for the device, itself or by a name that holds the answer."""
    if asks(context.tracer.resolver, pattern.makers, module, test):
        return True
    named = [part for part in walk(test) if isinstance(part, ast.Name)]
    values = [one.value for name in named for one in context.facts.definitions(module, name) if one.value is not None]
    return any(asks(context.tracer.resolver, pattern.makers, module, value) for value in values)


def _wraps(context: Context, pattern: Pattern, module: Module, nodes: Iterable[ast.AST], depth: int = _DEPTH) -> bool:
    """Whether code wraps a model, itself or in a function of the project that it calls."""
    resolver, wanted = context.tracer.resolver, set(pattern.names)
    for call in (part for node in nodes for part in walk(node) if isinstance(part, ast.Call)):
        for entity in resolver.resolve(module, call.func):
            if getattr(entity, "name", None) in wanted:
                return True
            if not isinstance(entity, Definition):
                continue
            if isinstance(entity.node, ast.ClassDef):
                if wanted & set(resolver.external_bases(entity.module, entity.node)):
                    return True
            elif depth and isinstance(entity.node, _FUNCTIONS):
                inner = [part for part in entity.node.body if context.facts.unreachable(entity.module, part) is None]
                if _wraps(context, pattern, entity.module, inner, depth - 1):
                    return True
    return False


def _synchronises(context: Context, pattern: Pattern, module: Module, node: ast.If | ast.IfExp, off: Sequence[ast.AST]) -> bool:
    """Whether the same function wraps the model elsewhere too, makes its group in the branch, or a file sums gradients itself."""
    resolver, scope = context.tracer.resolver, scope_of(module, node)
    makers = {name for surface in context.rules.surfaces.values() if surface.default_group for name in surface.names}
    inside = {part for left in off for part in walk(left)}
    summing = {name for idioms in context.rules.idioms for name in idioms.group_needed}
    for call in module.nodes.get(ast.Call, ()):
        assert isinstance(call, ast.Call)
        if call in inside:
            if makers & set(resolver.names(module, call.func)):
                return True
        elif scope_of(module, call) is scope and _wraps(context, pattern, module, [call]):
            if context.facts.unreachable(module, call) is None:
                return True
        if any(isinstance(part, ast.Attribute) and part.attr == "grad" for given in call.args for part in walk(given)):
            if summing & set(resolver.names(module, call.func)):
                return True
    return False
