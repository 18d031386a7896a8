"""What every kind of configuration file is read into: scalars under key paths."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from itertools import takewhile

from msgspec import Struct, field

from ddp_codemod.model import Place, Source

Path = tuple[str, ...]


class Entry(Struct, frozen=True):
    """One scalar value under a key path."""

    path: Path  # keys from the top; positions in lists as "0", "1" ...
    start: int  # characters of Source.text: the scalar's own text with its quotes, without comments, anchors and tags
    end: int
    value: str  # what it reads as: unquoted, unescaped
    is_text: bool = True  # it reads as a string, not as a number, a boolean, a date or null
    document: int = 0  # which document of the file (YAML's ``---``), from 0


class EntryBudget:
    """How many keys may be kept of one file: every value keeps its whole way, and 200,000 of them 900 levels down took 3 GB."""

    def __init__(self) -> None:
        self.left = 4_000_000
        self.full: list[int] = []  # where there was no room any more; what is there is omitted

    def reserve(self, path: Path, many: int, start: int) -> bool:
        """Whether there is room for so many values below a path, which is then taken."""
        needed = (len(path) + 1) * many
        if needed > self.left:
            self.full.append(start)
            return False
        self.left -= needed
        return True


class Link(Struct, frozen=True):
    """What is at ``path`` is what is at ``target`` (a YAML alias); ``merge``: beside the keys of its own (``<<``)."""

    path: Path
    target: Path
    document: int
    merge: bool = False


class Content(Struct, frozen=True):
    """What a reader finds in a text."""

    entries: tuple[Entry, ...]
    links: tuple[Link, ...] = ()
    errors: tuple[int, ...] = ()  # where the text is not valid; entries near it are omitted


class Document(Struct, eq=False, dict=True):
    """A parsed configuration file. Identity is the file, as for a Module."""

    source: Source
    content: Content
    write: Callable[[str, Entry, str], str]  # (text, entry, value) -> source text
    binds: bool = False  # its entries are parameters of functions: no program goes through them by their keys
    cache: dict[object, object] = field(default_factory=dict)  # what later stages work out once per file

    @property
    def name(self) -> str:
        """Path relative to the root."""
        return self.source.name

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Every scalar, in source order; keys that are twice are both there."""
        return self.content.entries

    @property
    def errors(self) -> tuple[int, ...]:
        """Offsets at which the file is not valid; entries near them are omitted."""
        return self.content.errors

    def place(self, entry: Entry) -> Place:
        """Where an entry's scalar is."""
        return Place(self.source.name, entry.start, entry.end)

    def text(self, entry: Entry) -> str:
        """Source text of an entry's scalar, with its quotes."""
        return self.source.text[entry.start : entry.end]

    def written(self, entry: Entry, value: str) -> str:
        """The source text that gives ``value`` at an entry; quotes that are there are kept.

        Raises ValueError where this kind of file has no way to write it there.
        """
        return self.write(self.source.text, entry, value)

    def may_add_below(self, entry: Entry) -> bool:
        """Whether ``key: value`` on a new line below the entry's is one more key of its mapping: a YAML block, the entry alone on its line."""
        if self.source.path.suffix not in (".yaml", ".yml"):
            return False
        start, end = self.source.line_span(entry.start)
        line = self.source.text[start:end]
        return bool(re.match(rf"[ -]*{re.escape(entry.path[-1])}[ ]*:[ ]", line)) and self.source.text[entry.end : end].strip()[
            :1
        ] in ("", "#")

    def add_below(self, entry: Entry, key: str, value: str, inside: str = "") -> tuple[int, str]:
        """Where, and what text, adds a plain ``key: value`` below an entry for which ``may_add_below`` holds.

        ``inside``: as the one key of a mapping of that name.
        """
        start, end = self.source.line_span(entry.start)
        line = self.source.text[start:end]
        indent = " " * line.index(entry.path[-1])
        ending = line[len(line.rstrip("\r\n")) :]
        text = f"{indent}{inside}:{self.source.newline}{indent}  {key}: {value}" if inside else f"{indent}{key}: {value}"
        return end, text + ending if ending else self.source.newline + text

    def lacks(self, entry: Entry, key: str) -> bool:
        """Whether a YAML block that an entry is in writes no such key, not even an empty one, and merges no other mapping."""
        lines, at = self.source.text.split("\n"), self.source.position(entry.start)[0] - 1
        indent = lines[at].index(entry.path[-1])
        block = [*takewhile(partial(_is_inside, indent), lines[at + 1 :])]
        if not lines[at].lstrip(" ").startswith("-"):
            block += takewhile(partial(_is_inside, indent), reversed(lines[:at]))
        return not any(re.match(rf" {{{indent}}}[\"']?(?:{re.escape(key)}[\"']?|<<)[ ]*:", line) for line in block)

    def mapping(self, path: Sequence[str], document: int | None = None) -> tuple[Entry, ...]:
        """The entries directly under the mapping or list at a path, in one document of the file or in all."""
        return self._children.get((tuple(path), document), ())

    def ending(self, key: str) -> Sequence[Entry]:
        """The entries under a key, wherever it is."""
        return self._by_key.get(key, ())

    def at(self, path: Sequence[str], document: int | None = None) -> tuple[Entry, ...]:
        """The entries that reading a path gives: those that are there, else those that aliases and merge keys lead to."""
        found: dict[Entry, None] = {}
        for number in range(self._documents) if document is None else (document,):
            found.update(dict.fromkeys(self._resolve_path(tuple(path), number, set())))
        return tuple(found)

    def _resolve_path(self, path: Path, document: int, seen: set[Path]) -> list[Entry]:
        if not path or path in seen:
            return []
        seen.add(path)
        own = self._own.get((path, document), [])
        if own or (path, document) in self._written_paths:
            return own
        for cut in range(len(path), -1, -1):  # the nearest link decides
            for link in self._links.get((path[:cut], document), ()):
                if not (link.merge and cut == len(path)):
                    if found := self._resolve_path(link.target + path[cut:], document, seen):
                        return found
        return []

    @cached_property
    def _by_key(self) -> dict[str, list[Entry]]:
        found: dict[str, list[Entry]] = {}
        for entry in self.entries:
            if entry.path:
                found.setdefault(entry.path[-1], []).append(entry)
        return found

    @cached_property
    def _children(self) -> dict[tuple[Path, int | None], tuple[Entry, ...]]:
        """By the path above them, in one document and in all."""
        children: dict[tuple[Path, int | None], list[Entry]] = {}
        for entry in self.entries:
            for document in (None, entry.document):
                children.setdefault((entry.path[:-1], document), []).append(entry)
        return {key: tuple(entries) for key, entries in children.items()}

    @cached_property
    def _own(self) -> dict[tuple[Path, int], list[Entry]]:
        found: dict[tuple[Path, int], list[Entry]] = {}
        for entry in self.entries:
            found.setdefault((entry.path, entry.document), []).append(entry)
        return found

    @cached_property
    def _written_paths(self) -> set[tuple[Path, int]]:
        """Mappings and lists that are written out: a merge key does not reach into them."""
        found: set[tuple[Path, int]] = set()
        for entry in self.entries:
            for end in range(len(entry.path) - 1, 0, -1):
                if (at := (entry.path[:end], entry.document)) in found:
                    break  # and what is above it
                found.add(at)
        return found

    @cached_property
    def _links(self) -> dict[tuple[Path, int], list[Link]]:
        links: dict[tuple[Path, int], list[Link]] = {}
        for link in self.content.links:
            links.setdefault((link.path, link.document), []).append(link)
        return links

    @cached_property
    def _documents(self) -> int:
        return max((entry.document for entry in self.entries), default=0) + 1


def _is_inside(indent: int, line: str) -> bool:
    """Whether a line of YAML is part of a block that is indented so far, or says nothing."""
    return not line.strip() or line.lstrip(" ").startswith("#") or len(line) - len(line.lstrip(" ")) >= indent
