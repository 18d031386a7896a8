"""The stretches of whole lines that edits change, and what is there when some of them are made.

Offsets are those of the file, also for a notebook. Lines are git's, which end at a line feed only: what is made here goes into
patches.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from msgspec import Struct

from ddp_codemod.edits.lines import expand_deletion
from ddp_codemod.edits.splice import SpliceError, compute_replacements
from ddp_codemod.model import Edit, Reason, Source

# characters of a notebook, times its edits, up to which each edit is tried by itself: that reads all of it again
ONE_BY_ONE = 5_000_000


class Block(Struct, frozen=True):
    """Lines of one file, from ``start`` to ``end`` (offsets), that some edits change and no other edit touches.

    ``edits`` are the different ones; an edit of a file that stands for several units is in it once.
    """

    source: Source
    start: int
    end: int
    edits: tuple[Edit, ...]

    @property
    def line(self) -> int:
        """The number of the first line, from 1; where nothing goes, of the line that the new ones come before."""
        return self.source.file.text.count("\n", 0, self.start) + 1

    @property
    def lines(self) -> int:
        """How many lines of the old file the block has."""
        return len(split_lines(self.old))

    @property
    def old(self) -> str:
        """The lines as they are."""
        return self.source.file.text[self.start : self.end]

    def new(self, chosen: Collection[Edit]) -> str:
        """The lines when the chosen edits are made. Raises SpliceError where they cannot all be made."""
        text = _apply_edits(self.source, [edit for edit in self.edits if edit in chosen])
        return text[self.start : len(text) - (len(self.source.file.text) - self.end)]


def build_blocks(source: Source, edits: Iterable[Edit]) -> tuple[Block, ...]:
    """The blocks of one file, from the top; edits that change the same place in the same way count once.

    Raises SpliceError for an edit of a notebook that cannot be made.
    """
    different: dict[tuple[object, ...], Edit] = {}
    for edit in edits:
        different.setdefault(build_edit_key(edit), edit)
    if different and has_too_many_edits(source, len(different)):
        return (Block(source, 0, len(source.file.text), tuple(sorted(different.values(), key=lambda edit: edit.start))),)
    spans = sorted(
        ((_find_line_span(source, edit), edit) for edit in different.values()), key=lambda pair: (pair[0], pair[1].start)
    )
    joined: list[tuple[int, int, list[Edit]]] = []
    for (start, end), edit in spans:
        if joined and (start < joined[-1][1] or (start, end) == joined[-1][:2] or start == joined[-1][0]):
            first, last, inside = joined[-1]
            joined[-1] = first, max(last, end), [*inside, edit]
        else:
            joined.append((start, end, [edit]))
    return tuple(Block(source, start, end, tuple(inside)) for start, end, inside in joined)


def has_too_many_edits(source: Source, edits: int) -> bool:
    """Whether a notebook has so many edits that they are one block, and no change of a report for programs by themselves."""
    return source.file is not source and edits * len(source.file.text) > ONE_BY_ONE


def build_edit_key(edit: Edit) -> tuple[object, ...]:
    """What two edits share that change one place in the same way."""
    return edit.name, edit.start, edit.end, edit.after, edit.recipe if edit.after is None else None


def split_lines(text: str) -> list[str]:
    """Git's lines, each with its ending."""
    parts = text.split("\n")
    return [line + "\n" for line in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _apply_edits(source: Source, edits: Sequence[Edit]) -> str:
    text = source.written(compute_replacements(source, edits))
    if isinstance(text, Reason):
        raise SpliceError(text)
    return text


def _find_line_span(source: Source, edit: Edit) -> tuple[int, int]:
    """The whole lines that an edit changes: none for an insertion of whole lines."""
    if source.file is not source:
        return _find_difference(source.file.text, _apply_edits(source, [edit]))
    text, start, end = source.text, edit.start, edit.end
    first = text.rfind("\n", 0, start) + 1
    marked = source.encoding.endswith("-sig") and not start  # the mark in front of the first line moves with what precedes it
    if start == end == first and edit.after and edit.after.endswith(("\n", "\r")) and not marked:
        return start, end
    if edit.recipe is not None or not edit.after:
        start, end = expand_deletion(source, start, end)  # a recipe may leave nothing
        first = text.rfind("\n", 0, start) + 1
    if end > start and text[end - 1] == "\n":
        return first, end
    last = text.find("\n", end)
    return first, len(text) if last < 0 else last + 1


def _find_difference(old: str, new: str) -> tuple[int, int]:
    """The lines of the old text that are not at the start or the end of the new one as well."""
    before, after = split_lines(old), split_lines(new)
    head = 0
    while head < min(len(before), len(after)) and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < min(len(before), len(after)) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    start = sum(map(len, before[:head]))
    return start, len(old) - sum(map(len, before[len(before) - tail :]))
