"""What lies inside a project and is none of it: projects that name a platform of their own, and other repositories."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from ddp_codemod.discover.config import FILE, read
from ddp_codemod.discover.files import walk_files
from ddp_codemod.discover.listing import is_in_work_tree

_DEPTH = 4  # folders below a path in which projects are looked for
_PASSED_OVER = frozenset({"node_modules", "venv", "site-packages", "__pycache__", "build", "dist"})


def find_nested_platforms(root: Path, names: Sequence[Path], own: str | None) -> dict[Path, str]:
    """The projects below some paths that name another platform than the project of the root, and which. Raises ConfigError."""
    found = {}
    in_git = is_in_work_tree(root.absolute())
    for folder in (folder for name in names for folder in _walk_project_folders(name, in_git)):
        if Path(os.path.normpath(folder.absolute())) != root and (named := read(folder).platform) not in (None, own):
            found[folder] = named or ""
    return found


def find_repositories(paths: Sequence[Path]) -> list[Path]:
    """The submodules and clones below some paths, where these lie in a work tree of git themselves."""
    found: list[str] = []
    for path in paths:
        if path.is_dir() and is_in_work_tree(path.absolute()):
            for _ in walk_files(path, [path], ("\0",), inner=found.append):
                pass
    return list(dict.fromkeys(map(Path, found)))


def _walk_project_folders(top: Path, in_git: bool, depth: int = 0) -> Iterator[Path]:
    """Folders with a pyproject.toml, from a path down; links are not followed, and other repositories not entered."""
    try:
        entries = sorted(os.scandir(top), key=lambda entry: entry.name) if top.is_dir() else []
    except OSError:
        return
    names = {entry.name for entry in entries}
    if depth and in_git and ".git" in names:
        return
    if FILE in names:
        yield top
    for entry in entries:
        if depth < _DEPTH and entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
            if entry.name not in _PASSED_OVER:
                yield from _walk_project_folders(top / entry.name, in_git, depth + 1)
