"""Clones hold what is read, of one commit, and run nothing."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from conftest import NCCL, Make
from generate import _hostile, git

from ddp_codemod.write.clone import CloneFailed, Cloner, Remote, Start, is_repository, strip_credentials
from ddp_codemod.write.git import Git


def clone(place: object, folder: Path, ref: str | None = None) -> Path:
    folder.mkdir(exist_ok=True)
    cloner, remote = Cloner(folder, 30, Start.of(folder)), Remote.of(str(place))
    commit = cloner.commit(remote, ref)
    cloner.clone(remote, ref, commit, folder / "tree", ("*.py", "*.sh", ".gitattributes"))
    return folder / "tree"


def names(tree: Path) -> set[str]:
    return {path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_file() and ".git/" not in f"{path}/"}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A repository with history, tags, links, files of all kinds, hooks and a submodule."""
    path = tmp_path / "source"
    path.mkdir()
    git("init", "--quiet", "--initial-branch=main", cwd=path)
    who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always")
    (path / "train.py").write_bytes(b"first = 1\n")
    git("add", ".", cwd=path)
    git(*who, "commit", "--quiet", "-m", "1", cwd=path)
    git(*who, "tag", "-a", "v1", "-m", "v1", cwd=path)
    (path / "train.py").write_bytes(NCCL)
    (path / "weights.bin").write_bytes(os.urandom(100_000))
    (path / "sub").mkdir()
    (path / "sub" / "run.sh").write_text("torchrun train.py\n")
    (path / "out.py").symlink_to("/etc/passwd")
    (path / ".gitattributes").write_text("*.py text eol=crlf\n*.sh filter=lfs\n")
    (path / "other").mkdir()
    git("init", "--quiet", cwd=path / "other")
    git(*who, "commit", "--quiet", "--allow-empty", "-m", "x", cwd=path / "other")
    git(*who, "submodule", "--quiet", "add", "./other", "module", cwd=path)
    git("add", ".", cwd=path)
    git(*who, "commit", "--quiet", "-m", "2", cwd=path)
    return path


@pytest.fixture(params=["{}", "file://{}"], ids=["path", "url"])
def place(request: pytest.FixtureRequest, source: Path) -> str:
    """How the list names the repository: its objects are read where they are, or asked for as of any server."""
    return str(request.param).format(source)


def test_a_clone_holds_the_files_that_are_read_and_no_others(place: str, tmp_path: Path) -> None:
    tree = clone(place, tmp_path / "c")
    assert names(tree) == {"train.py", "sub/run.sh", "out.py", ".gitattributes"}
    assert (tree / "train.py").read_bytes() == NCCL.replace(b"\n", b"\r\n")
    assert not (tree / "out.py").is_symlink()
    assert not any((tree / "module").iterdir()) if (tree / "module").exists() else True


def test_a_clone_takes_no_history_and_no_files_that_nobody_asked_for(place: str, tmp_path: Path) -> None:
    tree = clone(place, tmp_path / "c")
    log = subprocess.run(["git", "log", "--format=%s"], cwd=tree, capture_output=True, text=True, check=True)
    assert log.stdout.split() == ["2"] or not place.startswith("file:")
    assert sum(path.stat().st_size for path in (tree / ".git").rglob("*") if path.is_file()) < 60_000


def test_a_repository_whose_objects_lie_elsewhere_is_asked_for_them(source: Path, tmp_path: Path) -> None:
    """A work tree of another one: its .git is a file. And a folder .git that shares what another one has."""
    git("worktree", "add", "--quiet", "--detach", tmp_path / "linked", cwd=source)
    shared = tmp_path / "shared" / ".git"
    (shared / "objects").mkdir(parents=True)
    (shared / "commondir").write_text(f"{source / '.git'}\n")
    (shared / "HEAD").write_bytes((source / ".git" / "HEAD").read_bytes())
    for number, name in enumerate(("linked", "shared")):
        assert "train.py" in names(clone(tmp_path / name, tmp_path / f"c{number}"))


def test_a_clone_leaves_its_source_as_it_is(source: Path, tmp_path: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in source.rglob("*")}
    clone(source, tmp_path / "c")
    assert {path: path.stat().st_mtime_ns for path in source.rglob("*")} == before


