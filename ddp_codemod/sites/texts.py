"""The bytes of a project's files, and what can be told from them without parsing: which names they hold, and in which roles."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import cached_property
from pathlib import Path

from ddp_codemod.discover.files import MAX_BYTES
from ddp_codemod.sites.words import LETTERS, Parts, Words, holds, whole

_NAME = re.compile(rb"[\w\x80-\xff]+|\*")
# Each of these begins with a plain text and asks then for what stands before it: so ``re`` finds it twelve times as fast.
# a class with bases: up to the end of its head, which is the first ``):``; where there is none, up to the end of the file
_HEADER = re.compile(
    rb"class(?<=\bclass)[\s\\]+[\w\x80-\xff]+[\s\\]*(?:\[(?s:.){0,1000}?\][\s\\]*)?\([^)]*(?:\)(?![\s\\]*:)[^)]*)*"
)
_IMPORT = re.compile(rb"import(?<=\bimport)\b[\s\\]*(\(?)")
_FROM = re.compile(rb"from(?<=\bfrom)[\s\\]+([.\w\x80-\xff]+)[\s\\]*import\b")
_CLOSED = re.compile(rb"#[^\n]*|\)")
_LINE = re.compile(rb"(?:[^\n\\]|\\(?:\r\n|.|\n))*")
_WORD = re.compile(rb"[\w\x80-\xff]+")
_ESCAPED = re.compile(rb"\\[\w\x80-\xff]([\w\x80-\xff]+)")  # as in words.py: what follows an escaped letter is a name, too
_LETTERS_ONLY = bytes(byte if byte in LETTERS else 0x20 for byte in range(256))
_MANY = 48  # words that are looked for one by one: about as many as an index costs
_CALLED = re.compile(rb"[\s)\\]*(?:\(|\bas\b)")  # also: imported under another name
_HANDED_ON = re.compile(rb"[\s\\]*[,).]")  # also: asked for what calls it, such as an actor's method for ``remote``
_STAR = re.compile(rb"import(?<=\bimport)[\s\\]*\*")
_OWNER = re.compile(rb"([\w\x80-\xff]+)[\s\\]*\.\Z")
_AS = re.compile(rb"([\w\x80-\xff]+)[\s\\]+as\Z")
_ASSIGNED = re.compile(rb"[\s\\]*=[ \t(]*(?:[\w\x80-\xff]+\.)*([\w\x80-\xff]+)")
_BLANK = b" \t\f\r\n\\"
_OPEN = (b".", b"")  # what can stand before an attribute


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
        self._referring: dict[str, list[tuple[str, set[bytes | None]]]] = {}
        self._from: dict[str, frozenset[bytes]] = {}
        self._carriers: dict[str, set[bytes]] = {}
        self._renamed: dict[tuple[str, bytes], set[bytes]] = {}

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

    def mentioned(self, words: Iterable[str]) -> set[str]:
        """Those of the identifiers that any file holds as a whole name; a word is looked for no further than where it is found."""
        found, left = set[str](), set(words)
        search = Words(left)
        for data in map(self.data, self.names) if left else ():
            while (word := next(search.held(data), None)) is not None:
                found.add(word)
                search = Words(left - found)
        return found

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
        return self._derived[0].get(word.encode(), [])

    def below(self, word: str) -> set[str]:
        """Names of the files that may hold a class which derives from one of a name, directly or not."""
        files, children = self._derived
        found, todo = set[str](), {word.encode()}
        seen = set(todo)
        while todo:
            base = todo.pop()
            found.update(files.get(base, ()))
            todo |= children.get(base, set()) - seen
            seen |= todo
        return found

    @cached_property
    def _derived(self) -> tuple[dict[bytes, list[str]], dict[bytes, set[bytes]]]:
        """By the names that stand among the bases of classes: the files, and the names of the classes."""
        files: dict[bytes, list[str]] = {}
        children: dict[bytes, set[bytes]] = {}
        for name in self.names:
            data = self.data(name)
            if b"class" in data:
                heads = [_NAME.findall(head) for head in _HEADER.findall(data)]
                for _, own, *bases in heads:
                    for base in bases:
                        children.setdefault(base, set()).add(own)
                for word in {word for head in heads for word in head}:
                    files.setdefault(word, []).append(name)
        return files, children

    def may_import(self, name: str, word: str) -> bool:
        """Whether an import of a file can mean a module of this name: with the name in it, or of the package around the file."""
        if name not in self._from:
            found = _FROM.findall(self.data(name))
            parts = {part for source in found for part in source.split(b".")}
            self._from[name] = frozenset({*parts, *(b"." for source in found if not source.strip(b"."))})
        return not {word.encode(), b"."}.isdisjoint(self._from[name]) or word.encode() in self._imports(name)

    def may_refer(self, name: str, word: str) -> bool:
        """Whether a file may speak of what another one defines, or is, under a name: imported (a star brings any name) or an attribute."""
        data, key = self.data(name), word.encode()
        if not name.endswith(".py") or not self._imports(name).isdisjoint((key, b"*")):
            return True
        return any(data[max(start - 80, 0) : start].rstrip(_BLANK)[-1:] in _OPEN for start, _ in whole(data, key))

    def may_call(self, word: str, others: Words, within: Collection[bytes] | None) -> list[str]:
        """Names of the files that may call what another one defines under a name, or hand it to one of the ``others``, which call it.

        Then the name is imported there (a star brings any name) or an attribute; and it is called, renamed or handed on.
        ``within``: the attribute is one of a module of these names, or of what the file gives another name; None: of any object.
        """
        if word not in self._referring:
            found = ((name, self._owners(name, word.encode(), others)) for name in self.mentioning(word))
            self._referring[word] = [(name, owners) for name, owners in found if owners]
        return [
            name
            for name, owners in self._referring[word]
            if within is None or None in owners or any(self._is_one(name, owner, within) for owner in owners if owner)
        ]

    def _owners(self, name: str, key: bytes, others: Words) -> set[bytes | None]:
        """Of what a file that may call a name takes it as an attribute; None where it need not, or of no plain name."""
        data, found = self.data(name), set[bytes | None]()
        handed, calls = others.some(data), False
        if not self._imports(name).isdisjoint((key, b"*")):
            found.add(None)
        for start, end in whole(data, key):
            calls = calls or _CALLED.match(data, end) is not None or (handed and _HANDED_ON.match(data, end) is not None)
            before = data[max(start - 80, 0) : start].rstrip(_BLANK)
            if start and before[-1:] in _OPEN:
                owner = _OWNER.search(before)
                found.add(owner[1] if owner else None)
        return found if calls else set()

    def _is_one(self, name: str, owner: bytes, within: Collection[bytes]) -> bool:
        return owner in within or not self._meant_by(name, owner).isdisjoint(within)

    def _meant_by(self, name: str, alias: bytes) -> set[bytes]:
        """The last names of what a file gives another name."""
        key = (name, alias)
        if key not in self._renamed:
            data = self.data(name)
            found = self._renamed[key] = set[bytes]()
            for start, end in whole(data, alias):
                before = data[max(start - 80, 0) : start].rstrip(_BLANK)
                imported = _AS.search(before) if before.endswith(b"as") else None
                found.update(part[1] for part in (imported, _ASSIGNED.match(data, end)) if part)
        return self._renamed[key]

    def carrying(self, name: str, word: str) -> set[bytes]:
        """The last names of the modules that may have what a file defines under a name: its own, and those that import the name."""
        if word not in self._carriers:
            importing = (other for other in self.mentioning(word) if word.encode() in self._imports(other))
            self._carriers[word] = {_module(file).encode() for file in (*self._with_stars, *importing)}
        return {_module(name).encode(), *self._carriers[word]}

    @cached_property
    def _with_stars(self) -> list[str]:
        stars = Parts(["import *", "import*", "import\t", "import  ", "import \\", "import\\"])
        return [name for name in self.names if stars.held(self.data(name)) and _STAR.search(self.data(name))]

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


def _module(file: str) -> str:
    """The last name of the module that a file is."""
    parts = file.removesuffix(".py").split("/")
    return parts[-2] if parts[-1] == "__init__" and len(parts) > 1 else parts[-1]
