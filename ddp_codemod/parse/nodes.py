"""Trees of ``ast`` in less memory: most nodes are remade as objects with slots, and every node is given its parent."""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import Any

from ddp_codemod.parse.slots import OTHERS, OWN, constant, name

Nodes = dict[type[ast.AST], list[ast.AST]]

_NO_NODES = frozenset({
    "ctx", "op", "ops", "id", "attr", "arg", "asname", "kind", "level", "module", "simple", "is_async", "conversion", "type_comment",
})  # fmt: skip
_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {}


def remade(tree: ast.Module) -> Nodes:
    """Remake the nodes of a tree, and give all nodes by their classes: in source order, but for names and constants.

    Contexts and operators, which no one asks for, are left out.
    """
    found: defaultdict[type[ast.AST], list[ast.AST]] = defaultdict(list)
    names: list[ast.AST] = []
    constants: list[ast.AST] = []
    todo: list[Any] = [tree]
    known, maker, is_name, is_constant, any_node = _FIELDS, OTHERS.get, ast.Name, ast.Constant, ast.AST
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
                        made = value[index] = name(child.__dict__, node)
                        names.append(made)
                    elif kind is is_constant:
                        made = value[index] = constant(child.__dict__, node)
                        constants.append(made)
                    elif (make := maker(kind)) is not None:
                        made = value[index] = make(child.__dict__, node)
                        todo.append(made)
                    elif isinstance(child, any_node):
                        child.parent = node  # type: ignore[attr-defined]
                        todo.append(child)
            elif value is not None:
                kind = type(value)
                if kind is is_name:
                    made = name(value.__dict__, node)
                    names.append(made)
                    setattr(node, field, made)
                elif kind is is_constant:
                    made = constant(value.__dict__, node)
                    constants.append(made)
                    setattr(node, field, made)
                elif (make := maker(kind)) is not None:
                    made = make(value.__dict__, node)
                    setattr(node, field, made)
                    todo.append(made)
                elif isinstance(value, any_node):
                    value.parent = node  # type: ignore[attr-defined]
                    todo.append(value)
    return {ast.Name: names, ast.Constant: constants, **{OWN.get(kind, kind): nodes for kind, nodes in found.items()}}


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
