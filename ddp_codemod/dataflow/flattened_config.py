"""Tables whose sections are merged into one: ``for section in cfg: for k, v in cfg[section].items(): out[k] = v``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ddp_codemod.parse.python import Module
from ddp_codemod.sites.scopes import assignment_pairs, owner_scope, scope_of


def find_flattened_table(module: Module, node: ast.AST) -> ast.expr | None:
    """The table whose sections fill a display or a call that makes a table, where the code around does nothing else with its keys."""
    statement = module.parents.get(node)
    targets = statement.targets if isinstance(statement, ast.Assign) and statement.value is node else []
    if len(targets) != 1 or not isinstance(targets[0], ast.Name):
        return None
    name = targets[0].id
    home = owner_scope(module, scope_of(module, targets[0]), name)
    for inner in module.nodes.get(ast.For, ()):
        assert isinstance(inner, ast.For)
        if scope_of(module, inner) is home and (source := _find_merged_table(module, inner, name)) is not None:
            return source
    return None


def _find_merged_table(module: Module, inner: ast.For, name: str) -> ast.expr | None:
    """The outer table of two loops, of which the inner one copies each entry of a section into a table under its own key."""
    outer = module.parents.get(inner)
    pair = inner.target.elts if isinstance(inner.target, ast.Tuple) else []
    if (
        not isinstance(outer, ast.For)
        or outer.body != [inner]
        or len(pair) != 2
        or not _is_key_copy_loop(inner, name, *map(_get_name, pair))
    ):
        return None
    section = _find_items_owner(inner.iter)
    table = _find_items_owner(outer.iter) or outer.iter
    names = list(_list_target_names(outer.target))
    if isinstance(section, ast.Subscript):  # for key in cfg: ... cfg[key].items()
        whole = section.value
        return whole if ast.dump(whole) == ast.dump(table) and _get_name(section.slice) in names else None
    return table if table is not outer.iter and section is not None and _get_name(section) in names else None


def _is_key_copy_loop(loop: ast.For, name: str, key: str, value: str) -> bool:
    """Whether all that a loop does is ``name[key] = value``."""
    pairs = [pair for statement in loop.body for pair in assignment_pairs(statement)]
    return len(loop.body) == 1 and any(
        isinstance(target, ast.Subscript)
        and _get_name(target.value) == name
        and _get_name(target.slice) == key
        and _get_name(given) == value
        for target, given in pairs
    )


def _find_items_owner(node: ast.expr) -> ast.expr | None:
    """``x`` of ``x.items()`` and ``x.values()``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("items", "values"):
        return node.func.value
    return None


def _list_target_names(target: ast.expr) -> Iterator[str]:
    yield from (part.id for part in ast.walk(target) if isinstance(part, ast.Name))


def _get_name(node: ast.AST | None) -> str:
    return node.id if isinstance(node, ast.Name) else ""
