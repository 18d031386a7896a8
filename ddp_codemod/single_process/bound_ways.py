"""Under which condition a program gets to what needs a group, there or where its function is called: the other ways may need none."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ddp_codemod.parse.python import Module
from ddp_codemod.single_process.collect import of_part
from ddp_codemod.single_process.loads import Loads
from ddp_codemod.single_process.model import Seen
from ddp_codemod.single_process.outside import Outside
from ddp_codemod.single_process.reach import DEFS, Reach, is_main_guard

_DEPTH = 4
Where = tuple[Module, ast.expr]


def branch(outside: Outside, program: Reach, start: Seen, bound: Seen) -> tuple[Seen, Where | None]:
    """What the program cannot do without a group: what it does in any case (None), before what it does under a condition (that)."""
    above = {ast.dump(at.test) for at in start.module.ancestors(start.node) if isinstance(at, ast.If)}
    here = _outermost(bound.module, bound.node, above)
    if here is not None:
        return bound, here
    if not any(isinstance(at, DEFS) for at in bound.module.ancestors(bound.node)):
        return bound, None
    for _ in program.follow():
        pass
    loads = Loads(outside.api.resolver, program.parts)
    calls = (one for module, part in program.parts for one in of_part(outside, module, part).calls if one.call.role == "bound")
    first: tuple[Seen, Where] | None = None
    for one in (bound, *calls):
        way = _way(loads, one.module, one.node, above, 0)
        if way is None:
            return one, None
        first = first or (one, way)
    return first or (bound, None)


def _way(loads: Loads, module: Module, node: ast.AST, above: set[str], depth: int) -> Where | None:
    """The condition on every way to a node: around it, or around all calls of its function."""
    here = _outermost(module, node, above)
    if here is not None or depth > _DEPTH:
        return here
    around = (at for at in module.ancestors(node) if isinstance(at, DEFS))
    return next((way for at in around if (way := _of_all(loads, loads.of(module, at), above, depth)) is not None), None)


def _of_all(loads: Loads, uses: Iterable[tuple[Module, ast.expr]], above: set[str], depth: int) -> Where | None:
    first: Where | None = None
    for module, use in uses:
        way = _way(loads, module, use, above, depth + 1)
        if way is None:
            return None
        first = first or way
    return first


def _outermost(module: Module, node: ast.AST, above: set[str]) -> Where | None:
    """The outermost condition of the function around a node, but for those that the start of the group stands under as well."""
    tests = [test for test in conditions_above(module, node) if ast.dump(test) not in above]
    return (module, tests[-1]) if tests else None


def conditions_above(module: Module, node: ast.AST) -> Iterator[ast.expr]:
    """The conditions under which its function gets to a call, from the inside."""
    inside: ast.AST = node
    for at in module.ancestors(node):
        if isinstance(at, DEFS):
            return
        if isinstance(at, ast.If) and inside in at.body and not is_main_guard(at.test) and not _counts(at.test):
            yield at.test
        inside = at


def _counts(test: ast.expr) -> bool:
    """Whether a condition is about a number, as of ranks and processes: that chooses no way for a whole run."""
    parts = list(ast.walk(test))
    ordered = any(isinstance(part, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)) for part in parts)
    return ordered or any(isinstance(part, ast.Constant) and type(part.value) is int for part in parts)
