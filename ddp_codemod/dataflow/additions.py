"""Lists and mappings that get more after they were written out: ``names.append(name)``, ``sizes[name] = 2``."""

from __future__ import annotations

import ast
from collections.abc import Set

from ddp_codemod.dataflow.calls import find_names
from ddp_codemod.parse.python import Module

FILLING = frozenset({"update", "setdefault", "__setitem__"})  # methods of a mapping that put something into it


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
