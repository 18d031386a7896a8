"""Calls that look something up by a name that is written out: ``getattr(x, "name")``, ``import_module("torch.distributed")``."""

from __future__ import annotations

import ast
from typing import TypeVar

T = TypeVar("T")


def attribute_lookup(node: ast.Call) -> tuple[ast.expr, str] | None:
    """What ``getattr(x, "name")`` looks into, and the name."""
    if isinstance(node.func, ast.Name) and node.func.id == "getattr" and len(node.args) >= 2:
        name = node.args[1]
        if isinstance(name, ast.Constant) and isinstance(name.value, str) and name.value.isidentifier():
            return node.args[0], name.value
    return None


def imported_module_name(node: ast.Call) -> str | None:
    """The module that a call of ``import_module`` names, if it does."""
    named = node.args[0] if len(node.args) == 1 and not node.keywords else None
    return named.value if isinstance(named, ast.Constant) and isinstance(named.value, str) else None


def deduplicate(found: list[T]) -> list[T]:
    """Each once, in order."""
    return list(dict.fromkeys(found))
