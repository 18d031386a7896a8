"""The bytes of a project's files, and what can be told from them without parsing: which names they hold, and in which roles."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from ddp_codemod.discover.files import MAX_BYTES
from ddp_codemod.sites.words import LETTERS, Words, holds

_NAME = re.compile(rb"[\w\x80-\xff]+|\*")
# a class with bases: up to the end of its head, which is the first ``):``; where there is none, up to the end of the file
_HEADER = re.compile(rb"\bclass[\s\\]+[\w\x80-\xff]+[\s\\]*(?:\[(?s:.){0,1000}?\][\s\\]*)?\([^)]*(?:\)(?![\s\\]*:)[^)]*)*")
_IMPORT = re.compile(rb"\bimport\b[\s\\]*(\(?)")
_CLOSED = re.compile(rb"#[^\n]*|\)")
_LINE = re.compile(rb"(?:[^\n\\]|\\(?:\r\n|.|\n))*")
_WORD = re.compile(rb"[\w\x80-\xff]+")
_ESCAPED = re.compile(rb"\\[\w\x80-\xff]([\w\x80-\xff]+)")  # as in words.py: what follows an escaped letter is a name, too
_LETTERS_ONLY = bytes(byte if byte in LETTERS else 0x20 for byte in range(256))
_MANY = 24  # words that are looked for one by one
_BLANK = b" \t\f\r\n\\"
_OPEN = (b".", b"")  # what can stand before an attribute
_GIVEN = (b"=", b":", b"")  # what can stand behind a name that is given a value


class Texts:
    """The Python files under a root, by their names."""

    def __init__(self, root: Path, files: Iterable[Path]) -> None:
        self.root = root
        self.names: list[str] = [path.relative_to(root).as_posix() for path in files]
        self._folder = str(root)
        self._bytes: dict[str, bytes] = {}
        self._mentions: dict[bytes, tuple[str, ...]] = {}
        self._held: dict[tuple[str, re.Pattern[bytes]], bool] = {}
        self._imported: dict[str, frozenset[bytes]] = {}

    def data(self, name: str) -> bytes:
        """A file's bytes, kept for the run; b"" where it cannot be read, and the start of a file that is too large."""
        found = self._bytes.get(name)
        if found is None:
            try:
                with open(f"{self._folder}/{name}", "rb") as file:  # noqa: PTH123 - every file of the project comes by here
                    found = file.read(MAX_BYTES)
            except OSError:
                found = b""
            self.take(name, found)
        return found

    def take(self, name: str, data: bytes) -> None:
        """Keep the bytes of a file for the run."""
        self._bytes[name] = data
        if len(data) == MAX_BYTES:
            self.cut_off(name)

    def taken(self) -> dict[str, bytes]:
        """The bytes of the files that were read."""
        return self._bytes

    def cut_off(self, name: str) -> None:
        """Told of a file of which only the start is looked at."""

    def mentions(self, word: str) -> bool:
        """Whether any file holds the word as a whole name; looks no further than the first that does."""
        key = word.encode()
        return any(holds(data, key) for data in map(self.data, self.names))

    def mentioning(self, word: str) -> tuple[str, ...]:
        """Names of the files whose bytes hold the word as a whole name."""
        key = word.encode()
        if key not in self._mentions:
            if len(self._mentions) >= _MANY and _WORD.fullmatch(key):
                self._mentions[key] = tuple(self._index.get(key, ()))
            else:
                self._mentions[key] = tuple(name for name in self.names if holds(self.data(name), key))
        return self._mentions[key]

    @cached_property
    def _index(self) -> dict[bytes, list[str]]:
        """The files by all names in their bytes: from some number of questions on, this is less work."""
        found: dict[bytes, list[str]] = {}
        for name in self.names:
            data = self.data(name)
            for word in {*data.translate(_LETTERS_ONLY).split(), *(_ESCAPED.findall(data) if b"\\" in data else ())}:
                if word in found:
                    found[word].append(name)
                else:
                    found[word] = [name]
        return found

    def naming(self, words: Iterable[str]) -> set[str]:
        """Names of the files whose bytes hold one of the identifiers as a whole name."""
        every = Words(words)
        return {name for name in self.names if every.some(self.data(name))}

    def holds(self, name: str, pattern: re.Pattern[bytes]) -> bool:
        """Whether a file's bytes hold what a pattern is about; asked once of each."""
        key = (name, pattern)
        if key not in self._held:
            self._held[key] = pattern.search(self.data(name)) is not None
        return self._held[key]

    def calling(self, word: str) -> tuple[str, ...]:
        """Names of the files that may call something by the word itself."""
        call = re.compile(re.escape(word.encode()) + rb"[\s)]*\(")
        return tuple(name for name in self.mentioning(word) if call.search(self.data(name)))

    def deriving(self, word: str) -> list[str]:
        """Names of the files that may hold a class with the word among its bases."""
        return self._derived.get(word.encode(), [])

    @cached_property
    def _derived(self) -> dict[bytes, list[str]]:
        """The files by the names that stand among the bases of their classes."""
        found: dict[bytes, list[str]] = {}
        for name in self.names:
            data = self.data(name)
            if b"class" in data:
                for word in {word for head in _HEADER.findall(data) for word in _NAME.findall(head)}:
                    found.setdefault(word, []).append(name)
        return found

    def may_refer(self, name: str, word: str) -> bool:
        """Whether a name in a file can stand for what another file defines under it.

        Then it is imported (a star brings any name), an attribute, or assigned.
        """
        key = word.encode()
        if not name.endswith(".py") or not self._imports(name).isdisjoint((key, b"*")):
            return True
        data = self.data(name)
        at = data.find(key)
        while at >= 0:
            end = at + len(key)
            if data[max(at - 80, 0) : at].rstrip(_BLANK)[-1:] in _OPEN or data[end : end + 80].lstrip(_BLANK)[:1] in _GIVEN:
                return True
            at = data.find(key, end)
        return False

    def _imports(self, name: str) -> frozenset[bytes]:
        """The names in the import clauses of a file."""
        if name not in self._imported:
            data, found, at = self.data(name), set[bytes](), 0
            while (clause := _IMPORT.search(data, at)) is not None:
                at = clause.end()
                if clause[1]:
                    closed = (part.end() for part in _CLOSED.finditer(data, at) if part[0] == b")")
                    end = next(closed, len(data))
                else:
                    end = _LINE.match(data, at).end()  # type: ignore[union-attr]
                found.update(_NAME.findall(data, at, end))
                at = end
            self._imported[name] = frozenset(found)
        return self._imported[name]
