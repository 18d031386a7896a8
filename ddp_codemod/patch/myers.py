"""Which lines of two texts differ: a shortest edit script, by E. W. Myers' linear-space algorithm (1986).

Where several scripts are equally short the choice is git's, so that a patch shows the hunks that git shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

MAX_COST = 2000  # beyond it a shortest script takes too long: a stretch that differs so much is replaced as one


class Run(Struct, frozen=True):
    """Lines ``start`` to ``end`` of the old text give way to those of the new."""

    start: int
    end: int
    new_start: int
    new_end: int


def find_runs(gone: Sequence[bool], put: Sequence[bool]) -> Iterator[Run]:
    """The stretches of lines that differ, of the flags that ``find_changed_lines`` gives."""
    at = new_at = 0
    while at < len(gone) or new_at < len(put):
        start, new_start = at, new_at
        while at < len(gone) and gone[at]:
            at += 1
        while new_at < len(put) and put[new_at]:
            new_at += 1
        if at > start or new_at > new_start:
            yield Run(start, at, new_start, new_at)
        else:
            at, new_at = at + 1, new_at + 1


def find_changed_lines(old: Sequence[bytes], new: Sequence[bytes]) -> tuple[list[bool], list[bool]]:
    """One flag a line: does the line go (old), is it put in (new)?"""
    start, stop = 0, 0
    shorter = min(len(old), len(new))
    while start < shorter and old[start] == new[start]:
        start += 1
    while stop < shorter - start and old[-1 - stop] == new[-1 - stop]:
        stop += 1
    in_old, in_new = set(old[start : len(old) - stop]), set(new[start : len(new) - stop])
    # a line that the other side does not have is in no common subsequence
    old_at = [at for at in range(start, len(old) - stop) if old[at] in in_new]
    new_at = [at for at in range(start, len(new) - stop) if new[at] in in_old]
    numbers: dict[bytes, int] = {}
    matcher = _Matcher(
        [numbers.setdefault(old[at], len(numbers)) for at in old_at],
        [numbers.setdefault(new[at], len(numbers)) for at in new_at],
    )
    kept_old, kept_new = matcher.common()
    gone = [start <= at < len(old) - stop for at in range(len(old))]
    put = [start <= at < len(new) - stop for at in range(len(new))]
    for row in kept_old:
        gone[old_at[row]] = False
    for row in kept_new:
        put[new_at[row]] = False
    return gone, put


class _Matcher:
    def __init__(self, old: list[int], new: list[int]) -> None:
        self.old, self.new = old, new

    def common(self) -> tuple[list[int], list[int]]:
        """Positions, in the old and in the new sequence, of a longest common subsequence."""
        kept_old: list[int] = []
        kept_new: list[int] = []
        boxes = [(0, len(self.old), 0, len(self.new))]
        while boxes:
            left, right, top, bottom = boxes.pop()
            while left < right and top < bottom and self.old[left] == self.new[top]:
                kept_old.append(left)
                kept_new.append(top)
                left, top = left + 1, top + 1
            while left < right and top < bottom and self.old[right - 1] == self.new[bottom - 1]:
                right, bottom = right - 1, bottom - 1
                kept_old.append(right)
                kept_new.append(bottom)
            if left == right or top == bottom:
                continue
            middle = self._find_middle(left, right, top, bottom)
            if middle is not None:
                x, y = middle
                boxes += [(left, x, top, y), (x, right, y, bottom)]
        return kept_old, kept_new

    def _find_middle(self, left: int, right: int, top: int, bottom: int) -> tuple[int, int] | None:
        """A point in the middle of a shortest path, where the paths from both corners meet."""
        old, new = self.old, self.new
        lowest, highest = left - bottom, right - top
        first, last = left - top, right - bottom
        odd = (first - last) % 2 == 1
        ahead, back = {first: left}, {last: right}  # diagonal -> furthest position in the old sequence
        far = right + 1
        ahead_low = ahead_high = first
        back_low = back_high = last
        for _ in range(MAX_COST):
            ahead_low, ahead_high = _widen_box(ahead, ahead_low, ahead_high, lowest, highest, -1)
            for diagonal in range(ahead_high, ahead_low - 1, -2):
                x = max(ahead[diagonal - 1] + 1, ahead[diagonal + 1])
                while x < right and x - diagonal < bottom and old[x] == new[x - diagonal]:
                    x += 1
                ahead[diagonal] = x
                if odd and back_low <= diagonal <= back_high and back[diagonal] <= x:
                    return x, x - diagonal
            back_low, back_high = _widen_box(back, back_low, back_high, lowest, highest, far)
            for diagonal in range(back_high, back_low - 1, -2):
                x = min(back[diagonal - 1], back[diagonal + 1] - 1)
                while x > left and x - diagonal > top and old[x - 1] == new[x - diagonal - 1]:
                    x -= 1
                back[diagonal] = x
                if not odd and ahead_low <= diagonal <= ahead_high and x <= ahead[diagonal]:
                    return x, x - diagonal
        return None


def _widen_box(reach: dict[int, int], low: int, high: int, lowest: int, highest: int, nowhere: int) -> tuple[int, int]:
    """One more diagonal on either side, or one less where the box ends; the neighbours outside are set to ``nowhere``."""
    if low > lowest:
        low -= 1
        reach[low - 1] = nowhere
    else:
        low += 1
    if high < highest:
        high += 1
        reach[high + 1] = nowhere
    else:
        high -= 1
    return low, high