def test_without_git_it_says_so(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(CloneFailed, match="git is not installed"):
        clone(source, tmp_path / "c")


def test_what_is_surveyed_later_finds_git_s_view_of_the_files(place: str, tmp_path: Path) -> None:
    answer = Git.at(clone(place, tmp_path / "c")).run("ls-files", "--stage", "-z", "--", "train.py")
    assert answer.code == 0
    assert answer.out.endswith(b"train.py\0")


@pytest.mark.parametrize("ref", ["v1", "refs/tags/v1"])
def test_a_ref_may_be_a_tag(place: str, tmp_path: Path, ref: str) -> None:
    assert (clone(place, tmp_path / "c", ref) / "train.py").read_bytes() == b"first = 1\n"


def test_a_ref_may_be_a_commit_that_no_branch_stands_at(source: Path, place: str, tmp_path: Path) -> None:
    commit = subprocess.run(["git", "rev-parse", "HEAD~1"], cwd=source, capture_output=True, text=True, check=True).stdout.strip()
    assert (clone(place, tmp_path / "c", commit) / "train.py").read_bytes() == b"first = 1\n"


def test_a_bundle_is_a_repository(source: Path, tmp_path: Path) -> None:
    git("bundle", "create", "--quiet", tmp_path / "b.bundle", "HEAD", "main", cwd=source)
    assert is_repository(tmp_path / "b.bundle")
    assert names(clone(tmp_path / "b.bundle", tmp_path / "c")) == {"train.py", "sub/run.sh", "out.py", ".gitattributes"}


@pytest.mark.parametrize(
    ("place", "ref", "said"),
    [
        ("{}/nowhere", None, "nowhere"),
        ("{}/source", "no-such-branch", "no-such-branch"),
        ("{}/source", "1" * 40, "not our ref"),
        ("ext::sh -c touch% {}/was-run", None, "does not appear"),
        ("https://user:secret@127.0.0.1:9/x", None, "127.0.0.1"),
        ("ssh://127.0.0.1:9/x", None, "Could not read"),
    ],
)
def test_what_cannot_be_had_is_an_error_with_git_s_words(
    source: Path, tmp_path: Path, place: str, ref: str | None, said: str
) -> None:
    with pytest.raises(CloneFailed, match=said) as why:
        clone(place.format(tmp_path), tmp_path / "c", ref)
    assert "secret" not in str(why.value)
    assert not (tmp_path / "was-run").exists()


def test_a_local_repository_is_never_reached_over_another_protocol(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user's own insteadOf may send git elsewhere; a path stays a path."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".gitconfig").write_text(f'[url "ext::touch {tmp_path}/was-run "]\n\tinsteadOf = file://\n')
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    source = make()
    assert names(clone(source, tmp_path / "c")) == {"train.py"}  # git is not asked where it is
    with pytest.raises(CloneFailed, match="not allowed"):
        clone(f"file://{source}", tmp_path / "d")
    assert not (tmp_path / "was-run").exists()


def test_a_configuration_that_nobody_needs_is_not_read(make: Make, tmp_path: Path) -> None:
    """A repository that is named by its path and has plain branches; as of a server it is git that reads it, and refuses."""
    source = make()
    _hostile(tmp_path / "hostile.git", tmp_path / "template.git")
    (source / "config").write_bytes((tmp_path / "hostile.git" / "config").read_bytes())
    assert names(clone(source, tmp_path / "c")) == {"train.py"}
    for number, place in enumerate((f"file://{source}", tmp_path / "hostile.git")):
        with pytest.raises(CloneFailed, match="bad config"):
            clone(place, tmp_path / f"d{number}")
    assert not (tmp_path / "was-run").exists()


def test_secrets_are_left_out_of_what_is_said() -> None:
    assert strip_credentials("https://me:pw@e.org/a and ssh://git@e.org/b") == "https://e.org/a and ssh://e.org/b"
    assert strip_credentials("/srv/a@b") == "/srv/a@b"


def test_folders_are_told_from_repositories(make: Make, source: Path, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "file").write_text("x")
    assert [is_repository(path) for path in (make(), source, tmp_path / "plain", tmp_path / "file")] == [True, True, False, False]
