"""Several projects in one run: a monorepo in which each names its own platform, submodules, or paths that belong to different ones."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from ddp_codemod.cli.console import Console
from ddp_codemod.cli.errors import Failure, make_failure
from ddp_codemod.cli.output import write_to_file
from ddp_codemod.cli.settings import Settings
from ddp_codemod.discover.config import ConfigError, read
from ddp_codemod.discover.nested_projects import find_nested_platforms, find_repositories
from ddp_codemod.discover.root import find_root

SEVERAL = ("apply", "check", "scan")  # commands that go through several projects in one run
LISTED = ("text", "github")  # formats of which several are one; a document is about one project


def run_each(settings: Settings, command: Callable[[Settings], Any]) -> Any:
    """Run a command for each project that is meant; its exit code is the highest of theirs. Raises Failure."""
    if not settings.paths or not all(Path(path).exists() for path in settings.paths):
        return command(settings)  # which is told elsewhere
    listed = settings.command in SEVERAL and settings.format in LISTED
    try:
        parts = _split_projects(settings) if listed else [_exclude_nested_projects(settings)]
        if settings.submodules:
            parts += _find_submodules(settings, parts)
    except ConfigError as why:
        raise Failure(why.reason) from None
    if len(parts) == 1:
        return command(parts[0])
    if not listed and settings.output is None:
        raise make_failure("submodules-output", count=len(parts))
    console = Console(settings.lang, settings.color, settings.quiet)
    codes: list[Any] = []
    for part in parts:
        console.say(("\n" if codes else "") + console.text("project-head", path=console.text("list-comma").join(part.paths)))
        codes.append(command(part) if listed or not codes else _write_own_file(part, command, console))
    return max(codes)


def _write_own_file(part: Settings, command: Callable[[Settings], Any], console: Console) -> Any:
    """A document for each repository: no patch of one holds files of another."""
    assert part.output is not None
    words = [word for word in Path(part.paths[0]).parts if word not in (".", "..", os.sep)]
    path = part.output.with_name(f"{part.output.stem}.{'-'.join(words)}{part.output.suffix}")
    code = write_to_file(path, lambda: command(part))
    console.say(console.text("submodules-written", path=path, folder=part.paths[0]))
    return code


def _find_submodules(settings: Settings, parts: list[Settings]) -> Iterator[Settings]:
    """The other repositories below the paths, each a project of its own."""
    known = {os.path.realpath(path) for part in parts for path in part.paths}
    found = find_repositories([Path(path) for path in settings.paths])
    yield from (replace(settings, paths=(str(at),)) for at in found if os.path.realpath(at) not in known)


def _exclude_nested_projects(settings: Settings) -> Settings:
    """A run that is about one project, without the projects inside it that name another platform: these are named."""
    if settings.platform is not None:
        return settings
    names = [Path(name) for name in settings.paths]
    try:
        root = find_root(names)
    except ValueError:
        return settings
    inside = find_nested_platforms(root, names, read(root).platform)
    return replace(settings, others=tuple(zip(_relative_names(root, inside), inside.values(), strict=True)))


def _split_projects(settings: Settings) -> list[Settings]:
    paths = {name: Path(name) for name in settings.paths}
    groups: dict[Path, list[str]] = {}
    try:
        common = find_root(list(paths.values()))
        for name, path in paths.items():  # a submodule that is named is a project of its own
            own = find_root([path])
            groups.setdefault(own if (own / ".git").exists() and own != common else common, []).append(name)
    except ValueError:
        groups = {}
        for name, path in paths.items():
            groups.setdefault(find_root([path]), []).append(name)
    if settings.platform is not None:
        return [replace(settings, paths=tuple(names)) for names in groups.values()]
    return [part for root, names in groups.items() for part in _split_root(settings, root, names)]


def _split_root(settings: Settings, root: Path, names: list[str]) -> Iterator[Settings]:
    """The project itself, without those inside it that name another platform, and these."""
    own = read(root).platform
    inside = find_nested_platforms(root, [Path(name) for name in names], own)
    if own is not None or not inside:
        yield replace(settings, paths=tuple(names), apart=_relative_names(root, inside))
    else:
        console = Console(settings.lang, settings.color, settings.quiet)
        console.say(console.text("project-rest", path=console.text("list-comma").join(names)))
    for folder in inside:
        yield replace(settings, paths=(str(folder),))


def _relative_names(root: Path, folders: Iterable[Path]) -> tuple[str, ...]:
    home = root.absolute()
    return tuple(Path(os.path.normpath(folder.absolute())).relative_to(home).as_posix() for folder in folders)
