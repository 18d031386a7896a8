"""A project in a repository of its own, and reviews of it by a pipe of answers."""

from __future__ import annotations

import io
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from ddp_codemod.cli import main


@dataclass(frozen=True)
class Reviewed:
    """What a review came to."""

    code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def _own_world(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG", "VISUAL", "EDITOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text("[user]\n\tname = Test\n\temail = test@example.com\n[init]\n\tdefaultBranch = main\n")
    for name in ("HOME", "USERPROFILE", "XDG_STATE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(home))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Write files, commit them, and stand among them."""
    root = tmp_path / "project"
    root.mkdir()
    monkeypatch.chdir(root)

    def write(**files: str) -> Path:
        for name, text in files.items():
            path = root / (name.replace("__", "/") + ".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8"))
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "--allow-empty", "-m", "state"]):
            subprocess.run(["git", *words], cwd=root, check=True)
        return root

    return write


@pytest.fixture
def review(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Reviewed]:
    """Review with these answers."""

    def run(answers: str, *words: str, platform: str = "rocm") -> Reviewed:
        capfd.readouterr()
        monkeypatch.setattr("sys.stdin", io.StringIO(answers))
        code = main(["review", *words, "--answers", "--platform", platform])
        return Reviewed(code, *capfd.readouterr())

    return run
