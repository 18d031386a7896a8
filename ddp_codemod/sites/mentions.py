"""The names that the functions, classes and branches of a file mention, told apart in one walk over its tree."""

from __future__ import annotations

import ast
from collections.abc import Container
from typing import Any, Union

from msgspec import Struct, field

from ddp_codemod.parse.nodes import FIELDS, list_children, list_fields_backwards

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SILENT = (ast.Constant, ast.Import, ast.ImportFrom)  # mention no name that is looked for
_APART = (*FUNCTIONS, ast.ClassDef, ast.If, ast.IfExp)  # whose parts do not all run with the code around
_REGISTER = "regist"  # in the name of a decorator: ``register``, ``REGISTRY``
Branching = Union[ast.If, ast.IfExp]
_NAME, _NONE, _PARTS, _ANY = range(1, 5)  # what a node is here: a name, one that mentions none, one of parts, any other
_KINDS: dict[type, int] = {}  # by the classes of nodes; asked for each node, where ``isinstance`` takes twice as long


class Part(Struct, frozen=True, eq=False):
    """A stretch of code that runs as a whole, but for its branches."""

    names: frozenset[str] = frozenset()
    branches: tuple[Branch, ...] = ()  # without those that mention nothing
    every: frozenset[str] = frozenset()  # the names, and those in the branches


class _EveryName:
    """Holds every name."""

    def __contains__(self, name: object) -> bool:
        return True


Branch = tuple[Branching, Part, Part]
NOTHING = Part()
EVERY_NAME: Container[str] = _EveryName()


class _OpenPart(Struct, eq=False):
    """A part while its code is walked through."""

    names: list[str] = field(default_factory=list)
    inside: list[_OpenPart] = field(default_factory=list)  # those that run with it
    branches: list[tuple[Branching, _OpenPart, _OpenPart]] = field(default_factory=list)
    done: Part = NOTHING


def _classify_node(node: object) -> int:
    kinds = ((ast.Name, _NAME), (_SILENT, _NONE), (_APART, _PARTS), (ast.AST, _ANY), (object, _NONE))
    _KINDS[type(node)] = kind = next(kind for classes, kind in kinds if isinstance(node, classes))
    return kind


def find_parts(tree: ast.Module, wanted: Container[str]) -> dict[ast.AST, Part]:
    """The code of a file, and of each function and class in it that mentions one of the names ``wanted``; others are not kept.

    It is without that of the functions inside, but with their decorators. The code of a class does not hold the decorators of its
    methods where it is a part of the code around it.
    """
    found: dict[ast.AST, _OpenPart] = {tree: _OpenPart()}
    every = [found[tree]]  # what holds a part comes before it
    todo: list[tuple[ast.AST, _OpenPart]] = [(node, found[tree]) for node in tree.body]
    objects = _find_made_objects(tree)
    known, fields = _KINDS.get, FIELDS.get
    while todo:
        node, part = todo.pop()
        while isinstance(node, ast.Attribute):
            if node.attr in wanted:
                part.names.append(node.attr)
            node = node.value
        kind = known(type(node)) or _classify_node(node)
        if kind == _NAME:
            if node.id in wanted:  # type: ignore[attr-defined]
                part.names.append(node.id)  # type: ignore[attr-defined]
        elif kind == _ANY:
            for name in fields(type(node)) or list_fields_backwards(type(node)):
                value: Any = getattr(node, name, None)
                for child in value if type(value) is list else (value,):
                    kind = known(type(child)) or _classify_node(child)
                    if kind == _NAME:  # most of them
                        if child.id in wanted:
                            part.names.append(child.id)
                    elif kind != _NONE:
                        todo.append((child, part))
        elif kind == _NONE:
            pass
        elif isinstance(node, FUNCTIONS):
            found[node] = own = _OpenPart()
            every.append(own)
            part.names += [node.name] if _is_registered(node, objects) else []
            todo += [(inner, part) for inner in node.decorator_list]
            todo += [(inner, own) for inner in list_children(node)]
        elif isinstance(node, ast.ClassDef):
            shared = _OpenPart()
            found[node] = own = _OpenPart(inside=[shared])
            every += (own, shared)
            part.inside.append(shared)
            part.names += [node.name] if _is_registered(node, objects) else []
            seen = {*node.decorator_list, *node.bases, *(inner for inner in node.body if not isinstance(inner, FUNCTIONS))}
            todo += [(inner, shared if inner in seen else own) for inner in list_children(node)]
        elif isinstance(node, (ast.If, ast.IfExp)):
            body, orelse = _OpenPart(), _OpenPart()
            every += (body, orelse)
            part.branches.append((node, body, orelse))
            todo.append((node.test, part))
            for branch, inner in ((body, node.body), (orelse, node.orelse)):
                todo += [(one, branch) for one in (inner if isinstance(inner, list) else [inner])]
    for part in reversed(every):  # what a part holds is done before it
        part.done = _close_part(part)
    return {node: part.done for node, part in found.items() if part.done is not NOTHING}


def _find_made_objects(tree: ast.Module) -> set[str]:
    """The variables at the top of a file that hold what a call made: ``app = FastAPI()``."""
    made = (node for node in tree.body if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call))
    return {target.id for node in made for target in node.targets if isinstance(target, ast.Name)}


def _is_registered(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, objects: Container[str]) -> bool:
    """Whether a decorator enters a definition into a table, out of which others take it: ``@MODELS.register_module()``.

    So does a method of an object that the file made: ``@app.post("/")``, ``@app.command()``.
    """
    for one in node.decorator_list:
        parts = _split_dotted_name(one.func if isinstance(one, ast.Call) else one)
        if any(_REGISTER in part.lower() for part in parts) or (len(parts) > 1 and parts[-1] in objects):
            return True
    return False


def _split_dotted_name(name: ast.expr) -> list[str]:
    parts = []
    while isinstance(name, ast.Attribute):
        parts.append(name.attr)
        name = name.value
    return [*parts, name.id] if isinstance(name, ast.Name) else parts


def _close_part(part: _OpenPart) -> Part:
    """What is kept of a part, after those that it holds."""
    if not part.inside and not part.branches:
        return Part(every := frozenset(part.names), (), every) if part.names else NOTHING
    inside = [one.done for one in part.inside]
    names = frozenset(part.names).union(*(one.names for one in inside))
    branches = [(node, body.done, orelse.done) for node, body, orelse in part.branches]
    branches = [branch for one in inside for branch in one.branches] + [one for one in branches if one[1].every or one[2].every]
    every = names.union(*(branch.every for _, *both in branches for branch in both))
    return Part(names, tuple(branches), names if every == names else every) if every else NOTHING
