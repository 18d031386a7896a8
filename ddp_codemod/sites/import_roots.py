"""Which file of a project an import means."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property

from ddp_codemod.sites.name_roles import NameRoles
from ddp_codemod.sites.paths import join_path, parent_folder

_EXTENDS = re.compile(rb"sys\.path\.(?:insert|append|extend)\b|\baddsitedir\b")
_PUT_TOGETHER = re.compile(rb"^.*(?:sys\.path|\bjoin|\bPath|path)[^\n]*\(.*$", re.MULTILINE)
_TEXT = re.compile(rb"['\"]([\w./-]{1,80})['\"]")


class ImportRoots(NameRoles):
    """The files by the dotted names under which they are imported."""

    _known: set[str]
    _found: dict[tuple[str, str], str | None]  # by dotted name and folder
    _importable: set[str]  # what an import can begin with, if it means the project
    _tops: frozenset[str]

    def file(self, dotted: str, folder: str) -> str | None:
        """The name of the file that an import of ``dotted`` in a file of this folder reads, if it is the project's."""
        key = (dotted, folder)
        if key not in self._found:
            self._found[key] = self._find_file(dotted, folder)
        return self._found[key]

    def inside(self, dotted: str, folder: str, start: str = "") -> Iterator[str]:
        """The files of the package that ``dotted`` means in a file of this folder whose names begin so, and its packages alike."""
        package = self._find_file(dotted, folder, lambda stem: stem if stem in self._folders else None)
        return (name for stem, name in self._index_members.get(package, ()) if stem.startswith(start)) if package else iter(())

    @cached_property
    def _index_members(self) -> dict[str, list[tuple[str, str]]]:
        """The files that can be imported from each folder, by the names of the modules."""
        found: dict[str, list[tuple[str, str]]] = {}
        for name in self.names:
            stem = name.removesuffix("/__init__.py").removesuffix(".py")
            found.setdefault(parent_folder(stem), []).append((stem.rpartition("/")[2], name))
        return found

    def may_have(self, dotted: str) -> bool:
        """Whether an import can mean the project, by what it begins with."""
        return dotted.startswith(".") or dotted.partition(".")[0] in self._importable

    def may_hold_files(self, name: str) -> bool:
        """Whether what is imported from a file can be a file: it is a package's, or a folder of its name lies beside it."""
        return name.rpartition("/")[2] == "__init__.py" or name.removesuffix(".py") in self._folders

    def _find_file(self, dotted: str, folder: str, there: Callable[[str], str | None] | None = None) -> str | None:
        there = there or self._find_module_file
        if not self.may_have(dotted):
            return None
        bare = dotted.lstrip(".")
        level = len(dotted) - len(bare)
        top = bare.partition(".")[0]
        tail = bare.replace(".", "/")
        if level:
            for _ in range(level - 1):
                folder = parent_folder(folder)
            return there(join_path(folder, tail))
        bases = (base for base in self._find_import_roots(folder, top) if top not in self._tops or not self._wraps(base, top))
        around = (found for base in bases if (found := there(join_path(base, tail))))
        if (found := next(around, None)) is not None or top in self._tops:
            return found
        added = (base for home, base in self._find_added_folders if _is_inside(folder, home) or _is_inside(folder, base))
        return next((found for base in added if (found := there(join_path(base, tail)))), None)

    def _wraps(self, base: str, top: str) -> bool:
        """Whether a folder has a file with a framework's name that imports the framework: no import means it by that name alone."""
        file = join_path(base, f"{top}.py")  # a package imports its own name to get at its parts
        pattern = rb"^[ \t]*(?:import|from)[ \t]+%b\b" % top.encode()
        return file in self._known and re.search(pattern, self.data(file), re.MULTILINE) is not None

    @cached_property
    def _folders(self) -> frozenset[str]:
        """The folders of the project, by their paths."""
        parts = (name.split("/") for name in self.names)
        return frozenset("/".join(part[:end]) for part in parts for end in range(1, len(part)))

    @cached_property
    def _find_added_folders(self) -> tuple[tuple[str, str], ...]:
        """Folders of the project that its programs add to sys.path, as far as their names are there: ``join(here, "..", "lib")``.

        Each behind the folder of the program: others, in which another copy of a package may lie, know nothing of it.
        """
        found: dict[tuple[str, str], None] = {}
        for name in sorted(self.naming(["sys", "addsitedir"])) if self._folders else ():
            data = self.data(name)
            extends = (b"sys.path." in data or b"addsitedir" in data) and _EXTENDS.search(data)
            for line in _PUT_TOGETHER.findall(data) if extends else ():
                texts = [text.decode() for text in _TEXT.findall(line)]
                for text in ("/".join(texts), *texts):
                    added = _normalize_path(join_path(parent_folder(name), text))
                    if added in self._folders:
                        found[parent_folder(name), added] = None
        return tuple(found)

    def _find_import_roots(self, folder: str, top: str) -> Iterator[str]:
        """Folders that can be on sys.path for a file in ``folder``: those around it that are no package, nearest first, and the root.

        A package's own folder counts too (a script in it sees its neighbours), but never for the top name of a framework:
        ``import lightning`` inside ``nemo/`` does not mean ``nemo/lightning``.
        """
        at = folder
        while True:
            plain = at == "." or not self._is_package(at)
            if plain or (at == folder and top not in self._tops):
                yield at
            if plain:
                yield join_path(at, "src")
            if at == ".":
                return
            if at.rpartition("/")[2] == top and top not in self._tops:
                yield parent_folder(at)  # a copy of a package inside another one, whose files know it by its own name
            at = parent_folder(at)

    def package(self, name: str) -> str:
        """The folder of the outermost package that a file lies in; the file itself where it lies in none."""
        top, at = name, parent_folder(name)
        while self._is_package(at) and at != ".":
            top, at = at, parent_folder(at)
        return top

    def entered(self, name: str) -> Iterator[str]:
        """The files of the packages around a file, which run before it is imported."""
        at = parent_folder(name)
        while self._is_package(at):
            yield join_path(at, "__init__.py")
            if at == ".":
                return
            at = parent_folder(at)

    def _is_package(self, folder: str) -> bool:
        return join_path(folder, "__init__.py") in self._known

    def _find_module_file(self, stem: str) -> str | None:
        return next((name for name in (f"{stem}.py", join_path(stem, "__init__.py")) if name in self._known), None)


def _is_inside(folder: str, around: str) -> bool:
    return around == "." or f"{folder}/".startswith(f"{around}/")


def _normalize_path(path: str) -> str:
    """A path without its ``.`` and ``..``; "" where it leads out."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." and not parts:
            return ""
        if part == "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)
