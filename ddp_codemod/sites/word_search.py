"""Finds names in the bytes of files, long before any of them is parsed."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache

from ahocorasick_rs import BytesAhoCorasick, MatchKind

ANYTHING = re.compile(rb"")  # is before and behind every word
_FAR = 200  # characters that are looked at before a word
LETTERS = frozenset({*b"0123456789_", *range(65, 91), *range(97, 123), *range(0x80, 0x100)})


class WordMatcher:
    """Finds names of a set, all in one pass.

    They are identifiers, and between two identifiers is something else: so the longest that starts somewhere is a whole name,
    if any is.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self.words = tuple(dict.fromkeys(words))
        self._search = _build_automaton(self.words, longest=True)

    def places(self, data: bytes) -> Iterator[tuple[str, int, int]]:
        """Where the words are in a file's bytes as whole names: ``DataParallel`` holds no ``Parallel``."""
        for index, start, end in self._search.find_matches_as_indexes(data) if self._search else ():
            if _is_whole(data, start, end):
                yield self.words[index], start, end

    def held(self, data: bytes) -> Iterator[str]:
        """The words in a file's bytes that are whole names."""
        return (word for word, _, _ in self.places(data))

    def some(self, data: bytes) -> bool:
        """Whether the bytes hold any of them."""
        return next(self.held(data), None) is not None


class TextMatcher:
    """Finds texts of a set wherever they are, also inside names and across each other."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = tuple(dict.fromkeys(text for text in texts if text))
        self._search = _build_automaton(self.texts, longest=False)

    def held(self, data: bytes) -> frozenset[str]:
        """Those in a file's bytes."""
        found = self._search.find_matches_as_indexes(data, overlapping=True) if self._search else ()
        return frozenset(map(self.texts.__getitem__, {index for index, _, _ in found}))


def find_whole_words(data: bytes, word: bytes) -> Iterator[tuple[int, int]]:
    """Where a word is as a whole name; it may be any text, such as an option's with its dashes."""
    if word:
        for _, start, end in _build_bytes_automaton((word,)).find_matches_as_indexes(data, overlapping=True):
            if _is_whole(data, start, end):
                yield start, end


@lru_cache(maxsize=64)
def _build_automaton(texts: tuple[str, ...], longest: bool) -> BytesAhoCorasick | None:
    """Finds several, of those that begin at a place the longest or all; the projects of a run ask for the same ones."""
    kind = MatchKind.LeftmostLongest if longest else MatchKind.Standard
    return BytesAhoCorasick([text.encode() for text in texts], matchkind=kind) if texts else None


@lru_cache(maxsize=256)
def _build_bytes_automaton(texts: tuple[bytes, ...]) -> BytesAhoCorasick:
    """Finds some of several; where they are rare, in a fifth of the time that ``bytes.find`` takes for one."""
    return BytesAhoCorasick(texts)


def contains_text(data: bytes, text: bytes) -> bool:
    """Whether a file's bytes hold a text, be it a part of a name."""
    # what is often there is found at once, what is rarely there is looked for faster
    return data.find(text, 0, _FAR) >= 0 or bool(_build_bytes_automaton((text,)).find_matches_as_indexes(data))


def has_word(data: bytes, word: bytes) -> bool:
    """Whether a file's bytes hold a word as a whole name."""
    return not word or next(find_whole_words(data, word), None) is not None


def has_word_in_context(data: bytes, word: bytes, before: re.Pattern[bytes], behind: re.Pattern[bytes]) -> bool:
    """Whether a word is anywhere as a whole name with something before it and behind it.

    ``before``: a pattern that ends in ``\\Z``, or one that only looks back, which is faster.
    """
    if not word:
        return False
    # what is behind it is asked first: it rules out most places
    found = _build_bytes_automaton((word,)).find_matches_as_indexes(data, overlapping=True)
    likely = [(start, end) for _, start, end in found if behind.match(data, end) and _is_whole(data, start, end)]
    if before.pattern.endswith(rb"\Z"):
        return any(before.search(data, max(start - _FAR, 0), start) for start, _ in likely)
    return any(before.match(data, start) for start, _ in likely)


def has_any_text(data: bytes, texts: Collection[bytes], behind: re.Pattern[bytes] | None = None) -> bool:
    """Whether one of the texts is anywhere; with ``behind``, as a whole name that has this behind it."""
    if behind is None:
        return b"" in texts or bool(_build_bytes_automaton(tuple(texts)).find_matches_as_indexes(data))
    return any(behind.match(data, end) for text in texts for _, end in find_whole_words(data, text))


def _is_whole(data: bytes, start: int, end: int) -> bool:
    if end < len(data) and data[end] in LETTERS and data[end - 1] in LETTERS:
        return False
    # in a notebook's JSON the n of an escaped line end is before the first name of a line
    return not start or data[start - 1] not in LETTERS or (start > 1 and data[start - 2] == 0x5C)
