"""Looks for many fixed texts at once in a lot of bytes, with one regular expression that rarely has to look twice."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import Generic, TypeVar

T = TypeVar("T")

SHORTEST = 4  # characters that are left of a text
# From the most to the least frequent in logs; whatever is not here is rare.
_FREQUENT = " 0123456789.:-,/=etaoinsrlhdcumfpgwybvk[]()_IENRTAOSWLD'\"CPUMFBGHVYKjxqz|#JQXZ"
_RARE = 1000
_DEPTH = 3  # of the tree of first characters


class LiteralSearch(Generic[T]):
    """Fixed texts (ASCII, four characters or more), each with what is to be done about it.

    The expression matches within each text, from a rare character on: looking for a rare first character is what a regular
    expression does fast. Alternatives that begin alike share a branch.
    """

    def __init__(self, texts: Iterable[tuple[str, T]]) -> None:
        cut = [(text[_find_rarest(text) :], meant) for text, meant in texts]
        all_ = {text for text, _ in cut}
        shortest = sorted(text for text in all_ if _find_shortest_prefix(text, all_) == text)
        self.search = _compile_texts(tuple(shortest)).search
        meant: dict[bytes, dict[int, T]] = defaultdict(dict)
        for text, what in cut:
            meant[_find_shortest_prefix(text, all_).encode()][id(what)] = what
        self._meant = {text: list(whats.values()) for text, whats in meant.items()}

    def meant(self, found: re.Match[bytes]) -> list[T]:
        """All whose text may be where the expression has matched."""
        return self._meant[found.group()]


def _find_rarest(text: str) -> int:
    """Where the rarest character is that leaves enough behind it."""
    places = range(max(1, len(text) - SHORTEST + 1))
    return max(places, key=lambda at: _FREQUENT.find(text[at]) if text[at] in _FREQUENT else _RARE)


def _find_shortest_prefix(text: str, texts: Collection[str]) -> str:
    """The shortest of the texts that this one begins with."""
    return next(text[:end] for end in range(SHORTEST, len(text) + 1) if text[:end] in texts)


@lru_cache(maxsize=8)
def _compile_texts(texts: tuple[str, ...]) -> re.Pattern[bytes]:
    return re.compile(_build_tree(list(texts)))


def _build_tree(texts: list[str], depth: int = 0) -> bytes:
    if depth >= _DEPTH or len(texts) == 1:
        return b"|".join(re.escape(text[depth:].encode("ascii")) for text in texts)
    groups: dict[str, list[str]] = defaultdict(list)
    for text in texts:
        groups[text[depth]].append(text)
    branches = (
        re.escape(first.encode("ascii")) + b"(?:" + _build_tree(group, depth + 1) + b")" for first, group in groups.items()
    )
    return b"|".join(branches)
