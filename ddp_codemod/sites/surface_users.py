"""Which files can use a surface, themselves or through a class of the project that derives from it: the ones worth parsing."""

from __future__ import annotations

import re
from functools import cached_property

from ddp_codemod.discover.kinds import NOTEBOOK
from ddp_codemod.sites.aliases import aliases_of
from ddp_codemod.sites.candidates import Candidates
from ddp_codemod.sites.dynamic_lookups import LOOKING_UP
from ddp_codemod.sites.project import Project
from ddp_codemod.sites.surface_calls import TARGET, Finder
from ddp_codemod.sites.word_search import WordMatcher

_CALLED = re.compile(rb"[\s)\\]*\(")
_RENAMED = re.compile(rb"[\s\\]+as\b")
_ENDED = re.compile(rb"[ \t\f)]*(?:[\r\n;#\"\\]|\Z)")  # of the statement; or, in a notebook, of the line
# what is before a name that is passed on, or assigned
_HANDED_ON = re.compile(rb"\([\w\x80-\xff.\s\\]*\Z")
# dict(type=Class), dict(_target_="package.Class"): a registry calls it
_TYPED = re.compile(rb"\b(?:type\s*=\s*|%b\s*=\s*[\"'])[\w.]*\Z" % TARGET.encode())
_ASSIGNED = re.compile(rb"(?<![=!<>])=[\s(\\]*[\w\x80-\xff.\s\\]*\Z")
# what is before a name that a value is chosen from, returned or looked up by; and before one that is no value at all
_CHOSEN = re.compile(
    rb"(?:[^=!<>]=|\b(?:else|or|and|return)\b|[\"']\s*:|\blambda\b[^:\n]*:|[\[{,])[\s(\\]*(?:[\w\x80-\xff]+\s*\.\s*)*\Z"
)
_NO_VALUE = re.compile(rb"\s*(?:\.(?!\s*__call__\b)|[\[=])")
_DUNDER = re.compile(rb"\s*\.\s*__call__\b")
_DOTTED = re.compile(rb"([\"'])[\w.]+\Z")  # what is before a name at the end of a dotted one in quotes
_FAR = 300  # characters that are looked at before a name


class SurfaceUsers:
    """The files of a project that have to be parsed to find the uses of surfaces: most that mention one only annotate or import it."""

    def __init__(self, project: Project, finder: Finder, candidates: Candidates) -> None:
        self.project, self.finder, self.candidates = project, finder, candidates

    @cached_property
    def derived(self) -> dict[str, None]:
        """Names of the project's classes that derive from a surface, of those in files that mention one."""
        found: dict[str, None] = {}
        mentioning, seen = set(self.candidates.names), set[str]()
        words, new = set[str](), set(self.candidates.words)  # what a base can be called
        while new:
            words |= new
            files = {name for word in new for name in self.project.deriving(word)} & mentioning - seen
            seen |= files
            made = [word for name in sorted(files) for part in self.project.programs(name) for word in self.finder.derived(part)]
            found.update(dict.fromkeys(made))
            new = {*made, *self._find_renamed(new)} - words
        return found

    @cached_property
    def names(self) -> list[str]:
        """The files, in order."""
        found = {name for name in self.candidates.names if self._may_use(name, self.candidates.search)}
        if self.derived:
            words = WordMatcher(self.derived)
            found |= {name for name in self.project.names if self._may_use(name, words)}
        found |= {name for word in (*self.candidates.words, *self.derived) for name in self.project.deriving(word)}
        return sorted(found)

    def _find_renamed(self, words: set[str]) -> set[str]:
        """The other names that files which mention a surface give to one of the words."""
        search, found = WordMatcher(words), set[str]()
        for name in self.candidates.names:
            data = self.project.data(name)
            if any(_is_renamed(data, start, end) for _, start, end in search.places(data)):
                for module in self.project.programs(name):
                    found |= aliases_of(module, words)
        return found

    def _may_use(self, name: str, words: WordMatcher) -> bool:
        data = self.project.data(name)
        places = words.places(data)
        if name.endswith(NOTEBOOK):
            return next(places, None) is not None
        return any(
            _CALLED.match(data, end)
            or _TYPED.search(data, max(start - _FAR, 0), start)
            or _is_renamed(data, start, end)
            or _HANDED_ON.search(data, max(start - _FAR, 0), start)
            or _DUNDER.match(data, end)
            or _is_chosen(data, start, end)
            for _, start, end in places
        )


def _is_chosen(data: bytes, start: int, end: int) -> bool:
    """Whether a name that is at a place may be one of several values, or is a text that something is looked up by."""
    if (quote := data[start - 1 : start]) == b"." and (dotted := _DOTTED.search(data, max(start - _FAR, 0), start)):
        quote = dotted[1]
    if start and quote in (b"'", b'"'):
        return data[end : end + 1] == quote and any(word in data for word in LOOKING_UP)
    return not _NO_VALUE.match(data, end) and _CHOSEN.search(data, max(start - _FAR, 0), start) is not None


def _is_renamed(data: bytes, start: int, end: int) -> bool:
    """Whether a name that is at a place is imported under another one, or assigned."""
    if _RENAMED.match(data, end):
        return True
    return _ENDED.match(data, end) is not None and _ASSIGNED.search(data, max(start - _FAR, 0), start) is not None
