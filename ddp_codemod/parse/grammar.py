"""Tree-sitter trees over a file's text, with spans in characters.

The grammars are loaded when the first file of their kind is parsed. Tree-sitter counts UTF-8 bytes; this is the one
place that turns them into characters.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from functools import cache, cached_property
from importlib import import_module
from typing import TYPE_CHECKING

from ddp_codemod import lazy_modules

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MAX_BYTES = 5_000_000


class Tree:
    """One parsed text."""

    def __init__(self, language: str, text: str) -> None:
        """Parse ``text`` with the grammar ``tree_sitter_<language>``; broken text gives a tree with error nodes."""
        self.text = text
        self._data = text.encode("utf-8")
        self._tree = _load_parser(language).parse(self._data)  # nodes live as long as their tree

    @property
    def root(self) -> Node:
        """The topmost node."""
        return self._tree.root_node

    @cached_property
    def _continuation_bytes(self) -> list[int]:
        """Bytes that continue a character; between two positions there are as many fewer characters than bytes."""
        if self.text.isascii():
            return []
        return [at for at, byte in enumerate(self._data) if byte & 0xC0 == 0x80]

    def offset(self, byte: int) -> int:
        """Characters before a byte."""
        return byte - bisect_left(self._continuation_bytes, byte)

    def span(self, node: Node) -> tuple[int, int]:
        """Start and end of a node in characters."""
        return self.offset(node.start_byte), self.offset(node.end_byte)

    def of(self, node: Node) -> str:
        """The text of a node."""
        return self._data[node.start_byte : node.end_byte].decode("utf-8")

    def errors(self) -> Iterator[int]:
        """Where text is (or is missing) that the grammar does not know."""
        todo = [self.root] if self.root.has_error else []
        while todo:
            node = todo.pop()
            if is_broken(node):
                yield self.offset(node.start_byte)
            else:
                todo.extend(child for child in reversed(node.children) if child.has_error)


def is_broken(node: Node) -> bool:
    """Whether a node is text that the grammar does not know, or a token that it misses."""
    return node.is_error or node.is_missing


@cache
def _load_parser(language: str) -> Parser:
    from tree_sitter import Language, Parser

    with lazy_modules.defer_function("importlib.resources", "files"):  # they read their queries with it, which we do not ask for
        grammar = import_module(f"tree_sitter_{language}")
    return Parser(Language(grammar.language()))
