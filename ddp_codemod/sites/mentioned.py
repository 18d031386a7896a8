"""The names that the functions, classes and branches of a file mention, told apart in one walk over its tree."""

from __future__ import annotations

import ast
from typing import Any, Union

from msgspec import Struct, field

from ddp_codemod.parse.nodes import fields_backwards
from ddp_codemod.parse.python import Module

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SILENT = (ast.Constant, ast.Import, ast.ImportFrom)  # mention no name that is looked for
_APART = (*FUNCTIONS, ast.ClassDef, ast.If, ast.IfExp)  # whose parts do not all run with the code around
Branching = Union[ast.If, ast.IfExp]
_NAME, _NONE, _PARTS, _ANY = range(1, 5)  # what a node is here: a name, one that mentions none, one of parts, any other
_KINDS: dict[type, int] = {}  # by the classes of nodes; asked for each node, where ``isinstance`` takes twice as long


class Part(Struct, eq=False):
    """A stretch of code that runs as a whole, but for its branches."""

    names: set[str] = field(default_factory=set)
    inside: list[Part] = field(default_factory=list)  # those that run with it
    branches: list[tuple[Branching, Part, Part]] = field(default_factory=list)


def _kind(node: object) -> int:
    kinds = ((ast.Name, _NAME), (_SILENT, _NONE), (_APART, _PARTS), (ast.AST, _ANY), (object, _NONE))
    _KINDS[type(node)] = kind = next(kind for classes, kind in kinds if isinstance(node, classes))
    return kind


def parts_of(module: Module) -> dict[ast.AST, Part]:
    """The code of a module, and of each function and class in it: without that of the functions inside, but with their decorators.

    The code of a class does not hold the decorators of its methods where it is a part of the code around it.
    """
    tree = module.tree
    found: dict[ast.AST, Part] = {tree: Part()}
    todo: list[tuple[ast.AST, Part]] = [(node, found[tree]) for node in tree.body]
    known = _KINDS.get
    while todo:
        node, part = todo.pop()
        while isinstance(node, ast.Attribute):
            part.names.add(node.attr)
            node = node.value
        kind = known(type(node)) or _kind(node)
        if kind == _NAME:
            part.names.add(node.id)  # type: ignore[attr-defined]
        elif kind == _ANY:
            for name in fields_backwards(type(node)):
                value: Any = getattr(node, name, None)
                for child in value if type(value) is list else (value,):
                    kind = known(type(child)) or _kind(child)
                    if kind == _NAME:  # most of them
                        part.names.add(child.id)
                    elif kind != _NONE:
                        todo.append((child, part))
        elif kind == _NONE:
            pass
        elif isinstance(node, FUNCTIONS):
            found[node] = own = Part()
            todo += [(inner, part) for inner in node.decorator_list]
            todo += [(inner, own) for inner in ast.iter_child_nodes(node)]
        elif isinstance(node, ast.ClassDef):
            shared = Part()
            found[node] = own = Part(inside=[shared])
            part.inside.append(shared)
            seen = {*node.decorator_list, *node.bases, *(inner for inner in node.body if not isinstance(inner, FUNCTIONS))}
            todo += [(inner, shared if inner in seen else own) for inner in ast.iter_child_nodes(node)]
        elif isinstance(node, (ast.If, ast.IfExp)):
            body, orelse = Part(), Part()
            part.branches.append((node, body, orelse))
            todo.append((node.test, part))
            for branch, inner in ((body, node.body), (orelse, node.orelse)):
                todo += [(one, branch) for one in (inner if isinstance(inner, list) else [inner])]
    return found
