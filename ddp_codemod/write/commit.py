"""Writes changes and commits them: one commit that holds them and nothing else, or neither.

Whatever could make the commit hold more than the changes, or leave the repository in a state that nobody asked for, is refused
before the first byte is written.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from ddp_codemod.model import FileChange
from ddp_codemod.write.apply import Written, apply_changes
from ddp_codemod.write.errors import RepositoryUnreadable, WriteError
from ddp_codemod.write.git import Answer, Git, GitMissing
from ddp_codemod.write.journal import Why, note_commit
from ddp_codemod.write.lock import restore_on_termination
from ddp_codemod.write.repository import read_blobs, top_of
from ddp_codemod.write.undo import undo
from ddp_codemod.write.untrusted_repository import find_link_outside

# what git leaves in its folder while something is under way, and the word for it
_IN_PROGRESS = {
    "MERGE_HEAD": "merge",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase or am",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "sequencer": "cherry-pick or revert",
    "BISECT_LOG": "bisect",
}


class CommitRefused(WriteError):
    """Nothing was written and nothing committed; ``key`` says why."""

    def __init__(self, key: str, names: Sequence[str] = (), **args: object) -> None:
        self.key = key
        super().__init__(names, **args)


class HookStopped(WriteError):
    """A hook of the project stopped the commit. The changes are in the files; ``why`` is what was reported."""

    key = "commit-hook-stopped"


class Committed(Struct, frozen=True):
    """What was written, and the commit (its full id) on its branch."""

    written: Written
    id: str
    branch: str


class _Place(Struct, frozen=True):
    git: Git
    head: str
    branch: str  # "" where HEAD is detached
    paths: tuple[str, ...]  # from the top of the repository
    identity: tuple[str, ...]  # options that tell git who commits


def find_identity(root: Path) -> tuple[str, str] | None:
    """Name and address of whoever uses git here, as git would find them; None where it is told of none."""
    top = top_of(Path(os.path.realpath(root)))
    try:
        values = Git.at(top if top is not None else Path(os.path.realpath(root))).settings.values
    except (GitMissing, RepositoryUnreadable):
        values = {}
    name = os.environ.get("GIT_AUTHOR_NAME") or values.get("author.name") or values.get("user.name")
    address = (
        os.environ.get("GIT_AUTHOR_EMAIL") or values.get("author.email") or values.get("user.email") or os.environ.get("EMAIL")
    )
    return (name, address) if name and address else None


def commit_changes(
    root: Path,
    changes: Sequence[FileChange],
    message: str,
    *,
    branch: str | None = None,
    run_hooks: bool = False,
    why: Sequence[Why] = (),
) -> Committed:
    """Write the changes and commit them, on a new branch where one is named.

    The project's hooks run only with ``run_hooks``; then git is started as the user would start it. Raises WriteError:
    CommitRefused, or what ``apply_changes`` raises, with every file as it was; HookStopped with the changes written.
    """
    with restore_on_termination():
        return _write_and_commit(root, changes, message, branch, run_hooks, why)


def _write_and_commit(
    root: Path, changes: Sequence[FileChange], message: str, branch: str | None, run_hooks: bool, why: Sequence[Why]
) -> Committed:
    place = _find_place(root, changes, branch, run_hooks)
    written = apply_changes(root, changes, allow_dirty=False, why=why)
    try:
        if branch:
            _check_answer(place.git.run("branch", "--no-track", branch, place.head))
            _check_answer(place.git.run("symbolic-ref", "-m", "ddp-codemod", "HEAD", f"refs/heads/{branch}"))
        answer = _run_commit(place, message, run_hooks)
        if answer.code and run_hooks:
            raise HookStopped(sorted(written.names), why=answer.error or f"exit code {answer.code}")
        _check_answer(answer)
    except HookStopped:
        raise
    except BaseException:
        _revert_commit(root, place, branch)
        raise
    result = _check_answer(place.git.run("rev-parse", "HEAD")).out.decode("ascii").strip()
    if written.journal is not None:
        note_commit(written.journal, result)
    return Committed(written, result, branch or place.branch)


def _find_place(root: Path, changes: Sequence[FileChange], branch: str | None, run_hooks: bool) -> _Place:
    home = Path(os.path.realpath(root))
    top = top_of(home)
    if top is None:
        raise CommitRefused("commit-no-repository")
    try:
        git = Git.at(top)
        inside = git.run("rev-parse", "--is-inside-work-tree")
    except GitMissing:
        raise CommitRefused("commit-no-git") from None
    if inside.code:
        raise RepositoryUnreadable(why=inside.error)
    _check_states(git, branch)
    files = {change.name: Path(os.path.realpath(home / change.name)) for change in changes}
    if elsewhere := sorted(name for name, file in files.items() if top_of(file.parent) != top):
        raise CommitRefused("commit-elsewhere", elsewhere)
    _check_files(root, git, changes, {name: file.relative_to(top).as_posix() for name, file in files.items()})
    if git.settings.flag("commit.gpgsign") and not run_hooks:
        raise CommitRefused("commit-signed")
    who = find_identity(root)
    if who is None:
        raise CommitRefused("commit-nobody")
    options = tuple(
        part
        for role in ("author", "committer")
        for pair in ((f"{role}.name", who[0]), (f"{role}.email", who[1]))
        for part in ("-c", "=".join(pair))
    )
    current = git.run("symbolic-ref", "--quiet", "--short", "HEAD")
    head = _check_answer(git.run("rev-parse", "HEAD")).out.decode("ascii").strip()
    paths = tuple(sorted({file.relative_to(top).as_posix() for file in files.values()}))
    return _Place(git, head, "" if current.code else current.out.decode("utf-8", "surrogateescape").strip(), paths, options)


def _check_states(git: Git, branch: str | None) -> None:
    folder = Path(os.fsdecode(_check_answer(git.run("rev-parse", "--absolute-git-dir")).out.removesuffix(b"\n")))
    if not _is_git_folder_of(folder, git):
        raise CommitRefused("commit-git-elsewhere", path=folder)
    if (leading := find_link_outside(folder)) is not None:
        raise CommitRefused("commit-git-linked", path=leading)
    for name, word in _IN_PROGRESS.items():
        if (folder / name).exists():
            raise CommitRefused("commit-under-way", what=word)
    if (folder / "index.lock").exists():
        raise CommitRefused("commit-locked", path=folder / "index.lock")
    if git.run("rev-parse", "--quiet", "--verify", "HEAD^{commit}").code:
        raise CommitRefused("commit-unborn")
    if branch is None:
        if git.run("symbolic-ref", "--quiet", "HEAD").code:
            raise CommitRefused("commit-detached")
    elif branch.startswith("-") or git.run("check-ref-format", f"refs/heads/{branch}").code or branch == "HEAD":
        raise CommitRefused("commit-branch-name", branch=branch)
    elif not git.run("show-ref", "--verify", "--quiet", f"refs/heads/{branch}").code:
        raise CommitRefused("commit-branch-exists", branch=branch)


def _is_git_folder_of(folder: Path, git: Git) -> bool:
    """Whether git's folder belongs to this work tree: it lies in it, or names it (a linked work tree, a submodule).

    A ``.git`` file can point anywhere; a commit is not to go into another repository of the reader's.
    """
    top, real = git.top, Path(os.path.realpath(folder))
    if real == Path(os.path.realpath(top / ".git")) and not (top / ".git").is_symlink() and (top / ".git").is_dir():
        return True
    with contextlib.suppress(OSError):
        named = (real / "gitdir").read_text("utf-8", "surrogateescape").strip()
        return os.path.realpath(real / named) == os.path.realpath(top / ".git")
    return os.path.realpath(real / git.settings.values.get("core.worktree", "")) == os.path.realpath(top)


def _check_files(root: Path, git: Git, changes: Sequence[FileChange], paths: dict[str, str]) -> None:
    """A commit takes whole files: what else is in them would go along."""
    blobs = read_blobs(root, list(paths))
    unknown, rewritten, other = [], [], []
    for change in changes:
        blob = blobs.get(change.name)
        if blob is None or not blob.known:
            unknown.append(change.name)
        elif blob.converter:
            rewritten.append(change.name)
        elif not blob.holds(change.before):
            other.append(change.name)
    staged = _check_answer(
        git.run("diff-index", "--cached", "--name-only", "-z", "--no-renames", "HEAD", "--", *paths.values())
    ).out
    in_index = {os.fsdecode(path) for path in staged.split(b"\0")[:-1]}
    other += [name for name, path in paths.items() if path in in_index and name not in (*unknown, *other)]
    for key, names in (("commit-unknown", unknown), ("commit-rewritten", rewritten), ("commit-other-work", other)):
        if names:
            raise CommitRefused(key, sorted(names))


def _run_commit(place: _Place, message: str, run_hooks: bool) -> Answer:
    words = ["commit", "--quiet", "--only", "--cleanup=whitespace", "--file=-", "--", *place.paths]
    text = message.encode("utf-8", "replace")
    if run_hooks:
        return place.git.run_as_user(*place.identity, *words, stdin=text)
    return place.git.run(*place.identity, "-c", "commit.gpgSign=false", "-c", "i18n.commitEncoding=UTF-8", *words, stdin=text)


def _revert_commit(root: Path, place: _Place, branch: str | None) -> None:
    """The files, HEAD and the branches as they were."""
    if branch:
        if place.branch:
            place.git.run("symbolic-ref", "HEAD", f"refs/heads/{place.branch}")
        else:
            place.git.run("update-ref", "--no-deref", "HEAD", place.head)
        place.git.run("update-ref", "-d", f"refs/heads/{branch}", place.head)
    with contextlib.suppress(WriteError):
        undo(root)


def _check_answer(answer: Answer) -> Answer:
    if answer.code:
        raise CommitRefused("commit-failed", why=answer.error or f"exit code {answer.code}")
    return answer
