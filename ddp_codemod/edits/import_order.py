"""The order of imports and of the names in them, as isort and ruff have it."""

from __future__ import annotations

import ast


def find_later_name(statement: ast.ImportFrom, name: str) -> ast.alias | None:
    """The first name that a sorted import has behind another; None where it is the last, or they are not sorted."""
    keys = [_order_name(alias.name) for alias in statement.names]
    if keys != sorted(keys):
        return None
    return next((alias for alias in statement.names if _order_name(alias.name) > _order_name(name)), None)


def _order_name(name: str) -> tuple[int, str]:
    """Constants, classes, and all else, as isort and ruff have them."""
    return (0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2), name


def order_import(node: ast.stmt) -> tuple[bool, str]:
    """The place of an import among others: plain ones come first, then by the module's name."""
    if isinstance(node, ast.Import):
        return False, node.names[0].name.lower()
    return True, (node.module or "").lower() if isinstance(node, ast.ImportFrom) else ""
