"""A three-valued evaluator of expressions: known, truthy (true and not None, else open), falsy, or unknown.

It computes with constants and with what ``look`` knows, and never runs the code that it reads.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any, Union

from msgspec import Struct


class Known(Struct, frozen=True):
    """Exactly this constant."""

    value: Any


class Truthy(Struct, frozen=True):
    """Some value that is true in a condition and not None, such as a version string or a device count above zero."""


class Falsy(Struct, frozen=True):
    """Some value that is false in a condition: False, None, "" or their like."""


class Unknown(Struct, frozen=True):
    """Nothing is known."""


FoldResult = Union[Known, Truthy, Falsy, Unknown]
Look = Callable[[ast.expr], FoldResult]
TRUTHY, FALSY, UNKNOWN = Truthy(), Falsy(), Unknown()

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


def truth(value: FoldResult) -> bool | None:
    """Whether a value is true in a condition; None where that is open."""
    if isinstance(value, Known):
        return bool(value.value)
    return True if isinstance(value, Truthy) else False if isinstance(value, Falsy) else None


def fold(node: ast.expr, look: Look) -> FoldResult:
    """What an expression gives, as far as it is known. ``look`` is asked for names, attributes, calls and subscripts."""
    try:
        return _fold(node, look)
    except RecursionError:  # thousands of operands in strangers' code
        return UNKNOWN


def _fold(node: ast.expr, look: Look) -> FoldResult:
    if isinstance(node, ast.Constant):
        return Known(node.value)
    if isinstance(node, ast.BoolOp):
        return _fold_bool_op(node, look)
    if isinstance(node, ast.UnaryOp):
        return _fold_unary(node, look)
    if isinstance(node, ast.Compare):
        return _fold_compare(node, look)
    if isinstance(node, ast.IfExp):
        return _fold_if_exp(node, look)
    if isinstance(node, ast.NamedExpr):
        return _fold(node.value, look)
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return _fold_display(node, look)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _fold(node.left, look), _fold(node.right, look)
        return _fold_concatenation(left, right) if isinstance(left, Known) and isinstance(right, Known) else UNKNOWN
    if isinstance(node, ast.JoinedStr):
        return _fold_joined_string(node, look)
    if isinstance(node, ast.Call):
        found = look(node)
        return _fold_text_method(node, look) if isinstance(found, Unknown) else found
    return look(node)


def _fold_bool_op(node: ast.BoolOp, look: Look) -> FoldResult:
    stops = isinstance(node.op, ast.Or)  # the truth that ends the chain
    open_before = False
    result: FoldResult = UNKNOWN
    for part in node.values:
        result = _fold(part, look)
        known = truth(result)
        if known is stops:
            # an earlier open part may have ended the chain with another value of the same truth
            return (TRUTHY if stops else FALSY) if open_before else result
        open_before = open_before or known is None
    return UNKNOWN if open_before else result


def _fold_unary(node: ast.UnaryOp, look: Look) -> FoldResult:
    value = _fold(node.operand, look)
    if isinstance(node.op, ast.Not):
        known = truth(value)
        return UNKNOWN if known is None else Known(not known)
    if isinstance(node.op, ast.USub) and isinstance(value, Known) and isinstance(value.value, (int, float)):
        return Known(-value.value)
    return UNKNOWN


def _fold_compare(node: ast.Compare, look: Look) -> FoldResult:
    values = [_fold(part, look) for part in (node.left, *node.comparators)]
    result: bool | None = True
    for op, left, right in zip(node.ops, values, values[1:], strict=False):
        one = _compare_two(op, left, right)
        if one is False:
            return Known(False)
        result = None if one is None else result
    return UNKNOWN if result is None else Known(True)


def _compare_two(op: ast.cmpop, left: FoldResult, right: FoldResult) -> bool | None:
    if isinstance(left, Known) and isinstance(right, Known):
        return _compare_known(op, left.value, right.value)
    for value, other in ((left, right), (right, left)):
        if isinstance(value, Truthy) and isinstance(other, Known) and not other.value:
            if isinstance(op, (ast.Is, ast.Eq)):
                return False
            if isinstance(op, (ast.IsNot, ast.NotEq)):
                return True
    return None


def _compare_known(op: ast.cmpop, left: Any, right: Any) -> bool | None:
    inside = isinstance(op, (ast.In, ast.NotIn))
    if isinstance(left, tuple) or (isinstance(right, tuple) and not inside):
        return None  # it stands for a list or a set too, which compare otherwise
    if isinstance(op, (ast.Is, ast.IsNot)) and not any(value is None or isinstance(value, bool) for value in (left, right)):
        return None  # whether two equal texts are one object is up to the interpreter
    try:
        return bool(COMPARISONS[type(op)](left, right))
    except TypeError:
        return None


def _fold_if_exp(node: ast.IfExp, look: Look) -> FoldResult:
    known = truth(_fold(node.test, look))
    if known is not None:
        return _fold(node.body if known else node.orelse, look)
    body, orelse = _fold(node.body, look), _fold(node.orelse, look)
    if isinstance(body, Known) and isinstance(orelse, Known):
        return body if body == orelse and type(body.value) is type(orelse.value) else UNKNOWN
    return body if body == orelse else UNKNOWN


def _fold_display(node: ast.Tuple | ast.List | ast.Set, look: Look) -> FoldResult:
    values = [_fold(part, look) for part in node.elts]
    if all(isinstance(value, Known) for value in values):
        return Known(tuple(value.value for value in values if isinstance(value, Known)))
    return UNKNOWN


def _fold_concatenation(left: Known, right: Known) -> FoldResult:
    if isinstance(left.value, str) and isinstance(right.value, str) and len(left.value) + len(right.value) < MAX_TEXT:
        return Known(left.value + right.value)
    return UNKNOWN


def _fold_joined_string(node: ast.JoinedStr, look: Look) -> FoldResult:
    text = ""
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            plain = part.conversion == -1 and part.format_spec is None
            value = _fold(part.value, look) if plain else UNKNOWN
            if not isinstance(value, Known) or not isinstance(value.value, (str, int)):
                return UNKNOWN
            text += str(value.value)
        elif isinstance(part, ast.Constant):
            text += str(part.value)
        if len(text) > MAX_TEXT:
            return UNKNOWN
    return Known(text)


def _fold_text_method(node: ast.Call, look: Look) -> FoldResult:
    """``platform.system().lower()``, ``sys.platform.startswith("win")`` and their like."""
    if not isinstance(node.func, ast.Attribute) or node.func.attr not in TEXT_METHODS or node.keywords:
        return UNKNOWN
    base = _fold(node.func.value, look)
    arguments = [_fold(part, look) for part in node.args]
    if not isinstance(base, Known) or not isinstance(base.value, str):
        return UNKNOWN
    if not all(isinstance(part, Known) for part in arguments):
        return UNKNOWN
    try:
        made = getattr(base.value, node.func.attr)(*(part.value for part in arguments if isinstance(part, Known)))
        return Known(tuple(made) if isinstance(made, list) else made)
    except (TypeError, ValueError):
        return UNKNOWN
