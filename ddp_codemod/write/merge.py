"""Takes an apply's changes out of a file that was edited since: three-way, and only where nobody touched the changed lines."""

from __future__ import annotations

from collections.abc import Sequence

from ddp_codemod.patch.myers import find_changed_lines, find_runs

Hunk = tuple[int, int, list[bytes]]  # lines from, to (of what the apply wrote), and what is in their place


def remove_changes(before: bytes, written: bytes, now: bytes) -> bytes | list[int]:
    """The file as it is now, with what the apply wrote restored to what was there; or the lines of ``now`` that forbid it.

    A hunk of the apply goes back only where its lines and both neighbours are as the apply left them.
    """
    old, mid, new = (data.splitlines(keepends=True) for data in (before, written, now))
    ours, theirs = _find_hunks(mid, old), _find_hunks(mid, new)
    clashing = [(start, end) for start, end, _ in ours if any(start <= last and first <= end for first, last, _ in theirs)]
    if clashing:
        return sorted({min(_find_current_line(start, theirs), max(len(new), 1)) for start, _ in clashing})
    result: list[bytes] = []
    at = 0
    for start, end, lines in sorted([*ours, *theirs], key=lambda hunk: hunk[:2]):
        result += [*mid[at:start], *lines]
        at = end
    return b"".join([*result, *mid[at:]])


def _find_hunks(old: Sequence[bytes], new: Sequence[bytes]) -> list[Hunk]:
    return [(run.start, run.end, list(new[run.new_start : run.new_end])) for run in find_runs(*find_changed_lines(old, new))]


def _find_current_line(start: int, theirs: Sequence[Hunk]) -> int:
    """The line, from 1, at which a line of what the apply wrote is now, as near as can be told."""
    moved = sum(len(lines) - (last - first) for first, last, lines in theirs if last <= start)
    return start + moved + 1
