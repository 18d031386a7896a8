"""A three-valued evaluator of expressions: known, truthy (true and not None, else open), or unknown.

It computes with constants and with what ``look`` knows, and never runs the code that it reads.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Union


@dataclass(frozen=True, slots=True)
class Known:
    """Exactly this constant."""

    value: Any


@dataclass(frozen=True, slots=True)
class Truthy:
    """Some value that is true in a condition and not None, such as a version string or a device count above zero."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nothing is known."""


Value = Union[Known, Truthy, Unknown]
Look = Callable[[ast.expr], Value]
TRUTHY, UNKNOWN = Truthy(), Unknown()

COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}
TEXT_METHODS = frozenset({"lower", "upper", "strip", "lstrip", "rstrip", "casefold", "startswith", "endswith", "title", "split"})
MAX_TEXT = 10_000


def truth(value: Value) -> bool | None:
    """Whether a value is true in a condition; None where that is open."""
    if isinstance(value, Known):
        return bool(value.value)
    return True if isinstance(value, Truthy) else None


def fold(node: ast.expr, look: Look) -> Value:
    """What an expression gives, as far as it is known. ``look`` is asked for names, attributes, calls and subscripts."""
    if isinstance(node, ast.Constant):
        return Known(node.value)
    if isinstance(node, ast.BoolOp):
        return _bool_op(node, look)
    if isinstance(node, ast.UnaryOp):
        return _unary(node, look)
    if isinstance(node, ast.Compare):
        return _compare(node, look)
    if isinstance(node, ast.IfExp):
        return _if_exp(node, look)
    if isinstance(node, ast.NamedExpr):
        return fold(node.value, look)
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return _display(node, look)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = fold(node.left, look), fold(node.right, look)
        return _text(left, right) if isinstance(left, Known) and isinstance(right, Known) else UNKNOWN
    if isinstance(node, ast.JoinedStr):
        return _joined(node, look)
    if isinstance(node, ast.Call):
        found = look(node)
        return _text_method(node, look) if isinstance(found, Unknown) else found
    return look(node)


def _bool_op(node: ast.BoolOp, look: Look) -> Value:
    stops = isinstance(node.op, ast.Or)  # the truth that ends the chain
    open_before = False
    result: Value = UNKNOWN
    for part in node.values:
        result = fold(part, look)
        known = truth(result)
        if known is stops:
            # an earlier open part may have ended the chain with another value of the same truth
            return (Known(stops) if _is_bool(node, result) else TRUTHY if stops else UNKNOWN) if open_before else result
        open_before = open_before or known is None
    return UNKNOWN if open_before else result


def _is_bool(node: ast.BoolOp, result: Value) -> bool:
    return isinstance(result, Known) and isinstance(result.value, bool) and not result.value


def _unary(node: ast.UnaryOp, look: Look) -> Value:
    value = fold(node.operand, look)
    if isinstance(node.op, ast.Not):
        known = truth(value)
        return UNKNOWN if known is None else Known(not known)
    if isinstance(node.op, ast.USub) and isinstance(value, Known) and isinstance(value.value, (int, float)):
        return Known(-value.value)
    return UNKNOWN


def _compare(node: ast.Compare, look: Look) -> Value:
    values = [fold(part, look) for part in (node.left, *node.comparators)]
    result: bool | None = True
    for op, left, right in zip(node.ops, values, values[1:], strict=False):
        one = _compare_two(op, left, right)
        if one is False:
            return Known(False)
        result = None if one is None else result
    return UNKNOWN if result is None else Known(True)


def _compare_two(op: ast.cmpop, left: Value, right: Value) -> bool | None:
    if isinstance(left, Known) and isinstance(right, Known):
        try:
            return bool(COMPARISONS[type(op)](left.value, right.value))
        except TypeError:
            return None
    for value, other in ((left, right), (right, left)):
        if isinstance(value, Truthy) and isinstance(other, Known):
            if isinstance(op, (ast.Is, ast.Eq)) and not other.value:
                return False
            if isinstance(op, (ast.IsNot, ast.NotEq)) and not other.value:
                return True
    return None


def _if_exp(node: ast.IfExp, look: Look) -> Value:
    known = truth(fold(node.test, look))
    if known is not None:
        return fold(node.body if known else node.orelse, look)
    body, orelse = fold(node.body, look), fold(node.orelse, look)
    return body if body == orelse and type(body) is type(orelse) else UNKNOWN


def _display(node: ast.Tuple | ast.List | ast.Set, look: Look) -> Value:
    values = [fold(part, look) for part in node.elts]
    if all(isinstance(value, Known) for value in values):
        return Known(tuple(value.value for value in values if isinstance(value, Known)))
    return UNKNOWN


def _text(left: Known, right: Known) -> Value:
    if isinstance(left.value, str) and isinstance(right.value, str) and len(left.value) + len(right.value) < MAX_TEXT:
        return Known(left.value + right.value)
    return UNKNOWN


def _joined(node: ast.JoinedStr, look: Look) -> Value:
    text = ""
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            plain = part.conversion == -1 and part.format_spec is None
            value = fold(part.value, look) if plain else UNKNOWN
            if not isinstance(value, Known) or not isinstance(value.value, (str, int)):
                return UNKNOWN
            text += str(value.value)
        elif isinstance(part, ast.Constant):
            text += str(part.value)
        if len(text) > MAX_TEXT:
            return UNKNOWN
    return Known(text)


def _text_method(node: ast.Call, look: Look) -> Value:
    """``platform.system().lower()``, ``sys.platform.startswith("win")`` and their like."""
    if not isinstance(node.func, ast.Attribute) or node.func.attr not in TEXT_METHODS or node.keywords:
        return UNKNOWN
    base = fold(node.func.value, look)
    arguments = [fold(part, look) for part in node.args]
    if not isinstance(base, Known) or not isinstance(base.value, str):
        return UNKNOWN
    if not all(isinstance(part, Known) for part in arguments):
        return UNKNOWN
    try:
        return Known(getattr(base.value, node.func.attr)(*(part.value for part in arguments if isinstance(part, Known))))
    except (TypeError, ValueError):
        return UNKNOWN
