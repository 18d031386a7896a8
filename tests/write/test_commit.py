"""Commits in real repositories, in every state that people leave them in."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ddp_codemod.model import FileChange
from ddp_codemod.write import commit as module
from ddp_codemod.write.commit import CommitRefused, Committed, HookStopped, commit_changes, find_identity
from ddp_codemod.write.errors import RepositoryUnreadable, WriteError

CODE = b'import torch.distributed as dist\ndist.init_process_group("nccl")\n'
Repo = Any


def state(repo: Repo) -> tuple[bytes, ...]:
    """Files, index, HEAD, branches and configuration: what a refusal has to leave alone."""
    asked = (
        ("status", "--porcelain=v2", "--branch"),
        ("for-each-ref",),
        ("ls-files", "--stage"),
        ("config", "--list", "--local"),
    )
    return (repr(repo.tree()).encode(), *(repo.git(*words) for words in asked))


def refused(repo: Repo, *changes: FileChange, key: str, **options: Any) -> WriteError:
    before = state(repo)
    with pytest.raises(WriteError) as why:
        commit_changes(repo.top, changes, "subject\n\nbody\n", **options)
    assert why.value.reason.key == key
    assert state(repo) == before
    return why.value


@pytest.fixture
def ready(repo: Repo) -> Repo:
    repo.commit(a=CODE, b=CODE)
    return repo


def committed(repo: Repo, name: str = "a.py", **options: Any) -> Committed:
    return commit_changes(repo.top, [repo.change(name)], "subject\n\nbody\n\nKey: value\n", **options)


def test_one_commit_with_the_changes_and_nothing_else(ready: Repo) -> None:
    made = committed(ready)
    assert ready.git("rev-list", "--count", "HEAD") == b"2\n"
    assert ready.git("rev-parse", "HEAD").decode().strip() == made.id
    assert made.branch == "main"
    assert ready.git("show", "--format=%an <%ae>|%cn <%ce>|%B", "--name-only", "HEAD").decode().split("|") == [
        "Test <test@example.com>",
        "Test <test@example.com>",
        "subject\n\nbody\n\nKey: value\n\n\na.py\n",
    ]
    assert ready.git("log", "-1", "--format=%(trailers)").strip() == b"Key: value"
    assert ready.git("status", "--porcelain") == b""


def test_other_work_stays_as_it_is(ready: Repo) -> None:
    (ready.top / "b.py").write_bytes(CODE + b"# staged\n")
    ready.git("add", "b.py")
    (ready.top / "b.py").write_bytes(CODE + b"# staged\n# not staged\n")
    (ready.top / "new.py").write_bytes(b"1\n")
    committed(ready)
    assert ready.git("show", "--format=", "--name-only", "HEAD") == b"a.py\n"
    assert ready.git("status", "--porcelain") == b"MM b.py\n?? new.py\n"


def test_on_a_new_branch(ready: Repo) -> None:
    before = ready.git("rev-parse", "main")
    made = committed(ready, branch="port/rocm")
    assert made.branch == "port/rocm"
    assert ready.git("symbolic-ref", "HEAD") == b"refs/heads/port/rocm\n"
    assert ready.git("rev-parse", "main") == before == ready.git("rev-parse", "HEAD~1")


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("main", "commit-branch-exists"),
        *((bad, "commit-branch-name") for bad in ("a b", "-d", "a..b", "x.lock", "", "a~1", "HEAD")),
    ],
)
def test_names_that_are_no_new_branch(ready: Repo, name: str, key: str) -> None:
    refused(ready, ready.change("a.py"), key=key, branch=name)


def test_detached(ready: Repo) -> None:
    ready.git("checkout", "-q", "--detach")
    refused(ready, ready.change("a.py"), key="commit-detached")
    assert committed(ready, branch="port").branch == "port"


def conflict(repo: Repo) -> None:
    repo.git("checkout", "-q", "-b", "other")
    repo.commit(c=b"1\n")
    repo.git("checkout", "-q", "main")
    repo.commit(c=b"2\n")


def broken(repo: Repo, *words: str) -> None:
    with pytest.raises(AssertionError):
        repo.git(*words)


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("merge", "other"), "merge"),
        (("rebase", "other"), "rebase"),
        (("cherry-pick", "other"), "cherry-pick"),
        (("revert", "--no-commit", "HEAD"), "revert"),
        (("bisect", "start"), "bisect"),
    ],
)
@pytest.mark.parametrize("options", [{}, {"branch": "new"}])
def test_something_under_way(ready: Repo, words: tuple[str, ...], what: str, options: dict[str, str]) -> None:
    conflict(ready)
    (ready.git if what in ("revert", "bisect") else lambda *given: broken(ready, *given))(*words)
    why = refused(ready, ready.change("a.py"), key="commit-under-way", **options)
    assert dict(why.reason.args)["what"] == what


def test_another_git_at_work(ready: Repo) -> None:
    (ready.top / ".git/index.lock").touch()
    before = ready.tree()
    with pytest.raises(CommitRefused) as why:
        committed(ready)
    assert (why.value.reason.key, ready.tree()) == ("commit-locked", before)


def test_no_commit_yet(repo: Repo) -> None:
    (repo.top / "a.py").write_bytes(CODE)
    repo.git("add", "-A")
    before = repo.tree()
    with pytest.raises(CommitRefused) as why:
        committed(repo)
    assert (why.value.reason.key, repo.tree()) == ("commit-unborn", before)


def test_no_repository(project: Path) -> None:
    (project / "a.py").write_bytes(CODE)
    with pytest.raises(CommitRefused) as why:
        commit_changes(project, [FileChange("a.py", CODE, b"1\n")], "m")
    assert why.value.reason.key == "commit-no-repository"
    assert (project / "a.py").read_bytes() == CODE


def test_no_git(ready: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    change, before = ready.change("a.py"), ready.tree()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CommitRefused) as why:
        commit_changes(ready.top, [change], "m")
    assert (why.value.reason.key, ready.tree()) == ("commit-no-git", before)


@pytest.mark.parametrize("stage", [False, True])
def test_changes_of_one_s_own_in_the_same_file(ready: Repo, stage: bool) -> None:
    (ready.top / "a.py").write_bytes(CODE + b"# mine\n")
    if stage:
        ready.git("add", "a.py")
    assert refused(ready, ready.change("a.py"), key="commit-other-work").names == ("a.py",)


def test_staged_and_taken_back_in_the_file(ready: Repo) -> None:
    (ready.top / "a.py").write_bytes(CODE + b"# mine\n")
    ready.git("add", "a.py")
    (ready.top / "a.py").write_bytes(CODE)
    refused(ready, ready.change("a.py"), key="commit-other-work")


def test_a_file_that_git_does_not_know(ready: Repo) -> None:
    (ready.top / "new.py").write_bytes(CODE)
    assert refused(ready, ready.change("a.py"), ready.change("new.py"), key="commit-unknown").names == ("new.py",)


def test_a_filter_is_not_run(ready: Repo, tmp_path: Path) -> None:
    ready.git("config", "filter.f.clean", f"touch {tmp_path / 'ran'}; cat")
    ready.commit(c=b"1\n")
    (ready.top / ".gitattributes").write_text("a.py filter=f\n")
    change = ready.change("a.py")
    before = ready.tree()
    with pytest.raises(CommitRefused) as why:
        commit_changes(ready.top, [change], "m")
    assert (why.value.reason.key, ready.tree()) == ("commit-rewritten", before)
    assert not (tmp_path / "ran").exists()


def test_line_ends_are_the_repository_s(ready: Repo) -> None:
    (ready.top / ".gitattributes").write_text("*.py text\n")
    ready.commit()
    (ready.top / "a.py").write_bytes(CODE.replace(b"\n", b"\r\n"))
    committed(ready)
    assert ready.git("show", "HEAD:a.py") == CODE.replace(b"nccl", b"gloo")
    assert ready.read("a.py") == CODE.replace(b"nccl", b"gloo").replace(b"\n", b"\r\n")


def test_a_linked_worktree(ready: Repo, tmp_path: Path) -> None:
    ready.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    side = type(ready)(tmp_path / "side")
    main = ready.git("rev-parse", "main")
    assert committed(side).branch == "side"
    assert ready.git("rev-parse", "main") == main
    assert side.git("status", "--porcelain") == ready.git("status", "--porcelain") == b""
    conflict(ready)
    broken(ready, "merge", "other")  # what is under way in one worktree is nothing to the other
    committed(side, "b.py")


@pytest.fixture
def outer(ready: Repo, tmp_path: Path) -> Repo:
    """A repository with ``ready`` as its submodule ``sub``."""
    top = tmp_path / "outer"
    top.mkdir()
    made = type(ready)(top)
    made.git("init", "-q")
    made.commit(a=CODE)
    made.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(ready.top), "sub")
    made.git("commit", "-q", "-m", "submodule")
    return made


def test_files_of_a_submodule_are_not_committed_from_outside(outer: Repo) -> None:
    assert refused(outer, outer.change("a.py"), outer.change("sub/a.py"), key="commit-elsewhere").names == ("sub/a.py",)


def test_inside_a_submodule(outer: Repo) -> None:
    sub = type(outer)(outer.top / "sub")
    committed(sub, branch="port")
    assert sub.git("show", "--format=", "--name-only", "HEAD") == b"a.py\n"
    assert outer.git("status", "--porcelain") == b" M sub\n"


def test_a_shallow_clone(ready: Repo, tmp_path: Path) -> None:
    ready.commit(c=b"1\n")
    ready.git("clone", "-q", "--depth", "1", ready.top.as_uri(), str(tmp_path / "shallow"))
    shallow = type(ready)(tmp_path / "shallow")
    committed(shallow)
    assert shallow.git("rev-list", "--count", "HEAD") == b"2\n"


@pytest.mark.parametrize("kind", ["blob:none", "tree:0"])
def test_a_partial_clone_fetches_nothing(ready: Repo, tmp_path: Path, kind: str) -> None:
    ready.git("config", "uploadpack.allowFilter", "true")
    ready.git("clone", "-q", f"--filter={kind}", ready.top.as_uri(), str(tmp_path / "partial"))
    partial = type(ready)(tmp_path / "partial")
    shutil.move(ready.top, tmp_path / "gone")  # the place that it was cloned from
    committed(partial)
    assert partial.git("show", "--format=", "--name-only", "HEAD") == b"a.py\n"


@pytest.fixture
def nobody(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home in which git is told nothing about its user."""
    (own_home / ".gitconfig").write_text("[init]\n\tdefaultBranch = main\n")
    monkeypatch.delenv("EMAIL", raising=False)
    return own_home


