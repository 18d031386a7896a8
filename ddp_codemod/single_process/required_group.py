"""Under which condition a program gets to what needs a group, there or where its function is called: the other ways may need none."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ddp_codemod.parse.python import Module
from ddp_codemod.single_process.collected_calls import collect_from_part
from ddp_codemod.single_process.external_calls import ExternalCalls
from ddp_codemod.single_process.model import ApiCall
from ddp_codemod.single_process.name_uses import NameUses
from ddp_codemod.single_process.reachability import DEFS, ProgramReach, is_main_guard

_DEPTH = 4
Where = tuple[Module, ast.expr]


def find_required_group(
    outside: ExternalCalls, program: ProgramReach, start: ApiCall, bound: ApiCall
) -> tuple[ApiCall, Where | None]:
    """What the program needs a group for: what it does in any case (None), before what it does under a condition (that)."""
    above = {ast.dump(at.test) for at in start.module.ancestors(start.node) if isinstance(at, ast.If)}
    here = _outermost_condition(bound.module, bound.node, above)
    if here is not None:
        return bound, here
    if not any(isinstance(at, DEFS) for at in bound.module.ancestors(bound.node)):
        return bound, None
    for _ in program.follow():
        pass
    loads = NameUses(outside.api.resolver, program.parts)
    calls = (
        one
        for module, part in program.parts
        for one in collect_from_part(outside, module, part).calls
        if one.call.role == "bound"
    )
    first: tuple[ApiCall, Where] | None = None
    for one in (bound, *calls):
        condition = _find_condition(loads, one.module, one.node, above, 0)
        if condition is None:
            return one, None
        first = first or (one, condition)
    return first or (bound, None)


def _find_condition(loads: NameUses, module: Module, node: ast.AST, above: set[str], depth: int) -> Where | None:
    """The condition on every way to a node: around it, or around all calls of its function."""
    here = _outermost_condition(module, node, above)
    if here is not None or depth > _DEPTH:
        return here
    around = (at for at in module.ancestors(node) if isinstance(at, DEFS))
    return next(
        (
            condition
            for at in around
            if (condition := _find_common_condition(loads, loads.of(module, at), above, depth)) is not None
        ),
        None,
    )


def _find_common_condition(loads: NameUses, uses: Iterable[tuple[Module, ast.expr]], above: set[str], depth: int) -> Where | None:
    first: Where | None = None
    for module, use in uses:
        condition = _find_condition(loads, module, use, above, depth + 1)
        if condition is None:
            return None
        first = first or condition
    return first


def _outermost_condition(module: Module, node: ast.AST, above: set[str]) -> Where | None:
    """The outermost condition of the function around a node, but for those that the start of the group is under as well."""
    tests = [test for test in enclosing_conditions(module, node) if ast.dump(test) not in above]
    return (module, tests[-1]) if tests else None


def enclosing_conditions(module: Module, node: ast.AST) -> Iterator[ast.expr]:
    """The conditions under which its function gets to a call, from the inside."""
    inside: ast.AST = node
    for at in module.ancestors(node):
        if isinstance(at, DEFS):
            return
        if isinstance(at, ast.If) and inside in at.body and not is_main_guard(at.test) and not _compares_number(at.test):
            yield at.test
        inside = at


def _compares_number(test: ast.expr) -> bool:
    """Whether a condition is about a number, as of ranks and processes: that chooses no way for a whole run."""
    parts = list(ast.walk(test))
    ordered = any(isinstance(part, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)) for part in parts)
    return ordered or any(isinstance(part, ast.Constant) and type(part.value) is int for part in parts)
