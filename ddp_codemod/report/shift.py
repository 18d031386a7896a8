"""Where a line of the old file stands once the changes are written."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher

from ddp_codemod.model import FileChange


def shifted(changes: Sequence[FileChange]) -> Callable[[str, int], int]:
    """A function from a file's name and an old line to the new one; lines of other files stay."""
    steps = {change.name: _steps(change) for change in changes}

    def line_now(name: str, line: int) -> int:
        moves = steps.get(name, [])
        at = bisect_right(moves, (line, 1 << 30)) - 1
        return line + moves[at][1] if at >= 0 else line

    return line_now


def _steps(change: FileChange) -> list[tuple[int, int]]:
    """(first old line, how far it and those below it moved), from the top down."""
    matcher = SequenceMatcher(None, change.before.splitlines(), change.after.splitlines(), autojunk=False)
    return [(old + 1, new - old) for old, new, _ in matcher.get_matching_blocks()]