def test_no_name_set(ready: Repo, nobody: Path) -> None:
    refused(ready, ready.change("a.py"), key="commit-nobody")
    assert find_identity(ready.top) is None


def test_a_name_of_the_repository(ready: Repo, nobody: Path) -> None:
    ready.git("config", "user.name", "Local")
    ready.git("config", "user.email", "local@example.com")
    committed(ready)
    assert ready.git("log", "-1", "--format=%an %ce") == b"Local local@example.com\n"


def test_a_name_of_the_environment(ready: Repo, nobody: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Env")
    monkeypatch.setenv("GIT_AUTHOR_EMAIL", "env@example.com")
    committed(ready)
    assert ready.git("log", "-1", "--format=%an %ce") == b"Env env@example.com\n"


def test_commits_that_are_to_be_signed(ready: Repo) -> None:
    ready.git("config", "commit.gpgSign", "true")
    ready.git("config", "gpg.program", "false")
    refused(ready, ready.change("a.py"), key="commit-signed")


HOOKS = (
    "pre-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "post-checkout",
    "reference-transaction",
    "post-index-change",
)


def hook(repo: Repo, name: str, text: str) -> None:
    path = repo.top / ".git/hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)


@pytest.mark.skipif(sys.platform == "win32", reason="hooks are shell scripts")
def test_hooks_are_not_run(ready: Repo, tmp_path: Path) -> None:
    for name in HOOKS:
        hook(ready, name, f"echo {name} >> '{tmp_path / 'ran'}'\nexit 1\n")
    committed(ready, branch="port")
    assert not (tmp_path / "ran").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="hooks are shell scripts")
