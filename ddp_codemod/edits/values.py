"""The new source text of a value: as the code writes its own."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from msgspec import Struct

from ddp_codemod.catalog.load import Rules
from ddp_codemod.dataflow.values import PlatformDefault, Value
from ddp_codemod.kinds import OriginKind
from ddp_codemod.parse.document import Document, Entry
from ddp_codemod.parse.python import Module
from ddp_codemod.parse.shell import Option, Script, Setting

QUOTE = re.compile(r"(?i)\A[rubf]*('''|\"\"\"|'|\")")


class NewValue(Struct, frozen=True):
    """Text for a stretch of the file; ``dropped`` is the conditional expression that it replaces whole."""

    start: int
    end: int
    text: str
    dropped: ast.expr | None = None


def make_new_value(source: Value, text: str, rules: Rules, purely: Callable[[Module, ast.expr], bool]) -> NewValue | None:
    """How to write ``text`` where the source is; None where the source is nothing that can be rewritten."""
    module, node = source.module, source.node
    if not isinstance(module, Module) or not isinstance(node, ast.AST):
        return _write_in_settings(source, text)
    if source.kind == OriginKind.MEMBER:
        return None  # its name says the text that it holds; which member is meant is for review
    outer = source.outer
    whole = outer is not None and not _has_comment(module.text(outer))
    if outer is not None and whole and _can_collapse(source, outer, text, rules) and purely(module, outer):
        place = module.place(outer)
        return NewValue(place.start, place.end, write_backend(source, text, rules, outer), outer)
    place = module.place(node)
    if _has_comment(module.text(node)):
        return None
    if source.kind == OriginKind.ENUM:
        return NewValue(place.start, place.end, write_backend(source, text, rules, node))
    plain = isinstance(node, (ast.Constant, ast.JoinedStr, ast.BinOp)) or source.kind == OriginKind.AT_CALL
    if plain or isinstance(source.value, PlatformDefault):
        return NewValue(place.start, place.end, _quote_text(text, find_first_quote(module, node)))
    return None


def _has_comment(text: str) -> bool:
    """Whether the source text of an expression holds a comment, which a new text in its place would lose."""
    if "#" not in text:
        return False
    import tokenize  # few expressions hold the character

    lines = iter(f"({text}\n)".splitlines(keepends=True))
    try:
        return any(token.type == tokenize.COMMENT for token in tokenize.generate_tokens(lambda: next(lines, "")))
    except (tokenize.TokenError, SyntaxError):
        return True


def _write_in_settings(source: Value, text: str) -> NewValue | None:
    """In a configuration or launch file, whose reader knows how a value is written there."""
    tree, node = source.module, source.node
    try:
        if isinstance(tree, Document) and isinstance(node, Entry):
            return NewValue(node.start, node.end, tree.written(node, text))
        if isinstance(tree, Script) and isinstance(node, (Option, Setting)):
            return NewValue(node.start, node.end, tree.written(node, text))
    except ValueError:
        pass
    return None


def write_backend(source: Value, text: str, rules: Rules, around: ast.AST) -> str:
    """An enum member stays one where torch itself has the new name; everything else is a string in the code's quotes."""
    known = rules.backends.get(text)
    if source.kind == OriginKind.ENUM and isinstance(source.node, ast.Attribute) and known is not None and known.enum:
        return source.text.removesuffix(source.node.attr) + text.upper()
    return _quote_text(text, find_first_quote(source.module, around) if isinstance(source.module, Module) else '"')


def _can_collapse(source: Value, outer: ast.expr, text: str, rules: Rules) -> bool:
    """Whether one plain text can stand for the whole conditional: every branch is written out, and those that can result are this text."""
    branches = _list_branches(outer)
    if not all(_is_name(branch, rules) for branch in branches):
        return False
    return source.decided or all(branch is source.node or _get_name(branch) == text for branch in branches)


def _list_branches(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.IfExp):
        return [*_list_branches(node.body), *_list_branches(node.orelse)]
    return [node]


def _is_name(node: ast.expr, rules: Rules) -> bool:
    """Whether a branch is a backend written out, as a string or an enum member."""
    name = _get_name(node)
    return name is not None and all(part.rpartition(":")[2] in rules.backends for part in name.split(","))


def _get_name(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.lower()
    return node.attr.lower() if isinstance(node, ast.Attribute) else None


def find_first_quote(module: Module, node: ast.AST) -> str:
    """The quotes that the code uses here."""
    for part in ast.walk(node):
        if isinstance(part, (ast.Constant, ast.JoinedStr)):
            found = QUOTE.match(module.text(part))
            if found:
                return found.group(1)[0]
    return '"'


def _quote_text(text: str, quote: str) -> str:
    return f"{quote}{text}{quote}"
