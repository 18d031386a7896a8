"""Reads what a branch of a repository on this machine stands at from two small files: git is not started, no configuration is read.

Only what is plain is taken: the default branch by ``HEAD``, a branch by its own file, both regular files of one short line, in
folders that are no links, of the user who asks. All else (packed and other stores of branches, work trees, links, tags, somebody
else's repository) is for git to say.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

_WORD = r"[\w-]+(?:\.[\w-]+)*"
_BRANCH = re.compile(rf"refs/heads/{_WORD}(?:/{_WORD})*", re.A)
_COMMIT = re.compile(r"[0-9a-f]{40}", re.A)
_LONGEST = 1024  # bytes


def standing(at: Path, ref: str | None = None) -> str | None:
    """The commit of a branch (None: the default branch) of the repository whose git folder is ``at``; None where git has to say."""
    if not _is_folder(at, os.geteuid()) or os.path.lexists(at / "commondir"):
        return None
    if ref is None:
        said = _line(at / "HEAD") or ""
        if _COMMIT.fullmatch(said):
            return said
        branch = said.removeprefix("ref: ") if said.startswith("ref: ") else ""
    else:
        branch = ref if ref.startswith("refs/") else f"refs/heads/{ref}"
    # no name of a branch ends so: a file that does is one that git is about to rename
    if not _BRANCH.fullmatch(branch) or ".lock/" in f"{branch}/":
        return None
    file = at / branch
    folders = file.parents[: branch.count("/")]
    said = _line(file) or "" if all(map(_is_folder, folders)) else ""
    return said if _COMMIT.fullmatch(said) else None


def _is_folder(path: Path, owner: int | None = None) -> bool:
    """Whether it is one, and no link to one."""
    try:
        found = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and owner in (None, found.st_uid)


def _line(path: Path) -> str | None:
    """The one line of a small regular file."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return None
        # should another one have come in its place: a link is not followed, and nothing waits for the other end of a pipe
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            data = os.read(handle, _LONGEST)
        finally:
            os.close(handle)
        return data.removesuffix(b"\n").decode("ascii") if len(data) < _LONGEST else None
    except (OSError, UnicodeDecodeError):
        return None
