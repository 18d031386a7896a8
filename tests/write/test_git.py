"""Nothing that a repository says is run."""

from __future__ import annotations

import os
import shlex
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ddp_codemod.model import FileChange
from ddp_codemod.write.apply import apply_changes
from ddp_codemod.write.errors import ConvertedFiles
from ddp_codemod.write.git import Git, Settings, find_git
from ddp_codemod.write.repository import find_blobs
from ddp_codemod.write.undo import undo

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Repo

OLD = b'x = "nccl"\n'


@pytest.fixture
def trap(tmp_path: Path) -> tuple[str, Path]:
    """A program as a setting would name it, and the file that it leaves when it is run."""
    marker = tmp_path / "was-run"
    script = tmp_path / "trap.py"
    script.write_text(f"#!{sys.executable}\nopen({str(marker)!r}, 'a').write('run ')\n")
    script.chmod(script.stat().st_mode | stat.S_IEXEC)
    return f"{shlex.quote(script.as_posix())}", marker


def plant(repo: Repo, command: str) -> None:
    """Every setting that makes git start a program."""
    (repo.top / ".gitattributes").write_text("*.py filter=evil diff=evil merge=evil text\n")
    repo.commit(a=OLD, b=OLD)
    for key in (
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "core.sshCommand",
        "core.askPass",
        "core.gitProxy",
        "core.alternateRefsCommand",
        "credential.helper",
        "diff.external",
        "diff.evil.command",
        "diff.evil.textconv",
        "merge.evil.driver",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "gpg.program",
        "interactive.diffFilter",
        "alias.ls-files",
        "alias.cat-file",
        "remote.origin.uploadpack",
    ):
        repo.git("config", key, f"!{command}" if key.startswith("alias") else command)
    repo.git("config", "remote.origin.url", f"ext::{command} %S")
    repo.git("config", "remote.origin.promisor", "true")
    repo.git("config", "protocol.ext.allow", "always")
    repo.git("config", "protocol.allow", "always")
    repo.git("config", "extensions.partialClone", "origin")
    repo.git("config", "core.repositoryFormatVersion", "1")
    repo.git("config", "core.hooksPath", "hooks")
    (repo.top / "hooks").mkdir()
    for hook in ("post-index-change", "fsmonitor-watchman", "reference-transaction", "pre-auto-gc"):
        (repo.top / "hooks" / hook).write_text(f"#!/bin/sh\n{command}\n")
        (repo.top / "hooks" / hook).chmod(0o755)


def test_hostile_settings_run_nothing(repo: Repo, trap: tuple[str, Path]) -> None:
    command, marker = trap
    plant(repo, command)
    oid = repo.git("rev-parse", ":a.py").decode().strip()
    (repo.top / ".git" / "objects" / oid[:2] / oid[2:]).unlink()  # what is not there git fetches from the remote
    marker.unlink(missing_ok=True)  # plain git above ran it
    change = repo.change("a.py")
    find_blobs(repo.top, ["a.py", "b.py"])
    apply_changes(repo.top, [change], allow_dirty=False)
    undo(repo.top)
    (repo.top / "a.py").write_bytes(OLD + b"mine\n")
    with pytest.raises(ConvertedFiles):
        apply_changes(repo.top, [repo.change("a.py")], allow_dirty=False)
    assert not marker.exists()


def test_the_trap_would_be_run_by_plain_git(repo: Repo, trap: tuple[str, Path]) -> None:
    command, marker = trap
    repo.commit(a=OLD)
    repo.git("config", "core.fsmonitor", command)
    repo.git("status")
    assert marker.exists()


