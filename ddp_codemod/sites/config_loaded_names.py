"""What settings name, and who loads it by that: the class of a callback in a file of settings, which no code imports."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Set
from functools import cached_property

from ddp_codemod.sites.project import Project
from ddp_codemod.sites.target_keys import TARGETS
from ddp_codemod.sites.word_search import WordMatcher

_IMPORTS = ("import_module", "__import__")
_BY_NAME = rb"(?:%s)\s*\(\s*(?![fFrRbBuU]{0,2}[\"'])" % "|".join(_IMPORTS).encode()  # one that is not written out
# by the keys: what begins with a text is found sooner
_NAMED = [
    re.compile(rf"{key}(?<![\w.]{key})[\"']?\s*[:=]\s*[\"']?((?:[A-Za-z_]\w*\.)+)(\w+)(?![\w.(])".encode()) for key in TARGETS
]


class ConfigLoadedNames:
    """The functions and classes that keys of settings name, in code and in files of settings."""

    def __init__(self, project: Project, loaders: Iterable[str]) -> None:
        """``loaders``: last names of the calls of libraries that load by such a key."""
        self._project = project
        self._words = WordMatcher((*_IMPORTS, *loaders))
        called = "|".join(map(re.escape, sorted(loaders))).encode() or rb"(?!)"
        self._loading = re.compile(rb"\b(?:%s|(?:%s)\s*\()" % (_BY_NAME, called))

    @cached_property
    def _named_members(self) -> frozenset[tuple[str, str]]:
        """The modules and names, as they are written."""
        project = self._project
        every = [project.data(name) for name in (*project.names, *project.small_configs)]
        found = {text for pattern in _NAMED for data in every for text in pattern.findall(data)}
        return frozenset((module.decode()[:-1], name.decode()) for module, name in found)

    @cached_property
    def _named_modules(self) -> frozenset[str]:
        return frozenset(module for module, _ in self._named_members)

    def loaded(self, files: Set[str], below: Callable[[Iterable[str]], set[str]]) -> tuple[set[str], set[str]]:
        """The files, with those that they load by such names and what these import (``below``), and the last of the names.

        A name means what an import of its module in the loading file would: whose settings a program reads is not looked for.
        """
        project, found, names = self._project, set(files), set[str]()
        todo = set(files)
        while todo:
            homes = {name.rpartition("/")[0] or "." for name in todo if self._has_loader_call(project.data(name))}
            of = {
                module: file
                for home in homes
                for module in self._named_modules
                if (file := project.file(module, home)) is not None
            }
            names |= {name for module, name in self._named_members if module in of} if of else set()
            todo = below(set(of.values())) - found
            found |= todo
        return found, names

    def _has_loader_call(self, data: bytes) -> bool:
        return self._words.some(data) and self._loading.search(data) is not None
