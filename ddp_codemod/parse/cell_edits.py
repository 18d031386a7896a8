"""Changes of a notebook's cells as changes of its JSON text, in the file's own style."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from msgspec import Struct

from ddp_codemod.parse.cells import Cell

_SPACE_BEFORE = re.compile(r"\[(\s*)\Z")


class CellEdit(Struct, frozen=True):
    """New text for a stretch of one cell; offsets are the cell's."""

    cell: int
    start: int
    end: int
    new: str


def apply_edits(text: str, cells: Sequence[Cell], edits: Sequence[CellEdit]) -> str | None:
    """The file's text with the edits made, which are in order; None where two of them need the same characters.

    Where each line of a cell is a string of its own, a new line becomes a new string, with what is between the others,
    and a line that goes takes its string along.
    """
    parts: list[str] = []
    done = 0
    style = _Style(text, cells)
    for edit in edits:
        start, end, raw = style.in_file(edit)
        if start < done:
            return None
        parts += (text[done:start], raw)
        done = end
    return "".join((*parts, text[done:]))


class _Style:
    """How a file writes strings and parts them."""

    def __init__(self, text: str, cells: Sequence[Cell]) -> None:
        self._text = text
        self._cells = cells
        self._ascii = text.isascii()

    def in_file(self, edit: CellEdit) -> tuple[int, int, str]:
        """Start and end in the file of what an edit replaces, and what it puts there."""
        cell = self._cells[edit.cell]
        start, end, new = _trim_edit(cell.text, edit)
        first = cell.elements[cell.index(start)]
        number = cell.index(end - 1) if end > start else cell.index(start)
        last = cell.elements[number]
        low, high = first.in_file(start), last.in_file(end)
        if not cell.by_lines:
            return low, high, self._escape_text(new)
        head, tail = first.text[: start - first.at], last.text[end - last.at :]
        if start < end and not tail and not (head + new).endswith("\n"):
            if number + 1 < len(cell.elements):  # the next line moves up: its string goes on in this one
                following = cell.elements[number + 1]
                high, tail = following.start, following.text
            elif not head and not new and first.at > 0:
                previous = cell.elements[cell.index(first.at - 1)]
                low = previous.in_file(previous.end)
        parts = [*(["", new] if head.endswith("\n") and new else [new])]
        lines = [line for part in parts for line in (re.findall(r"[^\n]*\n|[^\n]+", part) or [part])]
        if lines and lines[-1].endswith("\n") and tail:
            lines.append("")
        return low, high, f'"{self._find_separator(cell, number)}"'.join(self._escape_text(line) for line in lines)

    def _escape_text(self, text: str) -> str:
        return json.dumps(text, ensure_ascii=self._ascii)[1:-1]

    def _find_separator(self, cell: Cell, number: int) -> str:
        """What is between the strings of a cell, next to one of them; that of another cell where it has but one."""
        for one, at in ((cell, number), *((other, 1) for other in self._cells if other.by_lines)):
            if len(one.elements) > 1:
                left, right = one.elements[max(at, 1) - 1], one.elements[max(at, 1)]
                return self._text[left.in_file(left.end) + 1 : right.start - 1]
        space = _SPACE_BEFORE.search(self._text, 0, cell.elements[0].start - 1)
        return "," + (space.group(1) if space and space.group(1) else " ")


def _trim_edit(text: str, edit: CellEdit) -> tuple[int, int, str]:
    """The edit without the characters at its ends that stay the same: they keep the escapes that they have."""
    start, end, new = edit.start, edit.end, edit.new
    while start < end and new and text[start] == new[0]:
        start, new = start + 1, new[1:]
    while start < end and new and text[end - 1] == new[-1]:
        end, new = end - 1, new[:-1]
    return start, end, new
