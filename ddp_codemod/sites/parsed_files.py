"""How a file that was read is parsed, or taken as an earlier survey of the same process parsed it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from msgspec import Struct

from ddp_codemod.discover.kinds import NOTEBOOK
from ddp_codemod.model import Skipped, Source
from ddp_codemod.parse.config import parse_config
from ddp_codemod.parse.document import Document
from ddp_codemod.parse.python import Module, parse
from ddp_codemod.parse.scripts import parse_shell
from ddp_codemod.parse.shell import Script
from ddp_codemod.sites.kept_files import Key, Parsed, kept_files

T = TypeVar("T", Document, Script)


class ProgramFile(Struct, frozen=True):
    """A file of Python: its text, its own program, and those that it writes or starts if it is a notebook."""

    source: Source | None
    own: Module | Skipped
    others: tuple[Module, ...] = ()


def parse_program(root: str, read: Source, levels: int | None) -> ProgramFile:
    """A program, which may nest so deeply."""
    files, key, about = kept_files(), ("program", root, read.name), (read.encoding, levels)
    found = files.find(key, read.data, about) if files is not None else None
    if found is None:
        made = _parse_program(read, levels)
        if files is None or made.source is None or isinstance(made.own, Skipped):  # what is given up today may be read tomorrow
            return made
        found = Parsed(made.source, (made.own, *made.others))
        if not files.keep(key, read.data, about, found):
            return made
        for module in (made.own, *made.others):
            module.kept = True
    assert isinstance(found, Parsed)
    own, *others = found.renew().trees
    return ProgramFile(found.source, own, tuple(others))  # type: ignore[arg-type]


def _parse_program(read: Source, levels: int | None) -> ProgramFile:
    if not read.name.endswith(NOTEBOOK):
        return ProgramFile(read, parse(read, levels))
    from ddp_codemod.parse.notebook import read_notebook

    made = read_notebook(read)
    if isinstance(made, Skipped):
        return ProgramFile(None, made)
    own, *others = (parse(view, levels) for view in made.views())
    return ProgramFile(made, own, tuple(part for part in others if isinstance(part, Module)))


def parse_settings(root: str, read: Source) -> Document | Skipped:
    """A file of configuration."""
    return _parse_once(("settings", root, read.name), read, parse_config)


def parse_launcher(root: str, read: Source) -> Script | Skipped:
    """A file that starts programs."""
    return _parse_once(("launcher", root, read.name), read, parse_shell)


def _parse_once(key: Key, read: Source, parse_file: Callable[[Source], T | Skipped]) -> T | Skipped:
    if (files := kept_files()) is None:
        return parse_file(read)
    found = files.find(key, read.data, read.encoding)
    if found is None:
        made = parse_file(read)
        if isinstance(made, Skipped):
            return made
        found = Parsed(read, (made,))
        files.keep(key, read.data, read.encoding, found)
    assert isinstance(found, Parsed)
    return found.renew().trees[0]  # type: ignore[return-value]
