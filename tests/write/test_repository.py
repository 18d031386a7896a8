"""diff, then git apply, gives the tree that apply gives; git diff after apply has the same patch id."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ddp_codemod.model import FileChange
from ddp_codemod.patch.blob import LineEnds
from ddp_codemod.patch.gitdiff import format_git_diff
from ddp_codemod.write.apply import apply_changes
from ddp_codemod.write.errors import RepositoryUnreadable
from ddp_codemod.write.repository import find_blobs, read_blobs

if TYPE_CHECKING:
    from conftest import Repo

CRLF = b'import os\r\n\r\nbackend = "nccl"\r\nprint(backend)\r\n'
LF = CRLF.replace(b"\r\n", b"\n")


def check(repo: Repo, *changes: FileChange, root: Path | None = None, same_bytes: bool = True) -> bytes:
    """Compare the patch with git in every way that is promised, and give it."""
    root = root or repo.top
    patch = format_git_diff(changes, find_blobs(root, [change.name for change in changes]))
    start = repo.tree()
    repo.git("apply", "--check", stdin=patch, at=root)
    repo.git("apply", stdin=patch, at=root)
    by_git = repo.tree()
    for change in changes:
        (root / change.name).write_bytes(change.before)
    assert repo.tree() == start
    apply_changes(root, changes, allow_dirty=False)
    assert repo.tree() == by_git
    printed = repo.git("diff")
    if same_bytes:
        assert patch == printed
    assert repo.patch_id(patch) == repo.patch_id(printed) != b""
    return patch


def test_plain(repo: Repo) -> None:
    repo.commit(a=LF, b=LF, c=LF)
    check(repo, repo.change("a.py"), repo.change("c.py"))


def test_autocrlf_of_the_user(repo: Repo, own_home: Path) -> None:
    with (own_home / ".gitconfig").open("a") as file:
        file.write("[core]\n\tautocrlf = true\n")
    repo.commit(a=CRLF)
    assert repo.git("cat-file", "-p", ":a.py") == LF
    assert b"\r" not in check(repo, repo.change("a.py"))
    assert b"\r\n" in repo.read("a.py")


def test_autocrlf_of_the_repository(repo: Repo) -> None:
    repo.git("config", "core.autocrlf", "true")
    repo.commit(a=CRLF, b=LF.rstrip(b"\n").replace(b"\n", b"\r\n"))
    assert b"\r" not in check(repo, repo.change("a.py"), repo.change("b.py"))


def test_the_repository_switches_off_autocrlf_of_the_user(repo: Repo, own_home: Path) -> None:
    with (own_home / ".gitconfig").open("a") as file:
        file.write("[core]\n\tautocrlf = true\n")
    repo.git("config", "core.autocrlf", "false")
    repo.commit(a=CRLF)
    assert b"\r\n" in check(repo, repo.change("a.py"))


@pytest.mark.parametrize("rule", ["* text eol=crlf", "*.py text=auto eol=crlf", "* crlf\n*.py eol=crlf", "* eol=crlf"])
def test_attributes(repo: Repo, rule: str) -> None:
    (repo.top / ".gitattributes").write_text(rule + "\n")
    repo.commit(a=CRLF)
    assert repo.git("cat-file", "-p", ":a.py") == LF
    assert b"\r" not in check(repo, repo.change("a.py"))


@pytest.mark.parametrize("rule", ["* -text", "*.py binary", "*.md text eol=crlf"])
def test_attributes_that_convert_nothing(repo: Repo, rule: str) -> None:
    (repo.top / ".gitattributes").write_text(rule + "\n")
    repo.commit(a=CRLF)
    patch = (
        check(repo, repo.change("a.py"))
        if "binary" not in rule
        else format_git_diff([repo.change("a.py")], find_blobs(repo.top, ["a.py"]))
    )
    assert b"\r\n" in patch
    repo.git("checkout", "-q", ".")
    repo.git("apply", "--check", stdin=patch)


def test_crlf_in_the_repository_stays_under_autocrlf(repo: Repo) -> None:
    repo.commit(a=CRLF)
    repo.git("config", "core.autocrlf", "true")
    assert b"\r\n" in check(repo, repo.change("a.py"))


def test_crlf_outside_conversion(repo: Repo) -> None:
    repo.commit(a=CRLF, b=b"a\r\nnccl\nb\r\n")
    assert b"\r\n" in check(repo, repo.change("a.py"), repo.change("b.py"))


def test_untracked_file_in_a_converting_repository(repo: Repo) -> None:
    repo.git("config", "core.autocrlf", "true")
    repo.commit()
    (repo.top / "new.py").write_bytes(CRLF)
    change = repo.change("new.py")
    held = find_blobs(repo.top, ["new.py"])
    assert not held["new.py"].known
    patch = format_git_diff([change], held)
    assert b"\r" not in patch
    repo.git("apply", stdin=patch)
    assert repo.read("new.py") == change.after


def test_marks_no_final_newline_and_names(repo: Repo) -> None:
    names = ["训练.py", 'a "b".py', "tab\tand space.py", "line\nend.py", ":(top)b.py", "-dash.py", "[a].py", "*.py"]
    contents = [b"\xef\xbb\xbfx = 'nccl'\n", b"x = 'nccl'", "x = '后端' 'nccl'".encode("gbk"), b"\x0cnccl\n"] * 2
    for name, data in zip(names, contents, strict=True):
        (repo.top / name).write_bytes(data)
    repo.commit()
    check(repo, *[repo.change(name) for name in names])


@pytest.mark.parametrize("name", [":(top)b.py", ":!a.py", "-z", "--stage"])
def test_names_are_never_patterns_or_options(repo: Repo, name: str) -> None:
    (repo.top / name).write_bytes(LF)
    repo.commit(a=LF, b=LF)
    assert find_blobs(repo.top, [name])[name].holds(LF)


def test_name_that_is_no_unicode(repo: Repo) -> None:
    name = os.fsdecode(b"caf\xe9.py")
    try:
        (repo.top / name).write_bytes(b"nccl\n")
    except (OSError, UnicodeError):
        return  # the file system has no such names, so no project has
    repo.commit()
    check(repo, repo.change(name))


def test_sha256(sha256_repo: Repo) -> None:
    sha256_repo.commit(a=LF)
    held = find_blobs(sha256_repo.top, ["a.py"])["a.py"]
    assert len(held.oid) == 64
    check(sha256_repo, sha256_repo.change("a.py"))


def test_abbreviation_follows_the_repository(repo: Repo) -> None:
    repo.git("config", "core.abbrev", "12")
    repo.commit(a=LF)
    check(repo, repo.change("a.py"))


@pytest.mark.skipif(os.name == "nt", reason="Windows has no executable bit")
def test_executable(repo: Repo) -> None:
    repo.commit(a=LF)
    (repo.top / "a.py").chmod(0o755)
    repo.commit()
    assert b" 100755\n" in check(repo, repo.change("a.py"))
    assert (repo.top / "a.py").stat().st_mode & 0o777 == 0o755


def test_root_below_the_top(repo: Repo) -> None:
    (repo.top / "sub" / "deep").mkdir(parents=True)
    (repo.top / "sub" / "deep" / "a.py").write_bytes(LF)
    repo.commit()
    change = FileChange("deep/a.py", LF, LF.replace(b"nccl", b"gloo"))
    assert b"a/sub/deep/a.py" in check(repo, change, root=repo.top / "sub")


def test_link_is_followed_inside(repo: Repo) -> None:
    repo.commit(a=LF)
    try:
        (repo.top / "link.py").symlink_to("a.py")
    except OSError:
        return  # Windows without the right to make links
    repo.commit()
    patch = check(repo, FileChange("link.py", LF, LF.replace(b"nccl", b"gloo")))
    assert b"link" not in patch
    assert (repo.top / "link.py").is_symlink()


def test_file_of_a_repository_below(repo: Repo) -> None:
    from_inside = repo.top / "sub"
    from_inside.mkdir()
    repo.git("init", "-q", at=from_inside)
    (from_inside / "f.py").write_bytes(LF)
    repo.git("add", "f.py", at=from_inside)
    held = find_blobs(repo.top, ["sub/f.py"])["sub/f.py"]
    assert (held.known, held.name) == (True, "sub/f.py")
    patch = format_git_diff([FileChange("sub/f.py", LF, LF + b"x\n")], {"sub/f.py": held})
    repo.git("apply", stdin=patch)
    assert (from_inside / "f.py").read_bytes() == LF + b"x\n"


def test_repositories_below_a_folder_without_git(project: Path, repo: Repo) -> None:
    for name in ("one", "two"):
        (project / name).mkdir()
        repo.git("init", "-q", at=project / name)
        (project / name / "f.py").write_bytes(LF)
        repo.git("add", "f.py", at=project / name)
    held = find_blobs(project, ["one/f.py", "two/f.py"])
    assert [blob.name for blob in held.values()] == ["one/f.py", "two/f.py"]
    patch = format_git_diff([FileChange(name, LF, LF + b"x\n") for name in held], held)
    repo.git("apply", stdin=patch, at=project)
    assert (project / "two/f.py").read_bytes() == LF + b"x\n"


def test_more_names_than_a_command_line_takes(repo: Repo) -> None:
    names = [f"{'long' * 20}{index}.py" for index in range(400)]
    for name in names:
        (repo.top / name).write_bytes(LF)
    repo.commit()
    held = find_blobs(repo.top, names)
    assert len(held) == 400
    assert all(blob.holds(LF) for blob in held.values())


def test_worktree_of_another_repository(repo: Repo, tmp_path: Path) -> None:
    repo.commit(a=LF)
    repo.git("worktree", "add", "-q", str(tmp_path / "tree"))
    assert find_blobs(tmp_path / "tree", ["a.py"])["a.py"].holds(LF)


def test_partial_clone_without_the_blob(repo: Repo) -> None:
    repo.commit(a=LF)
    shutil.rmtree(repo.top / ".git" / "objects")
    (repo.top / ".git" / "objects").mkdir()
    held = find_blobs(repo.top, ["a.py"])["a.py"]
    assert held.holds(LF)
    assert not held.holds(LF + b"mine\n")


def test_nothing_outside_git(project: Path) -> None:
    (project / "a.py").write_bytes(LF)
    assert find_blobs(project, ["a.py"]) == {}
    (project / ".git").mkdir()
    assert find_blobs(project, ["a.py"]) == {}


def test_git_not_installed(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit(a=LF)
    monkeypatch.setenv("PATH", str(repo.top))
    assert find_blobs(repo.top, ["a.py"]) == {}


def test_broken_repository(repo: Repo) -> None:
    repo.commit(a=LF)
    (repo.top / ".git" / "index").write_bytes(b"no index")
    assert find_blobs(repo.top, ["a.py"]) == {}
    with pytest.raises(RepositoryUnreadable):
        read_blobs(repo.top, ["a.py"])


def test_variables_of_a_hook_do_not_lead_elsewhere(repo: Repo, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit(a=LF)
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    monkeypatch.setenv("GIT_DIR", str(project / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(project / "none"))
    monkeypatch.setenv("GIT_WORK_TREE", str(project))
    assert find_blobs(repo.top, ["a.py"])["a.py"].holds(LF)


def test_core_worktree_does_not_move_the_files(repo: Repo, project: Path) -> None:
    repo.commit(a=LF)
    (project / ".gitattributes").write_text("* text eol=crlf\n")
    repo.git("config", "core.worktree", str(project))
    held = find_blobs(repo.top, ["a.py"])["a.py"]
    assert held.holds(LF)
    assert held.line_ends is LineEnds.KEEP
