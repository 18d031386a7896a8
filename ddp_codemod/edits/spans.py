"""A place for new text, and the lines around it."""

from __future__ import annotations

from msgspec import Struct

from ddp_codemod.model import Source


class Insertion(Struct, frozen=True):
    """Text that goes in front of the character at ``offset``."""

    offset: int
    text: str


def line_ending(source: Source, offset: int) -> str:
    """The ending of the line that holds the offset; the file's where the line has none."""
    start, end = source.line_span(offset)
    line = source.text[start:end]
    for ending in ("\r\n", "\n", "\r"):
        if line.endswith(ending):
            return ending
    return source.newline
