"""The bytes of a project's files, and which names they hold: all that a run looks at where no file uses a surface."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from ddp_codemod.discover.file_digests import MAX_BYTES, note
from ddp_codemod.discover.files import make_unreadable_reason
from ddp_codemod.discover.unsaved import find_unsaved_text
from ddp_codemod.model import Reason
from ddp_codemod.sites.word_index import WordIndex
from ddp_codemod.sites.word_search import WordMatcher, has_word

_WORD = re.compile(rb"[\w\x80-\xff]+")
_MANY = 48  # words that are looked for one by one: about as many as an index costs


class FileTexts:
    """The Python files under a root, by their names."""

    def __init__(self, root: Path, files: Iterable[Path]) -> None:
        self.root = root
        self.names: list[str] = [path.relative_to(root).as_posix() for path in files]
        self._folder = str(root)
        self.lost: dict[str, Reason] = {}  # files that the system did not let us read
        self._bytes: dict[str, bytes] = {}
        self._mentions: dict[bytes, tuple[str, ...]] = {}
        self._matches: dict[tuple[str, re.Pattern[bytes]], bool] = {}

    def data(self, name: str) -> bytes:
        """A file's bytes, kept for the run; b"" where it cannot be read, and the start of a file that is too large."""
        found = self._bytes.get(name)
        if found is None:
            path, read = f"{self._folder}/{name}", True
            if (found := find_unsaved_text(path)) is None:
                try:
                    with open(path, "rb") as file:  # noqa: PTH123 - every file of the project comes by here
                        found = file.read(MAX_BYTES)
                except OSError as why:
                    found, self.lost[name], read = b"", make_unreadable_reason(why), False
            note(path, found if read else None)
            self.take(name, found)
        return found

    def take(self, name: str, data: bytes) -> None:
        """Keep the bytes of a file for the run."""
        self._bytes[name] = data
        if len(data) == MAX_BYTES:
            self.note_truncated(name)

    def taken(self) -> dict[str, bytes]:
        """The bytes of the files that were read."""
        return self._bytes

    def note_truncated(self, name: str) -> None:
        """Told of a file of which only the start is looked at."""

    def mentioned(self, words: Iterable[str]) -> set[str]:
        """Those of the identifiers that any file holds as a whole name; a word is looked for no further than where it is found."""
        found, left = set[str](), set(words)
        search = WordMatcher(left)
        for data in map(self.data, self.names) if left else ():
            while (word := next(search.held(data), None)) is not None:
                found.add(word)
                search = WordMatcher(left - found)
        return found

    def mentioning(self, word: str) -> tuple[str, ...]:
        """Names of the files whose bytes hold the word as a whole name."""
        key = word.encode()
        if key not in self._mentions:
            many = len(self._mentions) >= _MANY and _WORD.fullmatch(key)
            names = map(self.names.__getitem__, self._index.find(key)) if many else self.names
            self._mentions[key] = tuple(name for name in names if has_word(self.data(name), key))
        return self._mentions[key]

    @cached_property
    def _index(self) -> WordIndex:
        """The files by all names in their bytes: from some number of questions on, this is less work."""
        return WordIndex(map(self.data, self.names))

    def naming(self, words: Iterable[str]) -> set[str]:
        """Names of the files whose bytes hold one of the identifiers as a whole name."""
        if "_index" in self.__dict__:
            return {name for word in words for name in self.mentioning(word)}
        every = WordMatcher(words)
        return {name for name in self.names if every.some(self.data(name))}

    def files_using_device(self, device: str) -> set[str]:
        """Names of the files that use a device, as far as their bytes tell: ``torch.cuda``, ``.cuda()``, ``"cuda:0"``."""
        word = re.escape(device.encode())
        used = re.compile(rb"%s(?<=[.\"']%s)\b" % (word, word))  # what begins with a text is found sooner
        return {name for name in self.names if used.search(self.data(name))}

    def holds(self, name: str, pattern: re.Pattern[bytes]) -> bool:
        """Whether a file's bytes hold what a pattern is about; asked once of each."""
        key = (name, pattern)
        if key not in self._matches:
            self._matches[key] = pattern.search(self.data(name)) is not None
        return self._matches[key]
