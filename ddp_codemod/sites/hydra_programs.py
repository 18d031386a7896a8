"""Programs whose configuration is put together from a folder of files, which name each other in lists of defaults (Hydra)."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import PurePosixPath

from msgspec import Struct

from ddp_codemod.catalog.idioms import ConfigEntry
from ddp_codemod.discover.listing import is_under
from ddp_codemod.parse.document import Document
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.parse.shell import Option, Script
from ddp_codemod.sites.entities import Definition, External
from ddp_codemod.sites.option_receivers import find_option_receivers
from ddp_codemod.sites.project import Project
from ddp_codemod.sites.resolver import Resolver

DEFAULTS = "defaults"  # the key of the list
SUFFIXES = (".yaml", ".yml")
_GLOBAL = re.compile(r"\A(?:\s*#[^\n]*\n)*?\s*#\s*@package\s+\S")
_OVERRIDE = re.compile(r"(?:override\s+)?(?P<group>/?[\w/.-]+)(?:@[\w.]+)?")


class HydraProgram(Struct, frozen=True, eq=False):
    """A function that is passed the configuration, and the folder and file that it is put together from, where they are written out."""

    module: Module
    body: ast.stmt  # the first statement that runs with it
    last: ast.stmt
    folder: str | None
    file: str | None
    open: bool  # the folder is passed, in a way that is not written out


class HydraPrograms:
    """The programs of one project that start with such a configuration."""

    def __init__(self, project: Project, resolver: Resolver, entries: Iterable[ConfigEntry]) -> None:
        self.project, self.resolver, self.entries = project, resolver, tuple(entries)
        self._starts: tuple[HydraProgram, ...] | None = None
        self._overrides: dict[str, list[tuple[Script, Option, tuple[str, ...]]]] = {}  # by the last key

    @property
    def starts(self) -> tuple[HydraProgram, ...]:
        """All of them, in the order of the files."""
        if self._starts is None:
            self._starts = tuple(self._find_programs())
        return self._starts

    def of(self, document: Document) -> list[HydraProgram]:
        """The programs that can start with a file: those whose defaults lead to it, else those whose folder holds it.

        Where there are none, the only program whose folder is not known.
        """
        near = [start for start in self.starts if start.folder is not None and is_under(document.name, start.folder)]
        if not near:
            near = [start for start in self.starts if start.open]
            return near if len(near) == 1 else []
        return [start for start in near if document.name in self._follow_defaults(start)] or near

    def overrides(
        self, document: Document, path: tuple[str, ...], admits: Callable[[str], bool] | None = None
    ) -> Iterator[tuple[Script, Option]]:
        """The arguments on the command lines of launch files that stand for a path of keys of a file: ``dist.backend=x``.

        ``admits``: which values are asked for.
        """
        for script, option, given in self._find_overrides(path[-1]):
            if given[-len(path) :] == path and (admits is None or admits(option.value)):
                if self._is_override_of(script, option, given, document, path):
                    yield script, option

    def _find_overrides(self, key: str) -> list[tuple[Script, Option, tuple[str, ...]]]:
        """The arguments of all launch files whose path of keys ends in a key, with the path."""
        if key not in self._overrides:
            options = (
                (script, option) for script in self.project.scripts(f"{key}=") for option in script.options if option.override
            )
            split = ((script, option, tuple(option.name.split("."))) for script, option in options)
            self._overrides[key] = [one for one in split if one[2][-1] == key]
        return self._overrides[key]

    def _is_override_of(
        self, script: Script, option: Option, given: tuple[str, ...], document: Document, path: tuple[str, ...]
    ) -> bool:
        group, folder = given[: -len(path)], PurePosixPath(document.name).parent
        if group and folder.parts[-len(group) :] != group and not _is_global(document):
            return False
        started = {name for name in find_option_receivers(self.project, script, option) if self._may_compose(name, document)}
        if group or len(path) > 1:
            return bool(started)
        ours = [start for start in self.starts if start.module.name in started]
        return any(start.open or start.folder == str(folder) or _is_global(document) for start in ours)

    def _may_compose(self, program: str, document: Document) -> bool:
        """Whether a file is not known to put its configuration together from another folder."""
        own = self._starts_by_file.get(program)
        return own is None or any(start.folder is None or is_under(document.name, start.folder) for start in own)

    @cached_property
    def _starts_by_file(self) -> dict[str, list[HydraProgram]]:
        found: dict[str, list[HydraProgram]] = {}
        for start in self.starts:
            found.setdefault(start.module.name, []).append(start)
        return found

    def _find_programs(self) -> Iterator[HydraProgram]:
        words = {name.rpartition(".")[2] for entry in self.entries for name in entry.names}
        for name in sorted({name for word in words for name in self.project.mentioning(word)}):
            module = self.project.module(name)
            for kind in (ast.FunctionDef, ast.AsyncFunctionDef):
                for function in module.nodes.get(kind, ()) if module else ():
                    assert isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
                    for decorator in function.decorator_list:
                        if module and (start := self._read_program(module, function, decorator)):
                            yield start

    def _read_program(
        self, module: Module, function: ast.FunctionDef | ast.AsyncFunctionDef, decorator: ast.expr
    ) -> HydraProgram | None:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        names = [*self._resolve_decorator_names(module, called)] if last_name(called) else []
        for entry in self.entries:
            if any(name == known or name.endswith(f".{known}") for name in names for known in entry.names):
                given = decorator.keywords if isinstance(decorator, ast.Call) else []
                written = {keyword.arg: keyword.value.value for keyword in given if isinstance(keyword.value, ast.Constant)}
                folder = written.get(entry.folder)
                beside = PurePosixPath(module.name).parent
                at = _normalize_path(beside / folder) if isinstance(folder, str) and "://" not in folder else None
                file = written.get(entry.file)
                is_open = at is None and any(keyword.arg == entry.folder for keyword in given) and entry.folder not in written
                return HydraProgram(
                    module, _first_statement(function), function.body[-1], at, file if isinstance(file, str) else None, is_open
                )
        return None

    def _resolve_decorator_names(self, module: Module, node: ast.expr) -> Iterator[str]:
        """The qualified names of a decorator, also of one that is the project's own."""
        for entity in self.resolver.resolve(module, node):
            if isinstance(entity, External):
                yield entity.name
            elif isinstance(entity, Definition) and isinstance(entity.node, (ast.FunctionDef, ast.ClassDef)):
                path = PurePosixPath(entity.module.name).with_suffix("")
                yield ".".join((*path.parts, entity.node.name))

    def _follow_defaults(self, start: HydraProgram) -> set[str]:
        """The files that the defaults lead to; of a group all of them, since the command line may pick another."""
        found: set[str] = set()
        if start.folder is None or start.file is None:
            return found
        known = set(self.project.configs)
        todo = [_normalize_path(PurePosixPath(start.folder, start.file))]
        while todo:
            stem = todo.pop()
            for name in (stem, *(f"{stem}{suffix}" for suffix in SUFFIXES)):
                if name in known and name not in found:
                    found.add(name)
                    todo += self._read_defaults(name, start.folder)
        return found

    def _read_defaults(self, name: str, folder: str) -> Iterator[str]:
        for document in self.project.documents(DEFAULTS):
            for entry in document.entries if document.name == name else ():
                if entry.path[:1] != (DEFAULTS,):
                    continue
                keys = [key for key in entry.path[1:] if not key.isdigit()]
                said = _OVERRIDE.fullmatch(keys[0] if keys else entry.value)
                if said is None or len(keys) > 1:
                    continue
                group = said["group"]
                at = PurePosixPath(folder) if group.startswith("/") else PurePosixPath(name).parent
                place = _normalize_path(at / group.lstrip("/"))
                if not keys:
                    yield place
                else:
                    yield from (other for other in self.project.configs if is_under(other, place))


def _first_statement(function: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.stmt:
    """The first statement of a function that is no docstring, if it has another."""
    body = function.body
    text = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and isinstance(body[0].value.value, str)
    return body[1] if text and len(body) > 1 else body[0]


def _normalize_path(path: PurePosixPath) -> str:
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and parts:
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts) or "."


def _is_global(document: Document) -> bool:
    """Whether a file says itself where its keys go (``# @package``), so that its folder does not tell."""
    return _GLOBAL.match(document.source.text) is not None
