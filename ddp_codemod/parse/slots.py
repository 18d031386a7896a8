"""The nodes of trees that are there most often, four of five, as objects with slots: the parser's own hold a dictionary each.

They stay instances of the same classes in ``ast``, and print alike: a field that is mostly None has no slot, since the class itself
gives None for it. There is a function for each kind because one for all would take twice as long.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

Make = Callable[[Mapping[str, Any], Any], Any]  # from the dictionary of a node and the node around it


def _with_slots(kind: type[ast.AST], *names: str) -> Any:
    slots = (*names, "lineno", "end_lineno", "col_offset", "end_col_offset", "parent")
    return type(kind.__name__, (kind,), {"__slots__": slots, "__module__": "ast", "__init__": object.__init__})


_Name = _with_slots(ast.Name, "id", "ctx")
_Constant = _with_slots(ast.Constant, "value")
_Attribute = _with_slots(ast.Attribute, "value", "attr", "ctx")
_Call = _with_slots(ast.Call, "func", "args", "keywords")
_Subscript = _with_slots(ast.Subscript, "value", "slice", "ctx")
_BinOp = _with_slots(ast.BinOp, "left", "op", "right")
_Compare = _with_slots(ast.Compare, "left", "ops", "comparators")
_Arg = _with_slots(ast.arg, "arg")
_Expr = _with_slots(ast.Expr, "value")
_Assign = _with_slots(ast.Assign, "targets", "value")
_If = _with_slots(ast.If, "test", "body", "orelse")


def name(held: Mapping[str, Any], parent: Any) -> Any:
    """A name."""
    node = _Name()
    node.parent = parent
    node.id, node.ctx = held["id"], held["ctx"]
    line, end = held["lineno"], held["end_lineno"]
    node.lineno, node.end_lineno = line, line if line == end else end
    node.col_offset, node.end_col_offset = held["col_offset"], held["end_col_offset"]
    return node


def constant(held: Mapping[str, Any], parent: Any) -> Any:
    """A constant."""
    node = _Constant()
    node.parent = parent
    node.value = held["value"]
    if held["kind"] is not None:
        node.kind = held["kind"]
    line, end = held["lineno"], held["end_lineno"]
    node.lineno, node.end_lineno = line, line if line == end else end
    node.col_offset, node.end_col_offset = held["col_offset"], held["end_col_offset"]
    return node


def _attribute(held: Mapping[str, Any], parent: Any) -> Any:
    node = _Attribute()
    node.parent = parent
    node.value, node.attr, node.ctx = held["value"], held["attr"], held["ctx"]
    line, end = held["lineno"], held["end_lineno"]
    node.lineno, node.end_lineno = line, line if line == end else end
    node.col_offset, node.end_col_offset = held["col_offset"], held["end_col_offset"]
    return node


def _call(held: Mapping[str, Any], parent: Any) -> Any:
    node = _Call()
    node.parent = parent
    node.func, node.args, node.keywords = held["func"], held["args"], held["keywords"]
    line, end = held["lineno"], held["end_lineno"]
    node.lineno, node.end_lineno = line, line if line == end else end
    node.col_offset, node.end_col_offset = held["col_offset"], held["end_col_offset"]
    return node


def _subscript(held: Mapping[str, Any], parent: Any) -> Any:
    node = _Subscript()
    node.parent = parent
    node.value, node.slice, node.ctx = held["value"], held["slice"], held["ctx"]
    line, end = held["lineno"], held["end_lineno"]
    node.lineno, node.end_lineno = line, line if line == end else end
    node.col_offset, node.end_col_offset = held["col_offset"], held["end_col_offset"]
    return node


def _binary(held: Mapping[str, Any], parent: Any) -> Any:
    node = _BinOp()
    node.parent = parent
    node.left, node.op, node.right = held["left"], held["op"], held["right"]
    line, end = held["lineno"], held["end_lineno"]
    node.lineno, node.end_lineno = line, line if line == end else end
    node.col_offset, node.end_col_offset = held["col_offset"], held["end_col_offset"]
    return node


def _compare(held: Mapping[str, Any], parent: Any) -> Any:
    node = _Compare()
    node.parent = parent
    node.left, node.ops, node.comparators = held["left"], held["ops"], held["comparators"]
    line, end = held["lineno"], held["end_lineno"]
    node.lineno, node.end_lineno = line, line if line == end else end
    node.col_offset, node.end_col_offset = held["col_offset"], held["end_col_offset"]
    return node


def _arg(held: Mapping[str, Any], parent: Any) -> Any:
    node = _Arg()
    node.parent = parent
    node.arg = held["arg"]
    if held["annotation"] is not None:
        node.annotation = held["annotation"]
    line, end = held["lineno"], held["end_lineno"]
    node.lineno, node.end_lineno = line, line if line == end else end
    node.col_offset, node.end_col_offset = held["col_offset"], held["end_col_offset"]
    return node


def _expr(held: Mapping[str, Any], parent: Any) -> Any:
    node = _Expr()
    node.parent = parent
    node.value = held["value"]
    line, end = held["lineno"], held["end_lineno"]
    node.lineno, node.end_lineno = line, line if line == end else end
    node.col_offset, node.end_col_offset = held["col_offset"], held["end_col_offset"]
    return node


def _assign(held: Mapping[str, Any], parent: Any) -> Any:
    node = _Assign()
    node.parent = parent
    node.targets, node.value = held["targets"], held["value"]
    line, end = held["lineno"], held["end_lineno"]
    node.lineno, node.end_lineno = line, line if line == end else end
    node.col_offset, node.end_col_offset = held["col_offset"], held["end_col_offset"]
    return node


def _if(held: Mapping[str, Any], parent: Any) -> Any:
    node = _If()
    node.parent = parent
    node.test, node.body, node.orelse = held["test"], held["body"], held["orelse"]
    line, end = held["lineno"], held["end_lineno"]
    node.lineno, node.end_lineno = line, line if line == end else end
    node.col_offset, node.end_col_offset = held["col_offset"], held["end_col_offset"]
    return node


OTHERS: dict[type, Make] = {
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.Subscript: _subscript,
    ast.BinOp: _binary,
    ast.Compare: _compare,
    ast.arg: _arg,
    ast.Expr: _expr,
    ast.Assign: _assign,
    ast.If: _if,
}
OWN = {
    _Attribute: ast.Attribute,
    _Call: ast.Call,
    _Subscript: ast.Subscript,
    _BinOp: ast.BinOp,
    _Compare: ast.Compare,
    _Arg: ast.arg,
    _Expr: ast.Expr,
    _Assign: ast.Assign,
    _If: ast.If,
}
