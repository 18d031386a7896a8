"""Which lines of a project a branch changed, told without running anything that the repository names."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from ddp_codemod.patch.myers import find_changed_lines
from ddp_codemod.write.errors import WriteError
from ddp_codemod.write.git import Git, GitMissing
from ddp_codemod.write.repository import top_of


class NoBase(WriteError):
    """There is no repository, no git, or no such commit in it. ``base`` is what was asked for."""

    key = "diff-base-unknown"


def find_branch_changes(root: Path, base: str, files: Mapping[str, bytes]) -> dict[str, Collection[int]]:
    """For each file (its name from the root, its bytes now) the lines, from 1, that differ from where the branch left ``base``.

    A file that was not there then is new throughout. Raises NoBase, RepositoryUnreadable.
    """
    home = Path(os.path.realpath(root))
    top = top_of(home)
    if top is None:
        raise NoBase(base=base)
    try:
        git = Git.at(top)
    except GitMissing:
        raise NoBase(base=base) from None
    answer = git.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{base}^{{commit}}")
    if answer.code:
        raise NoBase(base=base)
    commit = answer.out.decode("ascii").strip()
    fork = git.run("merge-base", commit, "HEAD")
    start = fork.out.decode("ascii").split("\n")[0] if not fork.code else commit
    prefix = home.relative_to(os.path.realpath(top)).as_posix()
    paths = {name: name if prefix == "." else f"{prefix}/{name}" for name in files}
    old = _read_contents(git, start, list(paths.values()))
    return {name: _find_new_lines(old.get(paths[name]), data) for name, data in files.items()}


def _find_new_lines(old: bytes | None, new: bytes) -> Collection[int]:
    lines = _split_lines(new)
    if old is None:
        return range(1, len(lines) + 2)
    _, come = find_changed_lines(_split_lines(old), lines)
    return {number for number, is_new in enumerate(come, 1) if is_new}


def _split_lines(data: bytes) -> list[bytes]:
    """Without the ends of lines: git may hold others than the work tree."""
    return [line.rstrip(b"\r\n") for line in data.splitlines(keepends=True)]


def _read_contents(git: Git, commit: str, paths: Sequence[str]) -> dict[str, bytes]:
    """What a commit holds under these paths; those that it lacks are omitted."""
    asked = [path for path in paths if "\n" not in path]
    stdin = b"".join(b"%s:%s\n" % (commit.encode("ascii"), os.fsencode(path)) for path in asked)
    out = git.run("cat-file", "--batch", stdin=stdin).out
    found: dict[str, bytes] = {}
    at = 0
    for path in asked:
        end = out.find(b"\n", at)
        if end < 0:
            break
        head = out[at:end].split()
        at = end + 1
        if len(head) == 3 and head[2].isdigit():
            size = int(head[2])
            if head[1] == b"blob":
                found[path] = out[at : at + size]
            at += size + 1
    return found