def test_hooks_run_when_asked_for(ready: Repo, tmp_path: Path) -> None:
    for name in ("pre-commit", "commit-msg", "post-commit"):
        hook(ready, name, f"echo {name} >> '{tmp_path / 'ran'}'\n")
    committed(ready, run_hooks=True)
    assert (tmp_path / "ran").read_text().split() == ["pre-commit", "commit-msg", "post-commit"]


@pytest.mark.skipif(sys.platform == "win32", reason="hooks are shell scripts")
def test_a_hook_that_says_no(ready: Repo) -> None:
    hook(ready, "pre-commit", "echo no such thing >&2\nexit 1\n")
    with pytest.raises(HookStopped) as why:
        committed(ready, run_hooks=True)
    assert "no such thing" in dict(why.value.reason.args)["why"]
    assert ready.git("rev-list", "--count", "HEAD") == b"1\n"
    assert b"gloo" in ready.read("a.py")


@pytest.mark.parametrize(("options", "detach"), [({}, False), ({"branch": "port"}, False), ({"branch": "port"}, True)])
def test_a_commit_that_fails_leaves_everything_as_it_was(
    ready: Repo, monkeypatch: pytest.MonkeyPatch, options: dict[str, str], detach: bool
) -> None:
    if detach:
        ready.git("checkout", "-q", "--detach")

    def fails(*_: object) -> module.Answer:
        return module.Answer(128, b"", "no space left")

    monkeypatch.setattr(module, "_run_commit", fails)
    why = refused(ready, ready.change("a.py"), key="commit-failed", **options)
    assert dict(why.reason.args)["why"] == "no space left"


