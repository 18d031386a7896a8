"""Columns and paragraphs of text, where a Chinese character takes two cells."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_NEGATING, _COUNTED = "不未无没需", "个处条项种次"
_OPENING, _CLOSING, _WIDE = "（“《", "，。；：、）！？”》", r"\u2e80-\u9fff\uff00-\uffef"
# a number and what it counts; one wide character (and one that negates it), or a word, each with the marks before it that may not end a line and those behind it that may not begin one;
# a short word in brackets stays whole
_UNIT = rf"\s+|[{_OPENING}]*# [^\s{_WIDE}]+|\d+ ?[{_COUNTED}]|[(（][{_WIDE}]{{1,4}}[)）][{_CLOSING}:]*|[{_OPENING}]*(?:[{_NEGATING}]*[{_WIDE}]|[^\s{_WIDE}]+)[{_CLOSING}]*|."
_WORD = r"\s+|(?:[^\s#]*# )?\S+"  # the same of a text in ASCII; the other takes 2 ms to compile


def count_cells(text: str) -> int:
    """How many cells of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from wcwidth import wcswidth  # rarely; it knows combining marks and emoji, too

    return known if (known := wcswidth(text)) >= 0 else len(text)


def cut_to_width(line: str, width: int) -> str:
    """As much of a line as surely fits: some terminals give two cells to characters that others give one."""
    room = width
    for at, character in enumerate(line):
        room -= 2 if unicodedata.east_asian_width(character) in "WFA" else 1
        if room < 0:
            return line[:at]
    return line


def format_table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines with the columns of the rows under each other, two spaces apart."""
    widths = [max(map(count_cells, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(pad_cell(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def wrap_text(paragraph: str, width: int, first: str = "", rest: str = "") -> list[str]:
    """Lines of at most ``width`` cells, cut at spaces and between wide characters; ``first`` and ``rest`` are put before them.

    A word that is longer than a line, such as a path or an address, stays whole.
    """
    lines, room = [first], width - count_cells(first)
    empty = True
    for word in re.findall(_WORD if paragraph.isascii() else _UNIT, paragraph):
        taken = count_cells(word.rstrip())
        if not empty and taken > room:
            lines.append(rest)
            room, empty = width - count_cells(rest), True
        if empty:
            word = word.lstrip()
        lines[-1] += word
        room -= count_cells(word)
        empty = empty and not word
    return [line.rstrip() for line in lines]


def pad_cell(cell: str, width: int) -> str:
    """A text with as many spaces behind it as fill the cells."""
    return cell + " " * (width - count_cells(cell))
