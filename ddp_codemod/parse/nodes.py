"""Trees of ``ast`` in less memory: names, constants, attributes and calls, two of three nodes, are remade as objects with slots.

The parser's own hold a dictionary each and take three times as much. They stay instances of the same classes, and every node is
given its parent. To remake all nodes would halve the memory once more, and take as long as half the parsing.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import Any

Nodes = dict[type[ast.AST], list[ast.AST]]

_NO_NODES = frozenset({
    "ctx", "op", "ops", "id", "attr", "arg", "asname", "kind", "level", "module", "simple", "is_async", "conversion", "type_comment",
})  # fmt: skip
_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {}


def _with_slots(kind: type[ast.AST], *names: str) -> Any:
    places = ("lineno", "col_offset", "end_lineno", "end_col_offset")
    slots = {"__slots__": (*names, *places, "parent"), "__module__": "ast", "__init__": object.__init__}
    return type(kind.__name__, (kind,), slots)


_Name = _with_slots(ast.Name, "id", "ctx")
_Constant = _with_slots(ast.Constant, "value")
_Attribute = _with_slots(ast.Attribute, "value", "attr", "ctx")
_Call = _with_slots(ast.Call, "func", "args", "keywords")


# One function for all of them would take twice as long.
def _name(held: dict[str, Any], parent: Any) -> Any:
    node = _Name()
    node.parent = parent
    node.id = held["id"]
    node.ctx = held["ctx"]
    node.lineno = held["lineno"]
    node.col_offset = held["col_offset"]
    node.end_lineno = held["end_lineno"]
    node.end_col_offset = held["end_col_offset"]
    return node


def _constant(held: dict[str, Any], parent: Any) -> Any:
    node = _Constant()
    node.parent = parent
    node.value = held["value"]
    if held["kind"] is not None:  # seldom: u"..."
        node.kind = held["kind"]
    node.lineno = held["lineno"]
    node.col_offset = held["col_offset"]
    node.end_lineno = held["end_lineno"]
    node.end_col_offset = held["end_col_offset"]
    return node


def _attribute(held: dict[str, Any], parent: Any) -> Any:
    node = _Attribute()
    node.parent = parent
    node.value = held["value"]
    node.attr = held["attr"]
    node.ctx = held["ctx"]
    node.lineno = held["lineno"]
    node.col_offset = held["col_offset"]
    node.end_lineno = held["end_lineno"]
    node.end_col_offset = held["end_col_offset"]
    return node


def _call(held: dict[str, Any], parent: Any) -> Any:
    node = _Call()
    node.parent = parent
    node.func = held["func"]
    node.args = held["args"]
    node.keywords = held["keywords"]
    node.lineno = held["lineno"]
    node.col_offset = held["col_offset"]
    node.end_lineno = held["end_lineno"]
    node.end_col_offset = held["end_col_offset"]
    return node


def remade(tree: ast.Module) -> Nodes:
    """Remake the nodes of a tree, and give all nodes by their classes: in source order, but for names and constants.

    Contexts and operators, which no one asks for, are left out.
    """
    found: defaultdict[type[ast.AST], list[ast.AST]] = defaultdict(list)
    names: list[ast.AST] = []
    constants: list[ast.AST] = []
    todo: list[Any] = [tree]
    known, is_name, is_constant, is_attribute, is_call = _FIELDS, ast.Name, ast.Constant, ast.Attribute, ast.Call
    while todo:  # iterative: deep trees must not exhaust the stack
        node = todo.pop()
        around = type(node)
        found[around].append(node)
        for field in known.get(around) or fields_backwards(around):
            value = getattr(node, field)
            if type(value) is list:
                for index in range(len(value) - 1, -1, -1):
                    child = value[index]
                    kind = type(child)
                    if kind is is_name:
                        made = value[index] = _name(child.__dict__, node)
                        names.append(made)
                    elif kind is is_constant:
                        made = value[index] = _constant(child.__dict__, node)
                        constants.append(made)
                    elif kind is is_attribute or kind is is_call:
                        made = value[index] = (_call if kind is is_call else _attribute)(child.__dict__, node)
                        todo.append(made)
                    elif isinstance(child, ast.AST):
                        child.parent = node  # type: ignore[attr-defined]
                        todo.append(child)
            elif value is not None:
                kind = type(value)
                if kind is is_name:
                    made = _name(value.__dict__, node)
                    names.append(made)
                    setattr(node, field, made)
                elif kind is is_constant:
                    made = _constant(value.__dict__, node)
                    constants.append(made)
                    setattr(node, field, made)
                elif kind is is_attribute or kind is is_call:
                    made = (_call if kind is is_call else _attribute)(value.__dict__, node)
                    setattr(node, field, made)
                    todo.append(made)
                elif isinstance(value, ast.AST):
                    value.parent = node  # type: ignore[attr-defined]
                    todo.append(value)
    by_class = {_Attribute: ast.Attribute, _Call: ast.Call}
    return {ast.Name: names, ast.Constant: constants, **{by_class.get(kind, kind): nodes for kind, nodes in found.items()}}


def fields_backwards(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields of a kind of node that can hold nodes which someone asks for, the last one first."""
    if kind not in _FIELDS:
        names = () if issubclass(kind, ast.Constant) else reversed(kind._fields)
        _FIELDS[kind] = tuple(name for name in names if name not in _NO_NODES)
    return _FIELDS[kind]


class Parents:
    """The parents of the nodes of a tree, by the nodes; one that was made later has one if it was given one."""

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree

    def get(self, node: ast.AST) -> ast.AST | None:
        """The node around a node; None around a module, and where it is not known."""
        return getattr(node, "parent", None)

    def __getitem__(self, node: ast.AST) -> ast.AST:
        return node.parent  # type: ignore[attr-defined, no-any-return]

    def __setitem__(self, node: ast.AST, parent: ast.AST) -> None:
        node.parent = parent  # type: ignore[attr-defined]

    def __contains__(self, node: ast.AST) -> bool:
        at = self.get(node)
        while at is not None and at is not self._tree:
            at = self.get(at)
        return at is not None
