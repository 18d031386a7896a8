"""What a tool answers: a document, sentences of the server's own, and quoted lines, kept apart."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from ddp_codemod.messages import text
from ddp_codemod.servers.quoting import clean_text

SHOWN, LONGEST = 20, 360  # quoted lines beside a document, and characters of each


class Answer(Struct, frozen=True):
    """``said``: the server's own words, in which nothing of the project is. ``quoted``: lines about the project, as data."""

    document: dict[str, Any]
    said: tuple[str, ...]
    quoted: tuple[str, ...] = ()
    shown: int = SHOWN


class Refused(Exception):
    """The request cannot be done: our own words, and as quoted lines what may come from the project."""

    def __init__(self, said: str, *quoted: str) -> None:
        super().__init__(said)
        self.said, self.quoted = said, quoted


def join_answer(words: Iterable[str], quoted: Iterable[str], lang: str, shown: int = SHOWN) -> str:
    """The text of an answer. Each quoted line begins with ``> `` and holds no line break; so no other line is the project's."""
    lines = list(quoted)
    block = list(words)
    if lines:
        block += ["", text("mcp-quoted", lang)]
        block += ["> " + clean_text(line.replace("\n", "\\n"), LONGEST) for line in lines[:shown]]
    if len(lines) > shown:
        block.append(text("mcp-more-lines", lang, n=len(lines) - shown))
    return "\n".join(block)
