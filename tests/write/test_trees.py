"""Trees that bite a tool which trusts what it finds: odd names, links, owners, and the states that git leaves files in."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.edits.render import render
from ddp_codemod.model import FileChange, Survey
from ddp_codemod.patch.gitdiff import format_git_diff
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey
from ddp_codemod.write.apply import apply_changes
from ddp_codemod.write.commit import commit_changes
from ddp_codemod.write.errors import DirtyFiles
from ddp_codemod.write.repository import find_blobs
from ddp_codemod.write.undo import undo

CODE = b'import torch.distributed as dist\ndist.init_process_group("nccl")\n'
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 12345\n"
NAMES = (
    "-rf.py", "--output=x.py", "a\nb.py", 'q"u.py', "q'u.py", "tab\t.py", "back\\slash.py", "\x1b[31m.py", "\u202eyp.x.py", ":(top)x.py",
    "..py", "* ?[a].py", " lead and trail .py", "训练.py", "a -> b.py", "{a,b}.py", "$HOME.py", "`id`.py", os.fsdecode(b"\xff\xfe.py"),
)  # fmt: skip
Repo = Any
posix = pytest.mark.skipif(os.name == "nt", reason="Windows has neither such names nor such owners")


def surveyed(root: Path) -> Survey:
    rules = load()
    return survey(Options((root,), rules.platforms["rocm"], rules, root=root))


def changes(root: Path) -> list[FileChange]:
    return list(render(surveyed(root), unsafe=False).changes)


@posix
def test_any_name_is_changed_patched_and_given_back(repo: Repo, tmp_path: Path) -> None:
    for name in NAMES:
        (repo.top / name).write_bytes(CODE)
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "state")
    before = repo.tree()
    made = changes(repo.top)
    assert {change.name for change in made} == set(NAMES)
    patch = format_git_diff(made, find_blobs(repo.top, [change.name for change in made]))
    after = {name: (data.replace(b"nccl", b"gloo"), mode) for name, (data, mode) in before.items()}
    repo.git("apply", "-", stdin=patch)
    assert repo.tree() == after
    repo.git("apply", "-R", "-", stdin=patch)
    apply_changes(repo.top, made, allow_dirty=False)
    assert repo.tree() == after
    undo(repo.top)
    assert repo.tree() == before


def test_a_pointer_of_large_file_storage_stays(repo: Repo) -> None:
    (repo.top / ".gitattributes").write_text("*.ipynb filter=lfs diff=lfs merge=lfs -text\nweights.py filter=lfs -text\n")
    (repo.top / "train.ipynb").write_bytes(POINTER)
    (repo.top / "config.json").write_bytes(POINTER)
    repo.commit(weights=POINTER, train=CODE)
    before = repo.tree()
    made = changes(repo.top)
    assert [change.name for change in made] == ["train.py"]
    apply_changes(repo.top, made, allow_dirty=False)
    assert repo.tree() == {**before, "train.py": (made[0].after, before["train.py"][1])}


@pytest.mark.parametrize("bit", ["--skip-worktree", "--assume-unchanged"])
def test_work_that_git_is_told_to_overlook_is_not(repo: Repo, bit: str) -> None:
    repo.commit(a=CODE)
    repo.git("update-index", bit, "a.py")
    (repo.top / "a.py").write_bytes(CODE + b"# my own\n")
    assert repo.git("status", "--porcelain") == b""
    with pytest.raises(DirtyFiles):
        apply_changes(repo.top, changes(repo.top), allow_dirty=False)
    assert repo.read("a.py") == CODE + b"# my own\n"


@pytest.mark.parametrize("bit", ["--skip-worktree", "--assume-unchanged"])
def test_a_clean_file_with_such_a_bit_is_written(repo: Repo, bit: str) -> None:
    repo.commit(a=CODE)
    repo.git("update-index", bit, "a.py")
    apply_changes(repo.top, changes(repo.top), allow_dirty=False)
    assert b"gloo" in repo.read("a.py")
    assert repo.git("ls-files", "-v")[:1] in (b"S", b"h")


def test_in_a_sparse_checkout_only_what_is_there_is_changed(repo: Repo) -> None:
    for name in ("here", "away"):
        (repo.top / name).mkdir()
        (repo.top / name / "train.py").write_bytes(CODE)
    repo.commit()
    repo.git("sparse-checkout", "set", "here")
    assert not (repo.top / "away").exists()
    made = changes(repo.top)
    assert [change.name for change in made] == ["here/train.py"]
    commit_changes(repo.top, made, "subject\n")
    assert repo.git("show", "--format=", "--name-status", "HEAD") == b"M\there/train.py\n"
    assert repo.git("show", "HEAD:away/train.py") == CODE
    assert not (repo.top / "away").exists()
    assert repo.git("status", "--porcelain") == b""


@posix
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give files away")
def test_a_file_of_somebody_else_stays_theirs(repo: Repo) -> None:
    repo.commit(a=CODE)
    os.chown(repo.top / "a.py", 12345, 54321)
    (repo.top / "a.py").chmod(0o640)
    apply_changes(repo.top, changes(repo.top), allow_dirty=True)
    found = (repo.top / "a.py").stat()
    assert (found.st_uid, found.st_gid, found.st_mode & 0o777) == (12345, 54321, 0o640)
    undo(repo.top)
    found = (repo.top / "a.py").stat()
    assert (found.st_uid, found.st_gid, found.st_mode & 0o777) == (12345, 54321, 0o640)
    assert repo.read("a.py") == CODE


@posix
def test_a_hard_link_outside_keeps_its_bytes(repo: Repo, tmp_path: Path) -> None:
    repo.commit(a=CODE)
    os.link(repo.top / "a.py", tmp_path / "outside.py")
    apply_changes(repo.top, changes(repo.top), allow_dirty=False)
    assert b"gloo" in repo.read("a.py")
    assert (tmp_path / "outside.py").read_bytes() == CODE


def test_git_is_kept_from_fetching_locking_and_the_environment(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """What every git that is started gets, whatever the caller's variables say."""
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_EXTERNAL_DIFF", "GIT_SSH_COMMAND", "GIT_CONFIG_PARAMETERS"):
        monkeypatch.setenv(name, "/nowhere")
    seen: list[dict[str, str]] = []
    real = subprocess.Popen

    class Watched(real):  # type: ignore[misc, type-arg]
        def __init__(self, *words: Any, **more: Any) -> None:
            seen.append(dict(more.get("env") or {}))
            super().__init__(*words, **more)

    monkeypatch.setattr(subprocess, "Popen", Watched)
    repo.top.joinpath("a.py").write_bytes(CODE)
    find_blobs(repo.top, ["a.py"])
    assert seen
    for env in seen:
        assert (env["GIT_NO_LAZY_FETCH"], env["GIT_OPTIONAL_LOCKS"]) == ("1", "0")
        assert "/nowhere" not in env.values()
