"""Functions of a project that ask for a device: a program that calls one from another file need not name what is asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ddp_codemod.catalog.advisory import Pattern
from ddp_codemod.sites.project import Project
from ddp_codemod.sites.word_search import WordMatcher

_DEFINED = re.compile(rb"([ \t]*)(?:async[ \t]+)?def[ \t]+(\w+)")
_MOST, _FAR = 30, 3000  # lines, and bytes, of a function that does little more than to ask


def find_calling_files(project: Project, pattern: Pattern, files: Iterable[str]) -> set[str]:
    """The files that call a function in which one of these files asks for one of the pattern's names."""
    words = WordMatcher({name.rpartition(".")[2] for name in pattern.names})
    asking = {function for name in files for function in _find_asking_functions(project.data(name), words)}
    return {caller for function in sorted(asking) for caller in project.calling(function)}


def _find_asking_functions(data: bytes, words: WordMatcher) -> Iterator[str]:
    """The names of the functions at the top of a file in whose first lines one of the words is."""
    for _, start, _ in words.places(data):
        lines = data[max(start - _FAR, 0) : start].splitlines()[-_MOST:]
        found = next((result for line in reversed(lines) if (result := _DEFINED.match(line)) is not None), None)
        if found is not None and not found[1]:
            yield found[2].decode("utf-8", "replace")
