"""Which files of a project import which: read from the bytes, so that no file has to be parsed for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from posixpath import join, normpath

from ddp_codemod.sites.project import Project

# The keyword is on the line that the statement begins on: it is found fast, the statement is then read from its line's start.
KEYWORD = re.compile(rb"import[ \t]")
_REST = r"[^\n#;\\]*(?:\\(?:\r?\n)?[^\n#;\\]*)*"  # of the line, and of the next where a backslash joins them
IMPORT = re.compile(
    rf"[ \t]*(?:from[ \t]+(?P<source>[.\w]+)[ \t]+import[ \t]+(?P<names>\([^)]*\)|{_REST})|import[ \t]+(?P<modules>{_REST}))".encode()
)
BY_NAME = re.compile(
    rb"""\b(?:import_module|__import__)\s*\(\s*(?P<own>__(?:name|package)__\s*\+\s*)?[fFrRbBuU]*"""
    rb"""(?P<quote>["'])(?P<begin>\{__(?:name|package)__\})?(?P<text>[.\w]*)(?P<rest>[^"'\n]*)(?P=quote)\s*(?P<whole>[,)])?"""
)
_RUN_FILE = re.compile(rb"""\b(?:exec|execfile|run_path)\s*\((?:\s*compile\s*\()?(?:\s*open\s*\()?\s*["']([\w./-]+\.py)["']""")
_LISTING = re.compile(rb"\b(?:listdir|scandir|i?glob|iterdir|walk|iter_modules|walk_packages)\b")
_OWN_PLACE = re.compile(rb"\b__(?:file|path)__\b")
WORD = re.compile(rb"(?:^|,|\()[\s\\]*(?:#[^\n]*\n\s*)*([.\w]+)")


class Imports:
    """The files that a file imports, and those that import it; an import in a text counts too."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._of: dict[str, frozenset[str]] = {}

    def of_file(self, name: str) -> frozenset[str]:
        """The files that one file imports directly."""
        if name not in self._of:
            self._of[name] = frozenset(self._find_imports(name)) - {name}
        return self._of[name]

    @cached_property
    def of(self) -> dict[str, frozenset[str]]:
        """The files that each file imports directly."""
        return {name: self.of_file(name) for name in self.project.names}

    @cached_property
    def importers(self) -> dict[str, set[str]]:
        """The files that import each file directly."""
        found: dict[str, set[str]] = {name: set() for name in self.project.names}
        for name, imported in self.of.items():
            for other in imported:
                found[other].add(name)
        return found

    def above(self, names: Iterable[str]) -> set[str]:
        """The files, and all that import them, directly or not."""
        return _transitive_closure(names, lambda name: self.importers.get(name, ()))

    def below(self, names: Iterable[str]) -> set[str]:
        """The files, and all that they import, directly or not, with what runs when a package is entered on the way."""
        return _transitive_closure(names, self._find_run_files)

    def together(self, names: Iterable[str]) -> set[str]:
        """The files that run together with the named ones: what those import that import these."""
        return self.below(self.above(names))

    def _find_run_files(self, name: str) -> Iterator[str]:
        for imported in self.of.get(name, ()):
            yield imported
            yield from self.project.entered(imported)

    def _find_imports(self, name: str) -> Iterator[str]:
        yield from self._find_stated_imports(name)
        yield from self._find_named_imports(name)
        yield from self._find_run_files_by_path(name)

    def _find_run_files_by_path(self, name: str) -> Iterator[str]:
        """What a file runs by a path that is written out, from its own folder or the project's: ``exec(open("settings.py").read())``."""
        data = self.project.data(name)
        for path in _RUN_FILE.findall(data) if b".py'" in data or b'.py"' in data else ():
            for folder in dict.fromkeys((name.rpartition("/")[0], "")):
                if (file := normpath(join(folder, path.decode("ascii", "replace")))) in self._names:
                    yield file

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(self.project.names)

    def _find_stated_imports(self, name: str) -> Iterator[str]:
        """What the import statements of a file mean."""
        folder = name.rpartition("/")[0] or "."
        for found in find_import_statements(self.project.data(name)):
            source = (found["source"] or b"").decode("ascii", "replace")
            if source and not self.project.may_have(source):
                continue
            own = self.project.file(source, folder) if source else None
            if own is not None and not self.project.may_hold_files(own):
                yield own
                continue
            joint = "" if not source or source.endswith(".") else "."
            words = [word.decode("ascii", "replace") for word in WORD.findall(found["names"] or found["modules"])]
            for dotted in {source, *(f"{source}{joint}{word}" for word in words)} - {""}:
                if (file := self.project.file(dotted, folder)) is not None:
                    yield file

    def _find_named_imports(self, name: str) -> Iterator[str]:
        """What a file imports by a name that it puts together: rather all files of a package than none of them."""
        data, folder = self.project.data(name), name.rpartition("/")[0] or "."
        loads = b"import_module" in data or b"__import__" in data
        for found in BY_NAME.finditer(data) if loads else ():
            begin = "." if found["own"] or found["begin"] else ""
            text = begin + found["text"].decode("ascii", "replace").removeprefix(begin)
            if found["whole"] and not found["rest"] and not begin:
                if (file := self.project.file(text, folder)) is not None:
                    yield file
            elif "." in text:
                package, dot, start = text.rpartition(".")
                yield from self.project.inside(package if package.strip(".") else package + dot, folder, start)
        exports = name.endswith("__init__.py") and b"__all__" in data
        if (loads or exports) and _OWN_PLACE.search(data) and _LISTING.search(data):
            yield from self.project.inside(".", folder)


def find_import_statements(data: bytes) -> Iterator[re.Match[bytes]]:
    """What looks like an import statement in a file's bytes, one after the other."""
    done = 0
    for keyword in KEYWORD.finditer(data):
        start = data.rfind(b"\n", 0, keyword.start()) + 1
        if start >= done and (found := IMPORT.match(data, start)) is not None:
            done = found.end()
            yield found


def _transitive_closure(start: Iterable[str], following: Callable[[str], Iterable[str]]) -> set[str]:
    found = set(start)
    todo = list(found)
    while todo:
        for name in following(todo.pop()):
            if name not in found:
                found.add(name)
                todo.append(name)
    return found
