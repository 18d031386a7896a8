"""Under which tests a node runs: those of the ``if`` around it, and those of an earlier ``if ...: return``."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from msgspec import Struct

from ddp_codemod.parse.python import Module, last_name

LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Test(Struct, frozen=True, eq=False):
    """A test on the way to a node. ``holds``: it is true there; otherwise it is false there."""

    __test__ = False  # nothing for pytest
    expression: ast.expr
    holds: bool
    around: ast.AST  # the ``if``, conditional expression or ``and``
    beside: tuple[ast.AST, ...] = ()  # what runs instead


def enclosing_tests(module: Module, node: ast.AST) -> Iterator[Test]:
    """The tests of the same function that decide whether a node runs, innermost first."""
    child = node
    for parent in module.ancestors(node):
        if isinstance(parent, ast.If):
            if child in parent.body:
                yield Test(parent.test, True, parent, tuple(parent.orelse))
            elif child in parent.orelse:
                yield Test(parent.test, False, parent, tuple(parent.body))
        elif isinstance(parent, ast.IfExp):
            if child is parent.body:
                yield Test(parent.test, True, parent, (parent.orelse,))
            elif child is parent.orelse:
                yield Test(parent.test, False, parent, (parent.body,))
        elif isinstance(parent, ast.BoolOp) and isinstance(child, ast.expr):
            for earlier in parent.values[: parent.values.index(child)]:
                yield Test(earlier, isinstance(parent.op, ast.And), parent)
        if isinstance(child, ast.stmt):
            yield from _find_early_returns(parent, child)
        if isinstance(parent, FUNCTIONS) and in_body(parent, child):
            return
        child = parent


def in_body(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, child: ast.AST) -> bool:
    """Whether a child of a function waits until it is called; its defaults, decorators and annotations do not."""
    return child is function.body if isinstance(function, ast.Lambda) else child in function.body


def is_implied(test: ast.expr, holds: bool, says: Callable[[ast.expr, bool], bool]) -> bool:
    """Whether a test that holds (or does not) means what ``says`` finds in one of its parts, or in all of those that may decide it."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return is_implied(test.operand, not holds, says)
    if isinstance(test, ast.BoolOp):
        enough = any if isinstance(test.op, ast.And) == holds else all
        return enough(is_implied(part, holds, says) for part in test.values)
    return says(test, holds)


def _find_early_returns(parent: ast.AST, child: ast.stmt) -> Iterator[Test]:
    """``if T: return`` before a statement of the same suite."""
    for name in ("body", "orelse", "finalbody"):
        suite = getattr(parent, name, None)
        if not isinstance(suite, list) or child not in suite:
            continue
        for earlier in suite[: suite.index(child)]:
            while isinstance(earlier, ast.If):
                if earlier.body and isinstance(earlier.body[-1], LEAVES):
                    yield Test(earlier.test, False, earlier)
                rest = earlier.orelse
                if len(rest) == 1 and isinstance(rest[0], ast.If):
                    earlier = rest[0]
                    continue
                if rest and isinstance(rest[-1], LEAVES):
                    yield Test(earlier.test, True, earlier)
                break


def evaluate_comparison(node: ast.Compare, value: int) -> bool | None:
    """What a comparison with a written-out number comes to for a value."""
    known = {
        ast.Lt: int.__lt__,
        ast.LtE: int.__le__,
        ast.Gt: int.__gt__,
        ast.GtE: int.__ge__,
        ast.Eq: int.__eq__,
        ast.NotEq: int.__ne__,
    }
    right = number_of(node.comparators[0])
    operator = known.get(type(node.ops[0])) if len(node.ops) == 1 else None
    return None if operator is None or right is None else bool(operator(value, right))


def number_of(node: ast.expr) -> int | None:
    """A written-out number, also a negative one."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = number_of(node.operand)
        return None if inner is None else -inner
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


def is_for_type_checker(module: Module, node: ast.AST) -> bool:
    """Whether a node is under ``if TYPE_CHECKING:``, which never holds where a program runs."""
    child = node
    for around in module.ancestors(node):
        if isinstance(around, ast.If) and child in around.body and last_name(around.test) == "TYPE_CHECKING":
            return True
        child = around
    return False
