"""Reads what a branch of a repository on this machine is at from small files: git is not started, no configuration is read.

Only what is plain is taken: the default branch by ``HEAD``, a branch by its own file or, where it has none, by ``packed-refs``, all
of them regular files, in folders that are no links, of the user who asks. All else (other stores of branches, work trees, links,
tags, somebody else's repository) is for git to say.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

_WORD = r"[\w-]+(?:\.[\w-]+)*"
_BRANCH = re.compile(rf"refs/heads/{_WORD}(?:/{_WORD})*", re.A)
_COMMIT = re.compile(r"[0-9a-f]{40}", re.A)
_LONGEST, _MOST = 1024, 4 << 20  # bytes, of a line and of all packed branches


def read_branch_commit(at: Path, ref: str | None = None) -> str | None:
    """The commit of a branch (None: the default branch) of the repository whose git folder is ``at``; None where git has to say."""
    if not _is_folder(at, os.geteuid()) or os.path.lexists(at / "commondir"):
        return None
    if ref is None:
        said = _read_line(at / "HEAD") or ""
        if _COMMIT.fullmatch(said):
            return said
        branch = said.removeprefix("ref: ") if said.startswith("ref: ") else ""
    else:
        branch = ref if ref.startswith("refs/") else f"refs/heads/{ref}"
    # no name of a branch ends so: a file that does is one that git is about to rename
    if not _BRANCH.fullmatch(branch) or ".lock/" in f"{branch}/":
        return None
    file = at / branch
    if not all(_is_folder(folder) or not os.path.lexists(folder) for folder in file.parents[: branch.count("/")]):
        return None
    if os.path.lexists(file):
        said = _read_line(file) or ""
        return said if _COMMIT.fullmatch(said) else None
    packed = re.search(rf"^([0-9a-f]{{40}}) {re.escape(branch)}$", _read_text(at / "packed-refs", _MOST) or "", re.M)
    return packed[1] if packed else None


def _is_folder(path: Path, owner: int | None = None) -> bool:
    """Whether it is one, and no link to one."""
    try:
        found = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and owner in (None, found.st_uid)


def _read_line(path: Path) -> str | None:
    """The one line of a small regular file."""
    found = _read_text(path, _LONGEST)
    return None if found is None else found.removesuffix("\n")


def _read_text(path: Path, longest: int) -> str | None:
    """What is in a regular file that is not longer."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return None
        # should another one have come in its place: a link is not followed, and nothing waits for the other end of a pipe
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            data = os.read(handle, longest)
        finally:
            os.close(handle)
    except OSError:
        return None
    return data.decode("latin-1") if len(data) < longest else None
