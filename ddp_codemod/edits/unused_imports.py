"""Imports that nothing uses any more once an expression is dropped."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Container, Iterator, Sequence

from msgspec import Struct

from ddp_codemod.model import Edit
from ddp_codemod.parse.python import Module, walk
from ddp_codemod.policy.findings import Insertions

DYNAMIC = frozenset({"globals", "locals", "vars", "eval", "exec"})  # with these, a name may be used unseen


class UnusedImport(Struct, frozen=True, eq=False):
    """A name of an import statement that only ``users`` used."""

    statement: ast.Import | ast.ImportFrom
    name: str
    users: tuple[ast.expr, ...]


def find_unused(
    module: Module, dropped: Sequence[ast.expr], reexported: Callable[[Module, str], bool], missing: Container[str] | None = None
) -> Iterator[UnusedImport]:
    """The standard-library names of plain top-level imports that nothing uses once the dropped expressions are gone.

    With ``missing`` those of its qualified names instead, whose import fails. A name that is in ``__all__``, taken by another file, or on a ``noqa`` line stays.
    """
    inside: dict[str, list[ast.expr]] = {}
    gone: set[ast.AST] = set()
    for expression in dropped:
        for node in walk(expression):
            gone.add(node)
            if isinstance(node, ast.Name):
                inside.setdefault(node.id, []).append(expression)
    outside = {node.id for node in module.nodes.get(ast.Name, ()) if isinstance(node, ast.Name) and node not in gone}
    if outside & DYNAMIC or module.name.endswith("__init__.py"):
        return
    for statement in module.tree.body:
        if not isinstance(statement, (ast.Import, ast.ImportFrom)):
            continue
        for alias in statement.names:
            name = alias.asname or alias.name.split(".")[0]
            if name not in inside or name in outside or name == "*":
                continue
            if not (
                _is_standard_library(statement, alias) if missing is None else f"{_get_module(statement)}.{alias.name}" in missing
            ):
                continue
            if not _is_exported(module, name) and not _has_noqa(module, statement) and not reexported(module, name):
                yield UnusedImport(statement, name, tuple(dict.fromkeys(inside[name])))


def find_replaced_names(change: Insertions, edit: Edit) -> list[ast.Name]:
    """The names in the text that an edit replaces, which its new text does not have."""
    names = [node for node in walk(change.node) if isinstance(node, ast.Name)]
    places = [(node, change.module.place(node)) for node in names if edit.after is not None]
    replaced = [node for node, place in places if edit.start <= place.start and place.end <= edit.end]
    return [node for node in replaced if not re.search(rf"(?<![\w.]){re.escape(node.id)}\b", edit.after or "")]


def list_outside_names(module: Module, file: Callable[[str, str], str | None] | None) -> frozenset[str]:
    """What a file imports by name from packages that are not the project's, as qualified names; not what a text mentions, too."""
    folder = module.name.rpartition("/")[0] or "."
    texts = [node.value for node in module.nodes.get(ast.Constant, ()) if isinstance(node, ast.Constant)]
    written = "\n".join(text for text in texts if isinstance(text, str))
    return frozenset(
        f"{statement.module}.{alias.name}"
        for statement in module.tree.body
        if isinstance(statement, ast.ImportFrom) and not statement.level and statement.module
        if file is not None and file(statement.module, folder) is None
        for alias in statement.names
        if not re.search(rf"\b{re.escape(alias.asname or alias.name)}\b", written)
    )


def _is_standard_library(statement: ast.Import | ast.ImportFrom, alias: ast.alias) -> bool:
    source = alias.name if isinstance(statement, ast.Import) else statement.module or ""
    top = source.split(".")[0]
    return (
        top in sys.stdlib_module_names and top != "__future__" and not (isinstance(statement, ast.ImportFrom) and statement.level)
    )


def _get_module(statement: ast.Import | ast.ImportFrom) -> str | None:
    return statement.module if isinstance(statement, ast.ImportFrom) and not statement.level else None


def _is_exported(module: Module, name: str) -> bool:
    for statement in module.tree.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
            return any(isinstance(part, ast.Constant) and part.value == name for part in walk(statement))
    return False


def _has_noqa(module: Module, statement: ast.stmt) -> bool:
    place = module.place(statement)
    _, end = module.source.line_span(place.end)
    return "noqa" in module.source.text[place.start : end].lower()
