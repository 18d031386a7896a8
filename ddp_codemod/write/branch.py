"""Which lines of a project a branch changed, told without running anything that the repository names."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from ddp_codemod.patch.myers import find_changed_lines
from ddp_codemod.write.errors import WriteError
from ddp_codemod.write.git import Git, GitMissing
from ddp_codemod.write.repository import top_of

_AT_ONCE = 200  # paths of one command line


class NoBase(WriteError):
    """There is no repository, no git, or no such commit in it. ``base`` is what was asked for."""

    key = "diff-base-unknown"


class BranchChanges(Struct, frozen=True):
    """The lines of each file, from 1, that a branch changed, and the files of which the old text cannot be read.

    ``old``: what the files held that the branch changed.
    """

    lines: dict[str, Collection[int]]
    unread: tuple[str, ...] = ()
    old: dict[str, bytes] = {}


def find_branch_changes(root: Path, base: str, files: Mapping[str, bytes]) -> BranchChanges:
    """What differs in each file (its name from the root, its bytes now) from where the branch left ``base``.

    A file that was not there then is new throughout; so is one whose old text git lacks, as in a partial clone, if it is another now.
    Raises NoBase, RepositoryUnreadable.
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
    known = _read_blob_ids(git, start, [path for path in paths.values() if path not in old])
    same = {name for name, data in files.items() if (ident := known.get(paths[name])) and ident in _make_blob_ids(data, ident)}
    lines = {name: () if name in same else _find_new_lines(old.get(paths[name]), data) for name, data in files.items()}
    unread = tuple(sorted(name for name in files if paths[name] in known and name not in same))
    before = {name: old[path] for name, path in paths.items() if path in old and old[path] != files[name]}
    return BranchChanges(lines, unread, before)


def _find_new_lines(old: bytes | None, new: bytes) -> Collection[int]:
    lines = _split_lines(new)
    if old is None:
        return range(1, len(lines) + 2)
    _, come = find_changed_lines(_split_lines(old), lines)
    return {number for number, is_new in enumerate(come, 1) if is_new}


def _split_lines(data: bytes) -> list[bytes]:
    """Without the ends of lines: git may hold others than the work tree."""
    return [line.rstrip(b"\r\n") for line in data.splitlines(keepends=True)]


def _read_blob_ids(git: Git, commit: str, paths: Sequence[str]) -> dict[str, str]:
    """What a commit calls the contents of these paths, also where it has none of them here; those that it lacks are omitted."""
    found: dict[str, str] = {}
    for at in range(0, len(paths), _AT_ONCE):
        for entry in git.run("ls-tree", "-z", "--full-tree", commit, "--", *paths[at : at + _AT_ONCE]).out.split(b"\0"):
            head, _, path = entry.partition(b"\t")
            if len(words := head.split()) == 3 and words[1] == b"blob":
                found[os.fsdecode(path)] = words[2].decode("ascii")
    return found


def _make_blob_ids(data: bytes, like: str) -> set[str]:
    """What git calls some bytes, as they are and with its own ends of lines."""
    kind = hashlib.sha1 if len(like) == hashlib.sha1().digest_size * 2 else hashlib.sha256
    return {kind(b"blob %d\0" % len(one) + one).hexdigest() for one in (data, data.replace(b"\r\n", b"\n"))}


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
