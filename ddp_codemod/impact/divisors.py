"""Finds what a program divides by, where that is how many devices there are: without one it ends in a ZeroDivisionError."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ddp_codemod.catalog.advisory import Pattern
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.policy.findings import Context

_DIVIDES = (ast.Mod, ast.FloorDiv, ast.Div)


def find_divisors(context: Context, pattern: Pattern, module: Module) -> Iterator[tuple[ast.expr, ast.Call]]:
    """The divisors, or factors of one, that a call of one of the names gives, directly or through a local name; and that call."""
    for kind in (ast.BinOp, ast.AugAssign):
        for node in module.nodes.get(kind, ()):
            assert isinstance(node, (ast.BinOp, ast.AugAssign))
            if not isinstance(node.op, _DIVIDES):
                continue
            right = node.right if isinstance(node, ast.BinOp) else node.value
            for factor in _split_factors(right):
                counted = _find_count_call(context, pattern, module, factor)
                if counted is not None and not _is_format(context, module, node):
                    yield factor, counted


def find_remainders(context: Context, pattern: Pattern, module: Module) -> Iterator[tuple[ast.BinOp, bool]]:
    """The remainders that go to a name or attribute in ``holders``, each with whether nothing takes that for a number."""
    for factor, _ in find_divisors(context, pattern, module):
        node = next((at for at in module.ancestors(factor) if isinstance(at, ast.BinOp) and isinstance(at.op, ast.Mod)), None)
        above = module.parents.get(node) if node is not None else None
        targets = above.targets if isinstance(above, ast.Assign) else [above.target] if isinstance(above, ast.AnnAssign) else []
        names = {last_name(target) for target in targets}
        if node is not None and names and names <= set(pattern.holders):
            yield node, not any(_is_number(module, name) for name in names)


def _split_factors(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        yield from _split_factors(node.left)
        yield from _split_factors(node.right)
    else:
        yield node


def _find_count_call(context: Context, pattern: Pattern, module: Module, node: ast.expr) -> ast.Call | None:
    """The call of one of the names that a divisor is, or that its local name may hold."""
    if isinstance(node, ast.Name):
        result = [one.value for one in context.facts.definitions(module, node) if one.kind == "value" and one.value is not None]
    else:
        result = [node]
    for value in result:
        if isinstance(value, ast.Call) and set(pattern.names) & set(context.tracer.resolver.names(module, value.func)):
            return value
    return None


def _is_format(context: Context, module: Module, node: ast.BinOp | ast.AugAssign) -> bool:
    """Whether ``%`` writes the number into a text."""
    if not isinstance(node.op, ast.Mod):
        return False
    left = node.left if isinstance(node, ast.BinOp) else node.target
    if isinstance(left, ast.JoinedStr):
        return True
    return any(
        isinstance(source.value, Known) and isinstance(source.value.value, str)
        for source in context.tracer.evaluate(module, left)
    )


def _is_number(module: Module, name: str | None) -> bool:
    """Whether a file compares or reckons with what is called so."""
    for kind in (ast.Name, ast.Attribute):
        for node in module.nodes.get(kind, ()):
            if last_name(node) == name and isinstance(getattr(node, "ctx", None), ast.Load):
                above = module.parents.get(node)
                if isinstance(above, (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Subscript)) or (
                    isinstance(above, ast.Compare) and not any(isinstance(op, (ast.Is, ast.IsNot)) for op in above.ops)
                ):
                    return True
    return False
