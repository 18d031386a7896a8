"""Which files can use a surface at all, by their bytes: the ones worth parsing."""

from __future__ import annotations

from collections.abc import Iterable

from ddp_codemod.catalog.model import Surface
from ddp_codemod.sites.file_texts import FileTexts
from ddp_codemod.sites.word_search import WordMatcher


class Candidates:
    """The last names of surfaces that a project's files hold, as far as they can mean one.

    ``initialize`` means nothing where no file of the project mentions the package that it would come from: a name from outside
    starts at an import somewhere in the project.
    """

    def __init__(self, surfaces: Iterable[Surface], project: FileTexts) -> None:
        tops: dict[str, set[str]] = {}
        for surface in surfaces:
            for name in surface.names:
                # found by its name alone, it needs no import; a star can stand for any package; a method needs its class
                parts = name.split(".")
                top = "" if surface.by_name or parts[0] == "*" else parts[-2] if surface.method else parts[0]
                tops.setdefault(name.rsplit(".", 1)[-1], set()).add(top)
        self.every = WordMatcher(tops)
        found = {name: words for name in project.names if (words := set(self.every.held(project.data(name))))}
        seen = {word for words in found.values() for word in words}
        there = {"", *project.mentioned({top for word in seen for top in tops[word] if top})}
        self.words: frozenset[str] = frozenset(word for word in seen if tops[word] & there)
        self.names: list[str] = [name for name, words in found.items() if words & self.words]
        self.search = WordMatcher(self.words)
