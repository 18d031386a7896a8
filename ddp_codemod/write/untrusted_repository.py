"""What lies in a repository's own folder that leads out of it, or waits: an unpacked archive may contain a ``.git`` of any making.

Git follows links and ``commondir`` wherever they go, and writes there: a commit would move another repository's branches.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

_DEEP = ("refs", "logs", "reftable", "worktrees")  # whose folders git writes into at any depth
_FLAT = ("", "info", "objects", "objects/pack", "objects/info")
_LONGEST = 4096  # of a path, in bytes


def find_link_outside(folder: Path) -> Path | None:
    """The first thing in a repository's folder by which git would write elsewhere, if there is any.

    ``folder`` is what ``git rev-parse --absolute-git-dir`` gives. A linked work tree's lies among the ``worktrees`` of the repository
    that its ``commondir`` names (gitrepository-layout(5)); nothing else has one.
    """
    real = Path(os.path.realpath(folder))
    common = real
    if os.path.lexists(real / "commondir"):
        named = _read_line(real / "commondir")
        common = Path(os.path.realpath(real / named)) if named else real
        if not named or real.parent != common / "worktrees" or os.path.lexists(common / "commondir"):
            return real / "commondir"
    return next((path for at in dict.fromkeys((real, common)) for path in _find_links(at)), None)


def find_blocking_file(git: Path) -> Path | None:
    """A pipe or device where git reads a file, which would keep it waiting; ``git`` is a work tree's ``.git``."""
    folders = [git, git / "info"] if git.is_dir() else []
    for path in (git, *(path for folder in folders for path in _list_folder(folder))):
        if _is_blocking(path):
            return path
    return None


def find_blocking_attributes(top: Path, names: Iterable[str]) -> Path | None:
    """The same for the ``.gitattributes`` that git reads for files of a work tree."""
    folders = {folder for name in names for folder in Path(name).parents}
    return next((path for folder in sorted(folders) if _is_blocking(path := top / folder / ".gitattributes")), None)


def _is_blocking(path: Path) -> bool:
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _find_links(at: Path) -> Iterator[Path]:
    todo = [at / name for name in (*_FLAT, *_DEEP)]
    while todo:
        folder = todo.pop()
        for path in _list_folder(folder):
            if path.is_symlink() or _is_blocking(path):
                yield path
            elif path.is_dir() and path.relative_to(at).parts[0] in _DEEP:
                todo.append(path)


def _list_folder(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _read_line(path: Path) -> str:
    """The one line of a small plain file; "" where it is none."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return ""
        with path.open("rb") as file:
            return os.fsdecode(file.read(_LONGEST)).strip()
    except OSError:
        return ""
