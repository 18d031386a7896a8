"""Where a line of the old file is once the changes are written."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from difflib import SequenceMatcher
from itertools import takewhile

from ddp_codemod.model import FileChange

MANY = 2_000  # lines


def make_line_mapper(changes: Sequence[FileChange]) -> Callable[[str, int], int]:
    """A function from a file's name and an old line to the new one; lines of other files stay."""
    steps = {change.name: _find_steps(change) for change in changes}

    def line_now(name: str, line: int) -> int:
        moves = steps.get(name, [])
        at = bisect_right(moves, (line, 1 << 30)) - 1
        return line + moves[at][1] if at >= 0 else line

    return line_now


def _find_steps(change: FileChange) -> list[tuple[int, int]]:
    """(first old line, how far it and those below it moved), from the top down."""
    before, after = change.before.splitlines(), change.after.splitlines()
    head = _count_shared(zip(before, after, strict=False))
    tail = _count_shared(zip(before[head:][::-1], after[head:][::-1], strict=False))
    # what stays at both ends needs no search; in many lines, those that are there again and again are not searched for either
    middle = before[head : len(before) - tail], after[head : len(after) - tail]
    matcher = SequenceMatcher(None, *middle, autojunk=sum(map(len, middle)) > MANY)
    inside = [(head + old + 1, new - old) for old, new, length in matcher.get_matching_blocks() if length]
    return [(1, 0)] * bool(head) + inside + [(len(before) - tail + 1, len(after) - len(before))]


def _count_shared(pairs: Iterable[tuple[bytes, bytes]]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
