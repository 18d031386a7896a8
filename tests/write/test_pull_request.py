"""Pull requests: a real bare remote, and programs that stand in for gh and glab and record what they are told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ddp_codemod.cli import main
from ddp_codemod.write import pull_request as module

CODE = b'import torch.distributed as dist\ndist.init_process_group("nccl")\n'
Repo = Any
pytestmark = pytest.mark.skipif(os.name == "nt", reason="the stand-ins are scripts")

STANDIN = """#!{python}
import json, os, pathlib, sys
words = sys.argv[1:]
body = next((words[at + 1] for at, word in enumerate(words) if word in ("--body-file", "--description")), None)
if "--body-file" in words:
    body = pathlib.Path(body).read_text("utf-8")
with open({log!r}, "a") as log:
    log.write(json.dumps([pathlib.Path(sys.argv[0]).name, words, body, os.getcwd(), os.environ.get("GH_PROMPT_DISABLED")]) + "\\n")
if words[:2] == ["auth", "status"]:
    sys.exit(0 if words[3] in {known!r} else 1)
print("Creating pull request", file=sys.stderr)
if {fails!r}:
    print("pull request create failed: no commits between main and port", file=sys.stderr)
    sys.exit(1)
print("https://example.test/owner/name/pull/7")
"""


@dataclass
class Place:
    """A repository with a remote, and the folder of programs that are found."""

    repo: Repo
    bare: Path
    programs: Path
    log: Path

    def standin(self, name: str, *known: str, fails: bool = False) -> None:
        file = self.programs / name
        file.write_text(STANDIN.format(python=sys.executable, log=str(self.log), known=known, fails=fails))
        file.chmod(0o755)

    def remote(self, url: str, name: str = "origin") -> None:
        """A remote whose address is the service's, and whose content lies in the bare repository."""
        self.repo.git("remote", "add", name, url)
        self.repo.git("config", "--global", f"url.{self.bare}.insteadOf", url)

    def calls(self) -> list[list[Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []

    def pushed(self) -> dict[str, str]:
        done = subprocess.run(
            ["git", "for-each-ref", "--format=%(refname) %(objectname)"], cwd=self.bare, capture_output=True, text=True
        )
        return dict(line.split() for line in done.stdout.splitlines())

    def state(self) -> tuple[bytes, ...]:
        return (
            self.repo.read("a.py"),
            self.repo.git("for-each-ref"),
            self.repo.git("status", "--porcelain"),
            self.repo.git("rev-parse", "HEAD"),
        )


@pytest.fixture
def place(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    programs, bare = tmp_path / "programs", tmp_path / "bare.git"
    programs.mkdir()
    git = Path(next(folder for folder in os.environ["PATH"].split(os.pathsep) if (Path(folder) / "git").exists()), "git")
    (programs / "git").symlink_to(git)
    monkeypatch.setenv("PATH", str(programs))
    (repo.top / "pyproject.toml").write_text("")
    repo.commit(a=CODE)
    repo.git("init", "-q", "--bare", str(bare))
    monkeypatch.chdir(repo.top)
    return Place(repo, bare, programs, tmp_path / "calls")


def run(capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, str]:
    words = ["apply", ".", "--platform", "rocm", *more]
    code = main(words)
    said = capsys.readouterr()
    return code, said.out + said.err


def asked(*more: str) -> tuple[str, ...]:
    return ("--branch", "port", "--pull-request", *more)


def test_gh_is_told_title_text_and_nothing_of_a_base_that_git_does_not_know(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    place.standin("gh", "github.com")
    place.remote("https://github.com/owner/name.git")
    code, said = run(capsys, *asked())
    assert code == 0
    (_, status, *_), (program, words, body, folder, prompts) = place.calls()
    assert status == ["auth", "status", "--hostname", "github.com"]
    assert (program, words[:5]) == ("gh", ["pr", "create", "--title", "Use gloo instead of nccl on rocm", "--body-file"])
    assert len(words) == 6
    assert Path(folder) == place.repo.top
    assert prompts == "1"
    assert body.startswith("## What")
    assert "a.py:2" in body
    assert not Path(words[5]).exists()
    assert place.pushed() == {"refs/heads/port": place.repo.git("rev-parse", "port").decode().strip()}
    assert place.repo.git("config", "branch.port.remote") == b"origin\n"
    assert "Opened https://example.test/owner/name/pull/7" in said


def test_the_base_is_the_branch_that_the_current_one_follows(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.standin("glab", "gitlab.example.org")
    place.remote("git@gitlab.example.org:group/name.git", "work")
    place.repo.git("push", "-q", "--set-upstream", "work", "main:trunk")
    code, _ = run(capsys, *asked())
    assert code == 0
    program, words, body, *_ = place.calls()[-1]
    assert (program, words[:5]) == ("glab", ["mr", "create", "--yes", "--title", "Use gloo instead of nccl on rocm"])
    assert words[5] == "--description"
    assert body.startswith("## What")
    assert words[7:] == ["--source-branch", "port", "--target-branch", "trunk"]
    assert set(place.pushed()) == {"refs/heads/trunk", "refs/heads/port"}


def test_on_a_host_of_an_unknown_name_the_program_that_is_logged_in_there(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    place.standin("gh", "github.com")
    place.standin("glab", "code.example.org")
    place.remote("ssh://git@code.example.org:2222/group/name.git")
    assert run(capsys, *asked())[0] == 0
    assert [call[0] for call in place.calls()] == ["gh", "glab", "glab"]
    assert place.calls()[0][1] == ["auth", "status", "--hostname", "code.example.org"]


@pytest.mark.parametrize(
    ("programs", "urls", "said"),
    [
        ([], ["https://github.com/a/b"], "gh is not installed"),
        (["glab"], ["https://github.com/a/b"], "gh is not installed"),
        ([], ["https://code.example.org/a/b"], "gh / glab is not installed"),
        (["gh"], ["https://github.com/a/b"], "Log in first: gh auth login --hostname github.com"),
        (["gh"], [], "no remote to push to"),
        (["gh"], ["https://github.com/a/b", "https://github.com/c/d"], "cannot tell which remote to push to (r0, r1)"),
        (["gh"], ["../bare.git"], "the remote r0 names no host"),
        (["gh"], ["/srv/bare.git"], "the remote r0 names no host"),
        (["gh"], ["file:///srv/bare.git"], "the remote r0 names no host"),
    ],
)
def test_refused_before_anything_is_written(
    place: Place, capsys: pytest.CaptureFixture[str], programs: list[str], urls: list[str], said: str
) -> None:
    for name in programs:
        place.standin(name)
    for at, url in enumerate(urls):
        place.repo.git("remote", "add", f"r{at}", url)
    before = place.state()
    code, output = run(capsys, *asked())
    assert code == 2
    assert said in output
    assert "Nothing written" in output
    assert place.state() == before
    assert not place.pushed()


@pytest.mark.parametrize(
    "words",
    [
        ("--pull-request",),
        ("--commit", "--pull-request"),
        ("--branch", "port"),
        ("--branch", "port", "--pull-request", "--dry-run"),
    ],
)
def test_nothing_is_sent_unless_a_branch_and_a_request_are_asked_for(
    place: Place, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    place.standin("gh", "github.com")
    place.remote("https://github.com/owner/name.git")
    code, said = run(capsys, *words)
    assert (code == 2) == ("--branch" not in words), said
    assert not place.pushed()
    assert not place.calls()


def test_nothing_is_sent_where_nothing_changes(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.standin("gh", "github.com")
    place.remote("https://github.com/owner/name.git")
    place.repo.commit(a=b"print()\n")
    code, said = run(capsys, *asked())
    assert code == 0
    assert "Nothing to commit." in said
    assert not place.pushed()
    assert not place.calls()


def test_a_push_that_is_refused_leaves_the_commit_and_says_how_to_go_on(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.standin("gh", "github.com")
    place.remote("https://github.com/owner/name.git")
    hook = place.bare / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho protected\nexit 1\n")
    hook.chmod(0o755)
    code, said = run(capsys, *asked())
    assert code == 2
    assert "Committed on port, but git could not push it (remote: protected)" in said
    assert "git push --set-upstream origin port" in said
    assert place.repo.git("log", "--format=%s", "-1", "port") == b"Use gloo instead of nccl on rocm\n"
    assert [call[1][0] for call in place.calls()] == ["auth"]


def test_a_request_that_fails_says_that_the_branch_is_there(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.standin("gh", "github.com", fails=True)
    place.remote("https://github.com/owner/name.git")
    code, said = run(capsys, *asked())
    assert code == 2
    assert "Committed and pushed port to origin" in said
    assert "no commits between main and port" in said
    assert "Open it yourself: gh pr create" in said
    assert set(place.pushed()) == {"refs/heads/port"}


def test_hooks_of_the_repository_run_only_where_asked_for(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.standin("gh", "github.com")
    place.remote("https://github.com/owner/name.git")
    marker, hook = place.repo.top.parent / "ran", place.repo.top / ".git" / "hooks" / "pre-push"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!{sys.executable}\nopen({str(marker)!r}, 'w')\n")
    hook.chmod(0o755)
    assert run(capsys, *asked())[0] == 0
    assert not marker.exists()
    place.repo.git("checkout", "-q", "main")
    assert run(capsys, "--branch", "again", "--pull-request", "--run-hooks")[0] == 0
    assert marker.exists()


def test_a_text_longer_than_the_service_takes_is_cut_at_a_line(
    place: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LONGEST", 200)
    place.standin("gh", "github.com")
    place.remote("https://github.com/owner/name.git")
    assert run(capsys, *asked())[0] == 0
    body = place.calls()[-1][2]
    assert len(body) < 210
    assert body.endswith("\n\n…\n")
