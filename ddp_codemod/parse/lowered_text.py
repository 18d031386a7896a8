"""A text with stretches replaced, of the same length in bytes and in lines; in its tree, the replaced nodes are exchanged."""

from __future__ import annotations

import ast
import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

from ddp_codemod.model import LINE_END, replace_stretches
from ddp_codemod.parse.python_tokens import UnknownSyntax

Fix = Callable[[Any, ast.AST], ast.AST]  # of the node and the one around it
_SHOWN = re.compile(r"[^\r\n]")


def fill_up(text: str, filling: str) -> str:
    """As many of these as the text has bytes in UTF-8, in as many lines: so much do the places of ``ast`` count."""
    return _SHOWN.sub(lambda found: filling * len(found[0].encode("utf-8")), text)


class LoweredText:
    """One text: the edits that replace stretches of it, and the fixes that exchange nodes of its tree."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0, *(end.end() for end in LINE_END.finditer(text))]
        lengths = () if text.isascii() else (len(character.encode("utf-8")) for character in text)
        self.bytes = array("I", accumulate(lengths, initial=0)) if lengths else None  # in front of each character
        self.edits: list[tuple[int, int, str]] = []
        self.fixes: dict[tuple[type, int, int], Fix] = {}

    def parse(self, mode: str) -> Any:
        """The tree. Raises SyntaxError for a text that is wrong, UnknownSyntax where nothing was replaced."""
        if not self.edits:
            raise UnknownSyntax(0)
        tree = ast.parse(self.lowered, mode=mode)
        self._fix_tree(tree)
        return tree

    @property
    def lowered(self) -> str:
        """The text that is parsed."""
        return replace_stretches(self.text, sorted(self.edits))

    def locate(self, offset: int) -> tuple[int, int]:
        """Line and column as ``ast`` has them."""
        row = bisect_right(self.starts, offset) - 1
        start = self.starts[row]
        return row + 1, self.bytes[offset] - self.bytes[start] if self.bytes else offset - start

    def replace(self, start: int, end: int, new: str = "") -> None:
        """Put a text in front, and fill the rest up: as many bytes as there were, in as many lines."""
        self.edits.append((start, end, new + fill_up(self.text[start:end], " ")[len(new) :]))

    def fix(self, kind: type[ast.AST], start: int, fix: Fix) -> None:
        """Exchange the node of a kind that starts here for another one."""
        line, column = self.locate(start)
        self.fixes[kind, line, column] = fix

    def _fix_tree(self, tree: ast.AST) -> None:
        todo: list[ast.AST] = [tree]
        while todo:
            node = todo.pop()
            if isinstance(node, ast.JoinedStr):
                continue  # is whole, or holds nothing that was replaced
            for name, value in ast.iter_fields(node):
                if isinstance(value, list):
                    value[:] = [self._exchange(child, node) for child in value]
                    todo += [child for child in value if isinstance(child, ast.AST)]
                elif isinstance(value, ast.AST):
                    made = self._exchange(value, node)
                    setattr(node, name, made)
                    todo.append(made)
        if self.fixes:
            raise UnknownSyntax(0)

    def _exchange(self, child: Any, parent: ast.AST) -> Any:
        key = (type(child), getattr(child, "lineno", 0), getattr(child, "col_offset", 0))
        fix = self.fixes.pop(key, None)
        return child if fix is None else fix(child, parent)


def span(node: Any, parts: Sequence[Any]) -> Any:
    """The node, from the first of its parts to the last."""
    node.lineno, node.col_offset = parts[0].lineno, parts[0].col_offset
    node.end_lineno, node.end_col_offset = parts[-1].end_lineno, parts[-1].end_col_offset
    return node
