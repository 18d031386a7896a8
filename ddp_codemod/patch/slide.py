"""Where a run of changed lines is shown when it could as well be a few lines higher or lower.

Git moves every run as far down as it goes, then up again: to line up with a run of the other side, or else to the place that the
indentation of the lines around it speaks for (git-config(1), ``diff.indentHeuristic``). The weights are git's.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

_MAX_SLIDE = 100  # lines that the heuristic looks at
_MAX_BLANKS = 20
_MAX_INDENT = 200


class _Runs:
    """A cursor over the runs of changed lines of one side: one before each kept line, perhaps empty, and one at the end."""

    def __init__(self, lines: Sequence[bytes], changed: list[bool]) -> None:
        self.lines, self.changed = lines, changed
        self.start = self.end = 0
        self._grow_down()

    def __len__(self) -> int:
        return self.end - self.start

    def _grow_down(self) -> None:
        while self.end < len(self.lines) and self.changed[self.end]:
            self.end += 1

    def forward(self) -> bool:
        if self.end == len(self.lines):
            return False
        self.start = self.end = self.end + 1
        self._grow_down()
        return True

    def backward(self) -> None:
        self.start = self.end = self.start - 1
        while self.start > 0 and self.changed[self.start - 1]:
            self.start -= 1

    def slide_up(self) -> bool:
        """Move the run one line up if the text allows it, and join the run that it then touches."""
        if self.start == 0 or self.lines[self.start - 1] != self.lines[self.end - 1]:
            return False
        self.start, self.end = self.start - 1, self.end - 1
        self.changed[self.start], self.changed[self.end] = True, False
        while self.start > 0 and self.changed[self.start - 1]:
            self.start -= 1
        return True

    def slide_down(self) -> bool:
        if self.end == len(self.lines) or self.lines[self.start] != self.lines[self.end]:
            return False
        self.changed[self.start], self.changed[self.end] = False, True
        self.start, self.end = self.start + 1, self.end + 1
        self._grow_down()
        return True


def settle_runs(lines: Sequence[bytes], changed: list[bool], other_lines: Sequence[bytes], other_changed: list[bool]) -> None:
    """Move the runs of ``changed`` to where git shows them; the other side is only looked at."""
    run, other = _Runs(lines, changed), _Runs(other_lines, other_changed)
    while True:
        if len(run):
            _settle_one(run, other)
        if not run.forward():
            return
        other.forward()


def _settle_one(run: _Runs, other: _Runs) -> None:
    while True:
        size, meets = len(run), False
        while run.slide_up():
            other.backward()
        highest = run.end
        meets = len(other) > 0
        while run.slide_down():
            other.forward()
            meets = meets or len(other) > 0
        if len(run) == size:
            break
    if run.end == highest:
        return
    if meets:
        while not len(other):
            run.slide_up()
            other.backward()
        return
    best = _find_best_end(run.lines, run.end, size, max(highest, run.end - size - 1, run.end - _MAX_SLIDE))
    while run.end > best:
        run.slide_up()
        other.backward()


def _find_best_end(lines: Sequence[bytes], lowest: int, size: int, highest: int) -> int:
    best, best_score = highest, _score_end(lines, highest, size)
    for end in range(highest + 1, lowest + 1):
        score = _score_end(lines, end, size)
        if 60 * ((score[0] > best_score[0]) - (score[0] < best_score[0])) + score[1] - best_score[1] <= 0:
            best, best_score = end, score
    return best


def _score_end(lines: Sequence[bytes], end: int, size: int) -> tuple[int, int]:
    """(indentation, penalty) of a run that ends before line ``end``: both of its borders count, less is better."""
    below, above = _Border.at(lines, end), _Border.at(lines, end - size)
    return below.effective + above.effective, below.penalty + above.penalty


class _Border(Struct, frozen=True):
    effective: int
    penalty: int

    @classmethod
    def at(cls, lines: Sequence[bytes], split: int) -> _Border:
        """The border above line ``split``, measured by the lines around it."""
        own = _indent_of(lines[split]) if split < len(lines) else None
        blanks_before, before = _find_nearest(lines, range(split - 1, -1, -1))
        blanks_after, after = _find_nearest(lines, range(split + 1, len(lines)))
        penalty = 0
        if before is None and not blanks_before:
            penalty += 1  # at the start of the file
        if split >= len(lines):
            penalty += 21
        trailing = 1 + blanks_after if own is None else 0
        blanks = blanks_before + trailing
        penalty += -30 * blanks + 6 * trailing
        effective = after if own is None else own
        if effective is None:
            return cls(-1, penalty)
        if before is not None and effective > before:
            penalty += 10 if blanks else -4
        elif before is not None and effective < before:
            if after is not None and after > effective:
                penalty += 17 if blanks else 24
            else:
                penalty += 17 if blanks else 23
        return cls(effective, penalty)


def _find_nearest(lines: Sequence[bytes], rows: range) -> tuple[int, int | None]:
    """How many blank lines there are on the way, and the indentation of the first that is not."""
    blanks = 0
    for row in rows:
        indent = _indent_of(lines[row])
        if indent is not None:
            return blanks, indent
        blanks += 1
        if blanks == _MAX_BLANKS:
            return blanks, 0
    return blanks, None


def _indent_of(line: bytes) -> int | None:
    """Columns before the first character, None for a blank line."""
    column = 0
    for code in line:
        if code == 0x20:
            column += 1
        elif code == 0x09:
            column += 8 - column % 8
        elif code not in b"\n\v\f\r":
            return column
        if column >= _MAX_INDENT:
            return _MAX_INDENT
    return None
