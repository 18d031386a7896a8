"""The regular expressions of error signatures: none that could blow up, and for each a text that whatever it matches must hold.

Allowed are literals, classes, groups, ``|`` and bounded repeats; ``*`` and ``+`` may follow one class or character, never a
group or a ``.``, so that matching a line of limited length takes time in proportion to it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from math import prod

from msgspec import Struct

SHORTEST = 4  # characters of the text that a pattern is found by in a large log
WIDEST = 400  # characters that one gap may span
TRIES = 20_000  # ways to lay the gaps of one pattern
_QUANTIFIER = re.compile(r"\*|\+|\?|\{(\d*)(,?)(\d*)\}")


class _Item(Struct, frozen=True):
    """One element: a literal character, a group with its branches, or anything else."""

    literal: str = ""
    branches: tuple[tuple[_Item, ...], ...] = ()
    optional: bool = False
    repeated: bool = False


@lru_cache(maxsize=2048)
def find_anchors(pattern: str) -> tuple[str, ...]:
    """Texts of which each match of the pattern holds at least one.

    Raises ValueError for a pattern that is no regular expression, could blow up, or holds no such text.
    """
    try:
        re.compile(pattern)
    except re.error as why:
        raise ValueError(f"pattern {pattern!r}: {why}") from None
    branches, end = _parse_branches(pattern, 0)
    assert end == len(pattern), "re.compile would have refused it"
    if prod(int(most) for most in re.findall(r"(?<!\\)\.\{\d*,(\d+)\}", pattern)) > TRIES:
        raise ValueError(f"pattern {pattern!r}: gaps that together may lie in more than {TRIES} ways")
    found = _pick_anchors(branches)
    if min(map(len, found), default=0) < SHORTEST:
        raise ValueError(f"pattern {pattern!r}: every branch needs {SHORTEST} literal characters in a row to be found by")
    return found


def _pick_anchors(branches: tuple[tuple[_Item, ...], ...]) -> tuple[str, ...]:
    """The best texts of each branch; none at all where one branch has none."""
    best = [_pick_branch_anchors(branch) for branch in branches]
    return tuple(dict.fromkeys(text for texts in best for text in texts)) if all(best) else ()


def _pick_branch_anchors(items: tuple[_Item, ...]) -> tuple[str, ...]:
    candidates: list[tuple[str, ...]] = []
    run = ""
    for item in items:
        if item.literal and not item.optional:
            run += item.literal
            if not item.repeated:
                continue
        if run:
            candidates.append((run,))
        run = ""
        if item.branches and not item.optional and (inner := _pick_anchors(item.branches)):
            candidates.append(inner)
    if run:
        candidates.append((run,))
    return max(candidates, key=lambda texts: min(map(len, texts)), default=())


def _parse_branches(pattern: str, at: int) -> tuple[tuple[tuple[_Item, ...], ...], int]:
    """The branches from ``at`` to the closing parenthesis or the end, and where that is."""
    branches: list[list[_Item]] = [[]]
    while at < len(pattern) and pattern[at] != ")":
        if pattern[at] == "|":
            branches.append([])
            at += 1
            continue
        item, wild, at = _parse_element(pattern, at)
        quantifier = _QUANTIFIER.match(pattern, at)
        if quantifier:
            item = _apply_quantifier(pattern, item, wild, quantifier)
            at = quantifier.end()
            if not item.literal and (not branches[-1] or branches[-1][-1].repeated) and not item.branches:
                raise ValueError(f"pattern {pattern!r}: two repeats in a row, or one at the start")
        branches[-1].append(item)
    return tuple(map(tuple, branches)), at


def _parse_element(pattern: str, at: int) -> tuple[_Item, bool, int]:
    """One element, whether it is ``.``, and where it ends."""
    character = pattern[at]
    if character == "(":
        if pattern.startswith("(?", at) and not pattern.startswith("(?:", at):
            raise ValueError(f"pattern {pattern!r}: of the groups with '?' only (?:...) is allowed")
        branches, end = _parse_branches(pattern, at + (3 if pattern.startswith("(?:", at) else 1))
        return _Item(branches=branches), False, end + 1
    if character == "[":
        end = pattern.index("]", at + 2)
        return _Item(), False, end + 1
    if character == "\\":
        following = pattern[at + 1]
        return _Item("" if following.isalnum() else following), False, at + 2
    if character in ".^$":
        return _Item(), character == ".", at + 1
    return _Item(character), False, at + 1


def _apply_quantifier(pattern: str, item: _Item, wild: bool, quantifier: re.Match[str]) -> _Item:
    said = quantifier.group()
    least, comma, most = quantifier.groups()
    endless = said in "*+" or (comma is not None and bool(comma) and not most)
    if item.branches and said != "?":
        raise ValueError(f"pattern {pattern!r}: a group may not be repeated")
    if endless and wild:
        raise ValueError(f"pattern {pattern!r}: write .{{0,{WIDEST}}} instead of .{said}")
    if most and int(most) > WIDEST:
        raise ValueError(f"pattern {pattern!r}: a gap of more than {WIDEST} characters")
    optional = said in "*?" or (least is not None and int(least or 0) == 0)
    return _Item(item.literal, item.branches, optional, repeated=True)
