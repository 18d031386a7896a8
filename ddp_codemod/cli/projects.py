"""Several projects in one run: a monorepo in which each names its own platform, or paths that belong to different ones."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from ddp_codemod.cli.console import Console
from ddp_codemod.cli.errors import Failure
from ddp_codemod.cli.settings import Settings
from ddp_codemod.discover.config import FILE, ConfigError, read
from ddp_codemod.discover.root import find_root

LISTED = ("text", "github")  # formats of which several are one; a document is about one project
_DEPTH = 4  # folders below a path in which projects are looked for
_PASSED_OVER = frozenset({"node_modules", "venv", "site-packages", "__pycache__", "build", "dist"})


def each(settings: Settings, command: Callable[[Settings], Any]) -> Any:
    """Run a command for each project that is meant; its exit code is the highest of theirs."""
    parts = _parts(settings) if settings.format in LISTED else [settings]
    if len(parts) == 1:
        return command(parts[0])
    console = Console(settings.lang, settings.color, settings.quiet)
    codes: list[Any] = []
    for part in parts:
        console.say(("\n" if codes else "") + console.text("project-head", path=console.text("list-comma").join(part.paths)))
        codes.append(command(part))
    return max(codes)


def _parts(settings: Settings) -> list[Settings]:
    paths = {name: Path(name) for name in settings.paths}
    if not all(path.exists() for path in paths.values()):
        return [settings]  # which is told elsewhere
    groups: dict[Path, list[str]] = {}
    try:
        groups[find_root(list(paths.values()))] = list(paths)
    except ValueError:
        for name, path in paths.items():
            groups.setdefault(find_root([path]), []).append(name)
    if settings.platform is not None:
        return [replace(settings, paths=tuple(names)) for names in groups.values()]
    return [part for root, names in groups.items() for part in _of_root(settings, root, names)]


def _of_root(settings: Settings, root: Path, names: list[str]) -> Iterator[Settings]:
    """The project itself, without those inside it that name another platform, and these."""
    own = _platform(root)
    inside = {
        folder: name
        for name in names
        for folder in _folders(Path(name))
        if Path(os.path.normpath(folder.absolute())) != root and (named := _platform(folder)) is not None and named != own
    }
    home = root.absolute()
    apart = tuple(Path(os.path.normpath(folder.absolute())).relative_to(home).as_posix() for folder in inside)
    if own is not None or not inside:
        yield replace(settings, paths=tuple(names), apart=apart)
    else:
        console = Console(settings.lang, settings.color, settings.quiet)
        console.say(console.text("project-rest", path=console.text("list-comma").join(names)))
    for folder in inside:
        yield replace(settings, paths=(str(folder),))


def _platform(folder: Path) -> str | None:
    try:
        return read(folder).platform
    except ConfigError as why:
        raise Failure(why.reason) from None


def _folders(top: Path, depth: int = 0) -> Iterator[Path]:
    """Folders with a pyproject.toml, from a path down; links are not followed."""
    try:
        entries = sorted(os.scandir(top), key=lambda entry: entry.name) if top.is_dir() else []
    except OSError:
        return
    if any(entry.name == FILE for entry in entries):
        yield top
    for entry in entries:
        if depth < _DEPTH and entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
            if entry.name not in _PASSED_OVER:
                yield from _folders(top / entry.name, depth + 1)
