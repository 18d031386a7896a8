"""Lists and mappings that get more after they were written out: ``names.append(name)``, ``sizes[name] = 2``."""

from __future__ import annotations

import ast
from collections.abc import Set

from ddp_codemod.dataflow.calls import find_names
from ddp_codemod.dataflow.escape_analysis import analyze_escapes
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.parse.python import Module, last_name

FILLING = frozenset({"update", "setdefault", "__setitem__"})  # methods of a mapping that put something into it
_MOVING = frozenset({"remove", "pop", "insert", "sort", "reverse", "clear", "rotate", "popleft", "appendleft"})


def is_rearranged(tracer: Tracer, module: Module, made: ast.List) -> bool:
    """Whether code that knows a list by any name moves what is in it: ``names.remove("mpi")``, ``names[0], names[1] = ...``."""
    for home, place in analyze_escapes(tracer, module, made, near=True).places:
        around = home.parents.get(place)
        above = home.parents.get(around) if around is not None else None
        if isinstance(around, ast.Subscript) and around.value is place and not isinstance(around.ctx, ast.Load):
            return True
        if isinstance(around, ast.Attribute) and around.attr in _MOVING and isinstance(above, ast.Call) and above.func is around:
            return True
        if isinstance(around, ast.Call) and place in around.args and last_name(around.func) == "shuffle":
            return True
    return False


def has_additions(module: Module, held: ast.expr, methods: Set[str]) -> bool:
    """Whether the file puts more into what a name stands for, by one of some methods or, among them, under a key."""
    for node in find_names(module, held.id) if isinstance(held, ast.Name) else ():
        around = module.parents.get(node)
        if isinstance(around, ast.Subscript) and around.value is node and isinstance(around.ctx, ast.Store):
            if "__setitem__" in methods:
                return True
        if isinstance(around, ast.Attribute) and around.attr in methods and isinstance(module.parents.get(around), ast.Call):
            return True
    return False


def pick_item(tracer: Tracer, module: Module, node: ast.List | ast.Tuple, index: object) -> list[ast.expr]:
    """The item at an index, counted from the end where it is negative; nothing where an unpacked one, or other code, moves it."""
    if not isinstance(index, int) or not -len(node.elts) <= index < len(node.elts):
        return []
    counted = node.elts[: index + 1] if index >= 0 else node.elts[index:]
    if any(isinstance(part, ast.Starred) for part in counted):
        return []
    return [] if isinstance(node, ast.List) and is_rearranged(tracer, module, node) else [node.elts[index]]


def find_filled_key(call: ast.Call, position: int | None, keyword: str | None, key: tuple[object, ...]) -> tuple[object, ...]:
    """Under which key a method of a mapping puts an argument into it; () where it puts nothing."""
    last, first = last_name(call.func), call.args[0] if call.args else None
    if last == "update":
        key = (keyword, *key) if keyword is not None else key
        return key if key and isinstance(key[0], str) and key[0] != "*" else ()  # of pairs the key is not known
    return (str(first.value), *key) if last == "setdefault" and position == 1 and isinstance(first, ast.Constant) else ()
