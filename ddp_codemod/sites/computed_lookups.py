"""What code takes out of a module by a name that it computes: ``getattr(models, args.arch)``, ``globals()[name]``, ``eval(name)``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ddp_codemod.sites.imports import find_import_statements
from ddp_codemod.sites.project import Project
from ddp_codemod.sites.word_search import WordMatcher

_TEXT = rb"(?!\s*[rRbBuU]?[\"'])"  # no name that is written out is here
_MODULE = rb"(?P<module>[A-Za-z_][\w.]*|sys\.modules\[__name__\])"
_LOOKED_UP = rb"\s*(?:\[|\.get\()" + _TEXT
_BEHIND = {
    "getattr": re.compile(rb"\(\s*" + _MODULE + rb"\s*," + _TEXT),
    "vars": re.compile(rb"\(\s*" + _MODULE + rb"?\s*\)" + _LOOKED_UP),
    "globals": re.compile(rb"\(\)" + _LOOKED_UP),
    "locals": re.compile(rb"\(\)" + _LOOKED_UP),
    "eval": re.compile(rb"\(" + _TEXT),
    "__dict__": re.compile(_LOOKED_UP),
}
_WORDS = WordMatcher(_BEHIND)
_BEFORE = re.compile(rb"([A-Za-z_][\w.]*)\.\Z")  # whose ``__dict__`` it is
_OWN = b"sys.modules[__name__]"
_DEFINED = re.compile(rb"(?m)^(?:async[ \t]+def|def|class)[ \t]+(\w+)")
_IMPORTED = re.compile(r"([.\w]+|\*)(?:\s+as\s+(\w+))?")
_FAR = 200  # bytes that are looked at before a word


class ComputedLookups:
    """The functions and classes that may be meant, file by file: rather too many than too few."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._members: dict[str, frozenset[str]] = {}

    def names(self, files: Iterable[str]) -> set[str]:
        """The names of what the look-ups in these files can give."""
        modules = {module for file in files for module in self._find_modules(file)}
        return {name for module in modules for name in self._list_members(module)}

    def _find_modules(self, file: str) -> Iterator[str]:
        """The files of the modules that a file looks into."""
        data = self._project.data(file)
        for word, start, end in _WORDS.places(data):
            found = _BEHIND[word].match(data, end)
            dotted = data[start - 1 : start] == b"."
            if found is None or dotted is not (word == "__dict__"):
                continue
            if word == "__dict__":
                before = _BEFORE.search(data, max(start - _FAR, 0), start)
                said = before[1] if before is not None else b""
            else:
                said = found.groupdict().get("module") or _OWN
            module = file if said == _OWN else self._resolve(file, said.decode("ascii", "replace"))
            if module is not None:
                yield module

    def _resolve(self, file: str, said: str) -> str | None:
        """The file of the module that a dotted name means in a file."""
        folder = file.rpartition("/")[0] or "."
        for bound, dotted in self._list_imports(file):
            if said == bound or said.startswith(f"{bound}."):
                found = self._project.file(dotted + said[len(bound) :], folder)
                if found is not None:
                    return found
        return None

    def _list_imports(self, file: str) -> Iterator[tuple[str, str]]:
        """The names that the import statements of a file bind, each with the dotted name that it means; ``*`` for all of a module."""
        for found in find_import_statements(self._project.data(file)):
            source = (found["source"] or b"").decode("ascii", "replace")
            joint = "" if not source or source.endswith(".") else "."
            listed = (found["names"] or found["modules"]).decode("ascii", "replace")
            for word, alias in _IMPORTED.findall(listed):
                yield alias or word, source if word == "*" else f"{source}{joint}{word}"

    def _list_members(self, module: str) -> frozenset[str]:
        """What a module defines and imports by name, with all of what it imports as a whole."""
        if module not in self._members:
            self._members[module] = frozenset()  # modules that import each other
            found = {name.decode("utf-8", "replace") for name in _DEFINED.findall(self._project.data(module))}
            folder = module.rpartition("/")[0] or "."
            for bound, dotted in self._list_imports(module):
                other = self._project.file(dotted, folder) if bound == "*" else None
                found |= self._list_members(other) if other is not None else {dotted.rpartition(".")[2]} - {""}
            self._members[module] = frozenset(found)
        return self._members[module]