def test_names_are_not_patterns(ready: Repo) -> None:
    (ready.top / "[ab].py").write_bytes(CODE)
    (ready.top / ":(glob)c.py").write_bytes(CODE)
    ready.git("add", "-A")
    ready.git("commit", "-q", "-m", "names")
    commit_changes(ready.top, [ready.change("[ab].py"), ready.change(":(glob)c.py")], "m\n")
    assert ready.git("show", "--format=", "--name-only", "HEAD") == b":(glob)c.py\n[ab].py\n"


def test_a_repository_of_somebody_else(ready: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    real: Callable[..., Any] = module.Git.run

    def run(self: Any, *args: str, **more: Any) -> Any:
        answer = real(self, *args, **more)
        return module.Answer(128, b"", "dubious ownership") if args[0] == "rev-parse" else answer

    monkeypatch.setattr(module.Git, "run", run)
    with pytest.raises(RepositoryUnreadable):
        committed(ready)


@pytest.mark.parametrize("how", ["file", "link"])
def test_a_git_that_leads_to_another_repository(ready: Repo, tmp_path: Path, how: str) -> None:
    """What a project from an archive may bring: its commit would go into a repository of the reader's."""
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "a.py").write_bytes(ready.read("a.py"))
    if how == "file":
        (copy / ".git").write_text(f"gitdir: {ready.top / '.git'}\n")
    else:
        (copy / ".git").symlink_to(ready.top / ".git")
    before = ready.git("rev-parse", "HEAD")
    change = FileChange("a.py", ready.read("a.py"), b"new\n")
    with pytest.raises(CommitRefused) as caught:
        commit_changes(copy, [change], "message")
    assert caught.value.key == "commit-git-elsewhere"
    assert ready.git("rev-parse", "HEAD") == before
    assert (copy / "a.py").read_bytes() == change.before


LINKED = (
    "index",
    "objects",
    "objects/pack",
    "logs",
    "logs/HEAD",
    "logs/refs/heads",
    "refs",
    "refs/heads",
    "refs/heads/main",
    "packed-refs",
)


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege")
@pytest.mark.parametrize("how", ["commondir", "commondir in a linked work tree", *LINKED])
@pytest.mark.parametrize("branch", [None, "new"])
def test_a_part_of_git_that_leads_to_another_repository(
    repo: Repo, ready: Repo, tmp_path: Path, how: str, branch: str | None
) -> None:
    """An unpacked archive brings a .git of any making; what it leads to is the reader's."""
    copy = tmp_path / "copy"
    shutil.copytree(ready.top, copy)
    there, mine = ready.top / ".git", copy / ".git"
    (there / "packed-refs").touch()
    if how == "commondir":
        (mine / "commondir").write_text(f"{there}\n")
    elif how == "commondir in a linked work tree":
        (copy / "sub").mkdir()
        mine.rename(copy / "sub" / "git")
        mine.write_text("gitdir: sub/git\n")
        (copy / "sub" / "git" / "gitdir").write_text("../../.git\n")
        (copy / "sub" / "git" / "commondir").write_text(f"{there}\n")
    else:
        if (mine / how).is_dir():
            shutil.rmtree(mine / how)
        else:
            (mine / how).unlink(missing_ok=True)
        (mine / how).parent.mkdir(parents=True, exist_ok=True)
        (mine / how).symlink_to(there / how)
    before, files = state(ready), {path: path.read_bytes() for path in there.rglob("*") if path.is_file()}
    change = FileChange("a.py", CODE, b"new\n")
    with pytest.raises(WriteError) as caught:
        commit_changes(copy, [change], "message", branch=branch)
    assert caught.value.reason.key in ("commit-git-linked", "commit-git-elsewhere")
    assert (copy / "a.py").read_bytes() == CODE
    assert {path: path.read_bytes() for path in there.rglob("*") if path.is_file()} == files
    assert state(ready) == before


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes in folders")
@pytest.mark.parametrize(
    "name", [".git/config", ".git/index", ".git/HEAD", ".git/packed-refs", ".git/info/exclude", ".gitattributes"]
)
def test_a_pipe_in_git_is_told_at_once(ready: Repo, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    path = ready.top / name
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    monkeypatch.setattr("ddp_codemod.write.git.TIMEOUT", 600.0)  # whoever waits, waits
    with pytest.raises(RepositoryUnreadable) as caught:
        committed(ready)
    assert name in dict(caught.value.reason.args)["why"]
