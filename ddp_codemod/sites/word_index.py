"""Which of many texts may hold a word, told from one look at each of them, in a few bytes for each of its words."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable

from ddp_codemod.sites.word_search import LETTERS

_ESCAPED = re.compile(rb"\\[\w\x80-\xff]([\w\x80-\xff]+)")  # as in word_search.py: what follows an escaped letter is a name, too
_LETTERS_ONLY = bytes(byte if byte in LETTERS else 0x20 for byte in range(256))
_NUMBER = 24  # bits for the number of a text; the others are of the word's hash


class WordIndex:
    """The texts by the hashes of their words: another word may have the same hash."""

    def __init__(self, texts: Iterable[bytes]) -> None:
        found: list[int] = []
        for number, data in enumerate(texts):
            words = {*data.translate(_LETTERS_ONLY).split(), *(_ESCAPED.findall(data) if b"\\" in data else ())}
            found += [_pack(word) | number for word in words]
        found.sort()
        self._found = array("Q", found)

    def find(self, word: bytes) -> list[int]:
        """The numbers of the texts that may hold a word, in order; those that it does not give do not hold it."""
        start = _pack(word)
        end = start + (1 << _NUMBER)
        known = self._found
        return [one - start for one in known[bisect_left(known, start) : bisect_left(known, end)]]


def _pack(word: bytes) -> int:
    return (hash(word) << _NUMBER) & 0xFFFFFFFFFFFFFFFF
