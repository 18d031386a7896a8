"""Places in f-strings, whose parts have none of their own before Python 3.12."""

from __future__ import annotations

import ast
import sys

from ddp_codemod.model import Place
from ddp_codemod.parse.newer_nodes import PlacedString
from ddp_codemod.parse.python import Module


def fstring_of(module: Module, node: ast.AST) -> ast.JoinedStr | None:
    """The f-string around a node, where its parts have no places."""
    if sys.version_info >= (3, 12):
        return None
    found = [at for at in module.ancestors(node) if isinstance(at, ast.JoinedStr)]
    return found[-1] if found and not isinstance(found[-1], PlacedString) else None


def start_of(module: Module, node: ast.AST) -> int:
    """Where a node starts, or the f-string that it is in."""
    return module.place(fstring_of(module, node) or node).start


def text_of(module: Module, node: ast.AST) -> str:
    """Its source text, or that of an equal one."""
    return ast.unparse(node) if fstring_of(module, node) is not None else module.text(node)


def place_of(module: Module, node: ast.AST) -> Place | None:
    """Where a node is; in an f-string it is looked for by its text. None where that is not sure."""
    around = fstring_of(module, node)
    if around is None:
        return module.place(node)
    whole, text = module.place(around), ast.unparse(node)
    same = [part for part in ast.walk(around) if isinstance(part, ast.expr) and ast.unparse(part) == text]
    source = module.source.text[whole.start : whole.end]
    if source.count(text) != len(same):
        return None
    same.sort(key=lambda part: list(ast.walk(around)).index(part))
    at = -1
    for part in same:
        at = source.index(text, at + 1)
        if part is node:
            return Place(whole.name, whole.start + at, whole.start + at + len(text))
    return None
