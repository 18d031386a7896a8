"""Finds names in the bytes of files, long before any of them is parsed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

WORD = re.compile(rb"[\w\x80-\xff]")


def pattern_of(words: Iterable[str]) -> re.Pattern[bytes]:
    """One of the words, the longest that fits; nothing at all where there are none."""
    ordered = sorted(words, key=lambda word: (-len(word), word))
    return re.compile(b"|".join(map(_ends, ordered)) or b"(?!)")


def _ends(word: str) -> bytes:
    return re.escape(word.encode()) + (rb"(?![\w\x80-\xff])" if WORD.match(word[-1:].encode()) else b"")


def held(pattern: re.Pattern[bytes], data: bytes) -> Iterator[str]:
    """The words in a file's bytes that are whole names: ``DataParallel`` holds no ``Parallel``."""
    for found in pattern.finditer(data):
        before = data[max(found.start() - 2, 0) : found.start()]
        # in a notebook's JSON the n of an escaped line end stands before the first name of a line
        if not WORD.match(before[-1:]) or before[:-1] == b"\\":
            yield found.group().decode()
