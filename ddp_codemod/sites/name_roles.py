"""What can be told from the bytes of a project's files without parsing: in which roles they hold a name."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Set
from functools import cached_property
from pathlib import Path

from ddp_codemod.sites.file_texts import FileTexts
from ddp_codemod.sites.word_search import TextMatcher, find_whole_words, has_word_in_context

_NAME = re.compile(rb"[\w\x80-\xff]+|\*")
# Each of these begins with a plain text and asks then for what is before it: so ``re`` finds it twelve times as fast.
# a class with bases: up to the end of its head, which is the first ``):``; where there is none, up to the end of the file
_HEADER = re.compile(
    rb"class(?<=\bclass)[\s\\]+[\w\x80-\xff]+[\s\\]*(?:\[(?s:.){0,1000}?\][\s\\]*)?\([^)]*(?:\)(?![\s\\]*:)[^)]*)*"
)
_IMPORT = re.compile(rb"import(?<=\bimport)\b[\s\\]*(\(?)")
_FROM = re.compile(rb"from(?<=\bfrom)[\s\\]+([.\w\x80-\xff]+)[\s\\]*import\b")
_CLOSED = re.compile(rb"#[^\n]*|\)")
_LINE = re.compile(rb"(?:[^\n\\]|\\(?:\r\n|.|\n))*")
_CALLED = re.compile(rb"[\s)\\]*(?:\(|\bas\b)")  # also: imported under another name
_HANDED_ON = re.compile(rb"[\s\\]*[,).]")  # also: asked for what calls it, such as an actor's method for ``remote``
_STAR = re.compile(rb"import(?<=\bimport)[\s\\]*\*")
_OWNER = re.compile(rb"([\w\x80-\xff]+)[\s\\]*\.\Z")
_AS = re.compile(rb"([\w\x80-\xff]+)[\s\\]+as\Z")
_ASSIGNED = re.compile(rb"[\s\\]*=[ \t(]*(?:[\w\x80-\xff]+\.)*([\w\x80-\xff]+)")
_BLANK = b" \t\f\r\n\\"
_OPEN = (b".", b"")  # what can be before an attribute


class NameRoles(FileTexts):
    """The Python files under a root, and the roles of names in them."""

    def __init__(self, root: Path, files: Iterable[Path]) -> None:
        super().__init__(root, files)
        self._imported: dict[str, frozenset[bytes]] = {}
        self._referring: dict[str, list[tuple[str, set[bytes | None]]]] = {}
        self._from: dict[str, frozenset[bytes]] = {}
        self._carriers: dict[str, set[bytes]] = {}
        self._renamed: dict[tuple[str, bytes], set[bytes]] = {}
        self._standing: dict[tuple[str, re.Pattern[bytes], re.Pattern[bytes], bytes], tuple[str, ...]] = {}
        self._calling: dict[str, tuple[str, ...]] = {}

    def calling(self, word: str) -> tuple[str, ...]:
        """Names of the files that may call something by the word itself."""
        if word not in self._calling:
            call = re.compile(re.escape(word.encode()) + rb"[\s)]*\(")
            self._calling[word] = tuple(name for name in self.mentioning(word) if call.search(self.data(name)))
        return self._calling[word]

    def holding(self, word: str, before: re.Pattern[bytes], behind: re.Pattern[bytes], lead: bytes = b"") -> tuple[str, ...]:
        """Names of the files in which a word is with something around it, as ``words.stands`` says; each is looked for once.

        ``lead``: what is right in front of it, with which it is rarer: a dash.
        """
        key = (word, before, behind, lead)
        if key not in self._standing:
            whole = lead + word.encode()
            found = (name for name in self.mentioning(word) if has_word_in_context(self.data(name), whole, before, behind))
            self._standing[key] = tuple(found)
        return self._standing[key]

    def deriving(self, word: str) -> list[str]:
        """Names of the files that may hold a class with the word among its bases."""
        return self._derived_classes[0].get(word.encode(), [])

    def below(self, word: str) -> set[str]:
        """Names of the files that may hold a class which derives from one of a name, directly or not."""
        files, children = self._derived_classes
        found, todo = set[str](), {word.encode()}
        seen = set(todo)
        while todo:
            base = todo.pop()
            found.update(files.get(base, ()))
            todo |= children.get(base, set()) - seen
            seen |= todo
        return found

    @cached_property
    def _derived_classes(self) -> tuple[dict[bytes, list[str]], dict[bytes, set[bytes]]]:
        """By the names that are among the bases of classes: the files, and the names of the classes."""
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
        return not {word.encode(), b"."}.isdisjoint(self._from[name]) or word.encode() in self._find_imported_names(name)

    def may_refer(self, name: str, word: str) -> bool:
        """Whether a file may speak of what another one defines, or is, under a name: imported (a star imports any name) or an attribute."""
        data, key = self.data(name), word.encode()
        if not name.endswith(".py") or not self._find_imported_names(name).isdisjoint((key, b"*")):
            return True
        return any(data[max(start - 80, 0) : start].rstrip(_BLANK)[-1:] in _OPEN for start, _ in find_whole_words(data, key))

    def may_call(self, word: str, handing: Set[str], scope: Collection[bytes] | None) -> list[str]:
        """Names of the files that may call what another one defines under a name, or, ``handing`` it on, have it called.

        Then the name is imported there (a star imports any name) or an attribute; and it is called, renamed or passed on.
        ``scope``: the attribute is one of a module of these names, or of what the file gives another name; None: of any object.
        """
        if word not in self._referring:
            found = ((name, self._find_owners(name, word.encode(), name in handing)) for name in self.mentioning(word))
            self._referring[word] = [(name, owners) for name, owners in found if owners]
        return [
            name
            for name, owners in self._referring[word]
            if scope is None or None in owners or any(self._is_owner(name, owner, scope) for owner in owners if owner)
        ]

    def _find_owners(self, name: str, key: bytes, handed: bool) -> set[bytes | None]:
        """Of what a file that may call a name takes it as an attribute; None where it need not, or of no plain name."""
        data, found, calls = self.data(name), set[bytes | None](), False
        if not self._find_imported_names(name).isdisjoint((key, b"*")):
            found.add(None)
        for start, end in find_whole_words(data, key):
            calls = calls or _CALLED.match(data, end) is not None or (handed and _HANDED_ON.match(data, end) is not None)
            before = data[max(start - 80, 0) : start].rstrip(_BLANK)
            if start and before[-1:] in _OPEN:
                owner = _OWNER.search(before)
                found.add(owner[1] if owner else None)
        return found if calls else set()

    def _is_owner(self, name: str, owner: bytes, scope: Collection[bytes]) -> bool:
        return owner in scope or not self._resolve_alias(name, owner).isdisjoint(scope)

    def _resolve_alias(self, name: str, alias: bytes) -> set[bytes]:
        """The last names of what a file gives another name."""
        key = (name, alias)
        if key not in self._renamed:
            data = self.data(name)
            found = self._renamed[key] = set[bytes]()
            for start, end in find_whole_words(data, alias):
                before = data[max(start - 80, 0) : start].rstrip(_BLANK)
                imported = _AS.search(before) if before.endswith(b"as") else None
                found.update(part[1] for part in (imported, _ASSIGNED.match(data, end)) if part)
        return self._renamed[key]

    def carrying(self, name: str, word: str) -> set[bytes]:
        """The last names of the modules that may have what a file defines under a name: its own, and those that import the name."""
        if word not in self._carriers:
            importing = (other for other in self.mentioning(word) if word.encode() in self._find_imported_names(other))
            self._carriers[word] = {_module_name(file).encode() for file in (*self.files_with_star_imports, *importing)}
        return {_module_name(name).encode(), *self._carriers[word]}

    def using(self, name: str, word: str) -> list[str]:
        """The files that may use what a file has under a name: itself, and those that import the name, the file, or all of some file."""
        wanted = {word.encode(), _module_name(name).encode()}
        stars = {*self.files_with_star_imports}
        return [
            other
            for other in self.mentioning(word)
            if other == name or other in stars or wanted & self._find_imported_names(other)
        ]

    @cached_property
    def files_with_star_imports(self) -> list[str]:
        """Names of the files that take all names of another: ``from settings import *``."""
        stars = TextMatcher(["import *", "import*", "import\t", "import  ", "import \\", "import\\"])
        return [name for name in self.names if stars.held(self.data(name)) and _STAR.search(self.data(name))]

    def _find_imported_names(self, name: str) -> frozenset[bytes]:
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


def _module_name(file: str) -> str:
    """The last name of the module that a file is."""
    parts = file.removesuffix(".py").split("/")
    return parts[-2] if parts[-1] == "__init__" and len(parts) > 1 else parts[-1]