def test_only_git_is_started_and_few_times(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    from ddp_codemod.write import git

    names = [f"f{index}.py" for index in range(300)]
    for name in names:
        (repo.top / name).write_bytes(OLD)
    repo.commit()
    (repo.top / "f7.py").write_bytes(OLD + b"mine\n")
    started: list[list[str]] = []
    real = git._find_starter

    def record(program: str) -> Callable[..., object]:
        def start(command: list[str], **more: object) -> object:
            started.append(command)
            return real(program)(command, **more)

        return start

    monkeypatch.setattr(git, "_find_starter", record)
    assert len(find_blobs(repo.top, names)) == 300
    assert {command[0] for command in started} == {find_git()}
    assert len(started) <= 5


def test_git_of_the_folder_is_not_taken(repo: Repo, monkeypatch: pytest.MonkeyPatch, trap: tuple[str, Path]) -> None:
    repo.commit(a=OLD)
    (repo.top / "git").symlink_to(trap[1].parent / "trap.py")
    monkeypatch.chdir(repo.top)
    real = find_git()
    monkeypatch.setenv("PATH", os.pathsep.join([".", "", *os.environ["PATH"].split(os.pathsep)]))
    assert find_git() == real
    monkeypatch.setenv("PATH", ".")
    assert find_git() is None
    assert find_blobs(repo.top, ["a.py"]) == {}
    assert not trap[1].exists()


def test_values_of_the_user_are_passed_and_those_of_the_repository_go_first(repo: Repo, own_home: Path) -> None:
    (own_home / ".gitconfig").write_text(
        "[core]\n\tautocrlf = true\n\teol = lf\n\texcludesFile = ~/ignore\n\tfsmonitor = evil\n"
        "[user]\n\tname = A = B\n\temail = a@b\n[safe]\n\tdirectory = /one\n\tdirectory = /two\n[alias]\n\tx = !evil\n"
    )
    repo.git("config", "core.eol", "crlf")
    repo.git("config", "filter.a=b.clean", "evil")
    settings = Git.at(repo.top).settings
    assert set(settings.extra) == {
        ("core.autocrlf", "true"),
        ("core.excludesfile", "~/ignore"),
        ("user.name", "A = B"),
        ("user.email", "a@b"),
        ("safe.directory", "/one"),
        ("safe.directory", "/two"),
    }
    assert settings.programs == ("filter.a=b.clean",)
    git = Git.at(repo.top)
    assert git.run("config", "user.name").out == b"A = B\n"
    assert git.run("config", "filter.a=b.clean").out == b"\n"
    assert git.run("config", "core.eol").out == b"crlf\n"
    assert git.run("config", "alias.x").code == 1


@pytest.mark.parametrize(("value", "expected"), [("true", True), ("YES", True), ("1", True), ("no", False), ("input", False)])
def test_booleans(value: str, expected: bool) -> None:
    assert Settings({"k": value}).flag("k") is expected
    assert Settings({}).flag("k") is False


@pytest.mark.skipif(os.name == "nt", reason="Windows has no named pipes in folders")
def test_an_include_that_never_ends_is_cut_off(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit(a=OLD)
    pipe = repo.top / ".git" / "pipe"
    os.mkfifo(pipe)
    repo.git("config", "include.path", "pipe")
    monkeypatch.setattr("ddp_codemod.write.git.TIMEOUT", 0.2)
    assert find_blobs(repo.top, ["a.py"]) == {}
    apply_changes(repo.top, [FileChange("a.py", OLD, b"x")], allow_dirty=True)


@pytest.mark.skipif(os.name == "nt", reason="a script is no program there")
def test_git_of_the_folder_is_not_started_when_gitpython_is_imported(repo: Repo, trap: tuple[str, Path]) -> None:
    repo.commit(a=OLD)
    (repo.top / "git").symlink_to(trap[1].parent / "trap.py")
    code = (
        "from pathlib import Path; from ddp_codemod.write.repository import find_blobs; assert find_blobs(Path.cwd(), ['a.py'])"
    )
    environment = {**os.environ, "PATH": os.pathsep.join([".", os.environ["PATH"]])}
    subprocess.run([sys.executable, "-c", code], cwd=repo.top, env=environment, check=True)
    assert not trap[1].exists()
