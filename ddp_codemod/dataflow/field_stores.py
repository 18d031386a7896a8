"""What a file assigns to attributes and subscripts, by their text."""

from __future__ import annotations

import ast
import re

from ddp_codemod.dataflow.calls import index_calls
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.scopes import SELF, Binding, assignment_pairs
from ddp_codemod.sites.word_search import has_word_in_context

# around an attribute that is assigned, and around a key
_DOT, _ASSIGNED = re.compile(rb"\.[\s\\]*\Z"), re.compile(rb"[\s\\)]*(?::|=(?!=))")
_QUOTED, _KEY_ASSIGNED = re.compile(rb"(?<=[\"'])"), re.compile(rb"[\"']+[\s\\)]*\][\s\\)]*(?::|=(?!=))")
_QUOTE = re.compile(rb"[\"']")


def find_stores_by_text(module: Module, text: str) -> list[Binding]:
    """The assignments of a file to an attribute or subscript, by its text."""
    if "stored" not in module.own:
        table: dict[str, list[Binding]] = {}
        for kind in (ast.Assign, ast.AnnAssign):
            for statement in module.nodes.get(kind, ()):
                for target, value in assignment_pairs(statement):
                    if isinstance(target, (ast.Attribute, ast.Subscript)):
                        place = ast.unparse(target)
                        table.setdefault(place, []).append(Binding(place, "value", statement, value))
        for call in index_calls(module).get("setattr", ()):
            name = call.args[1].value if len(call.args) == 3 and isinstance(call.args[1], ast.Constant) else None
            if isinstance(name, str) and isinstance(module.parents.get(call), ast.Expr):
                place = f"{ast.unparse(call.args[0])}.{name}"
                table.setdefault(place, []).append(Binding(place, "value", module.statement(call), call.args[2]))
        module.own["stored"] = table
    return module.own["stored"].get(text, [])  # type: ignore[attr-defined, no-any-return]


def find_stores_by_name(module: Module, name: str) -> list[tuple[ast.AST, ast.Attribute, ast.expr]]:
    """The assignments of a file to attributes of a name, whatever they are attributes of: the statement, the attribute, the value."""
    if "stored by name" not in module.own:
        table: dict[str, list[tuple[ast.AST, ast.Attribute, ast.expr]]] = {}
        for kind in (ast.Assign, ast.AnnAssign):
            for statement in module.nodes.get(kind, ()):
                for target, value in assignment_pairs(statement):
                    if isinstance(target, ast.Attribute):
                        table.setdefault(target.attr, []).append((statement, target, value))
        module.own["stored by name"] = table
    return module.own["stored by name"].get(name, [])  # type: ignore[attr-defined, no-any-return]


def may_store(data: bytes, name: str) -> bool:
    """Whether the bytes of a file look as if it did what ``has_store`` is about."""
    key = name.encode()
    return (
        has_word_in_context(data, key, _DOT, _ASSIGNED)
        or has_word_in_context(data, key, _QUOTED, _KEY_ASSIGNED)
        or (b"setattr" in data and has_word_in_context(data, key, _QUOTED, _QUOTE))
    )


def has_store(module: Module, name: str) -> bool:
    """Whether a file assigns to an attribute or under a key of this name, but for what an object's own methods set on it."""
    find_stores_by_text(module, "")
    own = {f"{first}.{name}" for first in SELF}
    return any(place.endswith((f".{name}", f"[{name!r}]")) and place not in own for place in module.own["stored"])  # type: ignore[attr-defined]
