"""Trees of ``ast`` in less memory: the nodes are remade as objects with slots, and every node gets its parent."""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import Any

from ddp_codemod.parse.newer_nodes import plain_kind
from ddp_codemod.parse.slots import Make, make_slotted_class

Nodes = dict[type[ast.AST], list[ast.AST]]

_NO_NODES = frozenset({
    "ctx", "op", "ops", "id", "attr", "arg", "asname", "kind", "level", "module", "simple", "is_async", "conversion", "type_comment",
})  # fmt: skip
FIELDS: dict[type[ast.AST], tuple[str, ...]] = {}  # what ``list_fields_backwards`` has returned
FORWARD: dict[type[ast.AST], tuple[str, ...]] = {}  # the same, the first one first: what ``list_fields`` has returned
_MAKERS: dict[type[ast.AST], Make] = {}
_PLAIN: dict[type[ast.AST], type[ast.AST]] = {}  # the classes in ``ast`` of those with slots


class Kinds(dict[type, bool]):
    """Whether a class is one of some kinds of nodes, which ``isinstance`` takes far longer to say no to."""

    def __init__(self, *kinds: type) -> None:
        self.kinds = kinds

    def __missing__(self, kind: type) -> bool:
        return self.setdefault(kind, issubclass(kind, self.kinds))


def remake_nodes(tree: ast.Module) -> Nodes:
    """Remake the nodes of a tree, and give all nodes by their classes: in source order, but for names and constants.

    Contexts and operators, which no one asks for, are omitted.
    """
    found: defaultdict[type[ast.AST], list[ast.AST]] = defaultdict(list)
    todo: list[Any] = [tree]
    known, makers, plain = FIELDS, _MAKERS.get, _PLAIN.get
    any_node, is_name, is_constant = ast.AST, ast.Name, ast.Constant
    names, constants = found[is_name], found[is_constant]
    while todo:  # iterative: deep trees must not exhaust the stack
        node = todo.pop()
        around = type(node)
        found[plain(around, around)].append(node)
        for field in known.get(around) or list_fields_backwards(around):
            value = getattr(node, field)
            if type(value) is list:
                for index in range(len(value) - 1, -1, -1):
                    child = value[index]
                    kind = type(child)
                    make = makers(kind)
                    if make is not None or isinstance(child, any_node):
                        made = (make or _register_maker(child))(child.__dict__, node)
                        if made is None:
                            made = child
                            made.parent = node
                        else:
                            value[index] = made
                        if kind is is_name:
                            names.append(made)
                        elif kind is is_constant:
                            constants.append(made)
                        else:
                            todo.append(made)
                continue
            kind = type(value)
            make = makers(kind)
            if make is not None or isinstance(value, any_node):
                made = (make or _register_maker(value))(value.__dict__, node)
                if made is None:
                    made = value
                    made.parent = node
                else:
                    setattr(node, field, made)
                if kind is is_name:
                    names.append(made)
                elif kind is is_constant:
                    constants.append(made)
                else:
                    todo.append(made)
    return dict(found)


def _register_maker(node: ast.AST) -> Make:
    slotted, make = make_slotted_class(node)
    _MAKERS[type(node)], _PLAIN[slotted] = make, plain_kind(type(node))
    return make


def list_fields_backwards(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields of a kind of node that can hold nodes which someone asks for, the last one first."""
    if kind not in FIELDS:
        names = () if issubclass(kind, ast.Constant) else reversed(kind._fields)
        FIELDS[kind] = tuple(name for name in names if name not in _NO_NODES)
    return FIELDS[kind]


def list_fields(kind: type[ast.AST]) -> tuple[str, ...]:
    """The same fields, the first one first."""
    if kind not in FORWARD:
        FORWARD[kind] = list_fields_backwards(kind)[::-1]
    return FORWARD[kind]


def list_children(node: ast.AST) -> list[ast.AST]:
    """What ``ast.iter_child_nodes`` gives, in a fraction of its time and without contexts and operators."""
    found = list[ast.AST]()
    for name in list_fields(type(node)):
        value = getattr(node, name, None)
        if isinstance(value, list):
            found += [child for child in value if isinstance(child, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


class Parents:
    """The parents of the nodes of a tree, by the nodes; one that was made later has one if it got one."""

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
