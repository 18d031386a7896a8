"""What a branch stands at is read from plain files where git would read the same, and from nothing else."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Make
from generate import git
from hypothesis import given
from hypothesis import strategies as st

from ddp_codemod.write.branch_heads import read_branch_commit

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="fleet needs process groups")
WHO = ("-c", "user.name=a", "-c", "user.email=a@b")
ONE, TWO = "1" * 40, "2" * 40


@pytest.fixture
def at(make: Make) -> Path:
    """A repository whose branch stands at ONE."""
    path = make()
    (path / "refs" / "heads" / "main").write_text(f"{ONE}\n")
    return path


def asked(path: Path, ref: str) -> str | None:
    """What git says."""
    environ = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    words = ["git", "rev-parse", "--verify", "--quiet", ref]
    done = subprocess.run(words, cwd=path, env=environ, capture_output=True, text=True, check=False)
    return done.stdout.strip() or None


def test_the_default_branch_and_one_by_name(at: Path) -> None:
    (at / "refs" / "heads" / "v1.0").mkdir()
    (at / "refs" / "heads" / "v1.0" / "a-b").write_text(f"{TWO}\n")
    assert [read_branch_commit(at), read_branch_commit(at, "main"), read_branch_commit(at, "refs/heads/v1.0/a-b")] == [
        ONE,
        ONE,
        TWO,
    ]
    (at / "HEAD").write_text("ref: refs/heads/v1.0/a-b\n")
    assert read_branch_commit(at) == TWO
    (at / "HEAD").write_text(f"{ONE}\n")
    assert read_branch_commit(at) == ONE


def test_it_is_what_git_says_of_a_history(tmp_path: Path) -> None:
    """With commits, a branch that was packed and moved on, one that was packed, and a work tree of another."""
    path = tmp_path / "a"
    path.mkdir()
    git("init", "--quiet", "--initial-branch=main", cwd=path)
    for number in range(3):
        git(*WHO, "commit", "--quiet", "--allow-empty", "-m", str(number), cwd=path)
        git("branch", f"b{number}", cwd=path)
        if number == 1:
            git("pack-refs", "--all", cwd=path)
    for ref in ("HEAD", "main", "b0", "b1", "b2"):
        assert read_branch_commit(path / ".git", None if ref == "HEAD" else ref) == asked(path, ref)
    assert read_branch_commit(path / ".git", "b3") is None
    git("worktree", "add", "--quiet", "-b", "other", tmp_path / "linked", "b0", cwd=path)
    assert read_branch_commit(tmp_path / "linked" / ".git") is None
    assert read_branch_commit(path / ".git" / "worktrees" / "linked") is None
    git("checkout", "--quiet", "--detach", "b0", cwd=path)
    assert read_branch_commit(path / ".git") == asked(path, "HEAD") == asked(path, "b0")


def _link(file: Path) -> None:
    file.rename(file.with_name("else"))
    file.symlink_to(file.with_name("else"))


def _pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def _folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def _long(file: Path) -> None:
    file.write_bytes(file.read_bytes().rstrip() + b"\n" * 5000)


@pytest.mark.parametrize("spoil", [_link, _pipe, _folder, _long, Path.unlink])
@pytest.mark.parametrize("name", ["HEAD", "refs/heads/main"])
def test_only_a_small_regular_file_is_read(at: Path, name: str, spoil: Callable[[Path], None]) -> None:
    spoil(at / name)
    assert read_branch_commit(at) is None


@pytest.mark.parametrize("name", ["refs", "refs/heads", "refs/heads/team", ""])
def test_no_link_to_a_folder_is_followed(at: Path, name: str) -> None:
    branch = at / "refs" / "heads" / "team" / "a"
    branch.parent.mkdir()
    branch.write_text(ONE)
    assert read_branch_commit(at, "team/a") == ONE
    real = at.with_name("real")
    (at / name).rename(real)
    (at / name).symlink_to(real)
    assert read_branch_commit(at, "team/a") is None


@pytest.mark.parametrize(
    "said",
    [
        "", "ref: refs/heads/.invalid", "ref: refs/heads/../../../main", "ref: refs/heads/../heads/main", "ref: /etc/passwd",
        "ref: refs/heads//main", "ref: refs/heads/main/", "ref: refs/tags/main", "ref: refs/heads/main.lock", "ref:refs/heads/main",
        "refs/heads/main", "ref: refs/heads/main\nx", ONE[1:], f"{ONE}1", ONE.upper().replace("1", "A"), "1" * 64, "ref: refs/heads/m\u00e4in",
        "ref: refs/heads/main\x00",
    ],
)  # fmt: skip
def test_what_is_not_plain_is_left_to_git(at: Path, said: str) -> None:
    for name in ("tags/main", "heads/main.lock"):
        (at / "refs" / name).write_text(ONE)
    (at / "HEAD").write_text(f"{said}\n")
    assert read_branch_commit(at) is None


@pytest.mark.parametrize(
    "said", ["ref: refs/heads/main", "1" * 64, "1" * 39, f"{ONE} ", f"{ONE}\n\n", "x" * 40, "", "\u0661" * 40]
)
def test_a_branch_that_holds_no_commit_is_left_to_git(at: Path, said: str) -> None:
    (at / "refs" / "heads" / "main").write_text(f"{said}\n")
    assert read_branch_commit(at) is None


def test_a_branch_without_a_file_is_looked_up_among_the_packed_ones(at: Path) -> None:
    (at / "packed-refs").write_text(
        f"# pack-refs with: peeled fully-peeled sorted \n{TWO} refs/heads/main\n{ONE} refs/heads/ma\n^{ONE}\n"
    )
    assert read_branch_commit(at) == ONE, "its own file counts more"
    (at / "refs" / "heads" / "main").unlink()
    assert [
        read_branch_commit(at),
        read_branch_commit(at, "ma"),
        read_branch_commit(at, "a"),
        read_branch_commit(at, "m.in"),
    ] == [TWO, ONE, None, None]
    (at / "refs" / "heads").rmdir()
    assert read_branch_commit(at) == TWO
    (at / "refs" / "heads").symlink_to(at / "objects")
    assert read_branch_commit(at) is None


@pytest.mark.parametrize(
    "packed",
    [
        "",
        f"{ONE} refs/heads/main",
        f"{ONE}  refs/heads/main",
        f" {ONE} refs/heads/main",
        f"{ONE} refs/heads/main x",
        f"{ONE} refs/heads/main\r",
        f"{'1' * 64} refs/heads/main",
        f"^{ONE} refs/heads/main",
        f"{ONE}\trefs/heads/main",
        f"{'x' * 40} refs/heads/main",
    ],
)
def test_only_a_whole_line_of_packed_branches_counts(at: Path, packed: str) -> None:
    (at / "refs" / "heads" / "main").unlink()
    (at / "packed-refs").write_bytes(packed.encode())
    assert read_branch_commit(at) == (ONE if packed == f"{ONE} refs/heads/main" else None)
    (at / "packed-refs").write_text(f"{ONE} refs/heads/main\n" + "#" * (4 << 20))
    assert read_branch_commit(at) is None


@pytest.mark.parametrize("spoil", [_link, _pipe, _folder])
def test_only_a_regular_file_of_packed_branches_is_read(at: Path, spoil: Callable[[Path], None]) -> None:
    (at / "refs" / "heads" / "main").rename(at / "packed-refs")
    (at / "packed-refs").write_text(f"{ONE} refs/heads/main\n")
    assert read_branch_commit(at) == ONE
    spoil(at / "packed-refs")
    assert read_branch_commit(at) is None


def test_a_repository_that_has_its_branches_elsewhere_is_left_to_git(at: Path) -> None:
    (at / "commondir").write_text("../b.git\n")
    assert read_branch_commit(at) is None


def test_somebody_else_s_repository_is_left_to_git(at: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Git refuses it where the user does not trust the folder (safe.directory)."""
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert read_branch_commit(at) is None


@given(st.text(st.sampled_from("abM-._/ \u00e4@{~^:?*[\\"), min_size=1, max_size=12))
def test_no_branch_is_read_that_git_would_not_name_so(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    """Wherever a name leads, also when something lies there."""
    path = tmp_path_factory.getbasetemp() / "named"
    shutil.rmtree(path, ignore_errors=True)
    (path / "refs" / "heads").mkdir(parents=True)
    file = Path(os.path.normpath(f"{path}/refs/heads/{name}"))
    if path in file.parents:
        with contextlib.suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(ONE)
    if read_branch_commit(path, name) is not None:
        ref = f"refs/heads/{name}"
        assert f"{path}/{ref}" == str(file)
        assert subprocess.run(["git", "check-ref-format", ref], check=False).returncode == 0
