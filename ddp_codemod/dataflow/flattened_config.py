"""Tables whose sections are merged into one: ``for section in cfg: for k, v in cfg[section].items(): out[k] = v``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ddp_codemod.parse.python import Module
from ddp_codemod.sites.scopes import assigned, owner, scope_of


def flattened(module: Module, node: ast.AST) -> ast.expr | None:
    """The table whose sections fill a display or a call that makes a table, where the code around does nothing else with its keys."""
    statement = module.parents.get(node)
    targets = statement.targets if isinstance(statement, ast.Assign) and statement.value is node else []
    if len(targets) != 1 or not isinstance(targets[0], ast.Name):
        return None
    name = targets[0].id
    home = owner(module, scope_of(module, targets[0]), name)
    for inner in module.nodes.get(ast.For, ()):
        assert isinstance(inner, ast.For)
        if scope_of(module, inner) is home and (source := _merged(module, inner, name)) is not None:
            return source
    return None


def _merged(module: Module, inner: ast.For, name: str) -> ast.expr | None:
    """The outer table of two loops, of which the inner one copies each entry of a section into a table under its own key."""
    outer = module.parents.get(inner)
    pair = inner.target.elts if isinstance(inner.target, ast.Tuple) else []
    if not isinstance(outer, ast.For) or outer.body != [inner] or len(pair) != 2 or not _copies(inner, name, *map(_id, pair)):
        return None
    section = _items_of(inner.iter)
    table = _items_of(outer.iter) or outer.iter
    names = list(_names(outer.target))
    if isinstance(section, ast.Subscript):  # for key in cfg: ... cfg[key].items()
        whole = section.value
        return whole if ast.dump(whole) == ast.dump(table) and _id(section.slice) in names else None
    return table if table is not outer.iter and section is not None and _id(section) in names else None


def _copies(loop: ast.For, name: str, key: str, value: str) -> bool:
    """Whether all that a loop does is ``name[key] = value``."""
    pairs = [pair for statement in loop.body for pair in assigned(statement)]
    return len(loop.body) == 1 and any(
        isinstance(target, ast.Subscript) and _id(target.value) == name and _id(target.slice) == key and _id(given) == value
        for target, given in pairs
    )


def _items_of(node: ast.expr) -> ast.expr | None:
    """``x`` of ``x.items()`` and ``x.values()``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("items", "values"):
        return node.func.value
    return None


def _names(target: ast.expr) -> Iterator[str]:
    yield from (part.id for part in ast.walk(target) if isinstance(part, ast.Name))


def _id(node: ast.AST | None) -> str:
    return node.id if isinstance(node, ast.Name) else ""
