"""Small projects, and the command line run in this process or in one of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from ddp_codemod.cli import main
from ddp_codemod.machine.detect import UNATTENDED


@dataclass(frozen=True)
class Result:
    """What a run of the command line came to."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        """Both streams."""
        return self.out + self.err


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """English, no continuous integration, and a place of its own for what undo needs."""
    for name in (*UNATTENDED, "LC_ALL", "LC_MESSAGES", "LANG", "PYTHONIOENCODING", "PYTHONUTF8", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    home = tmp_path / "home"
    home.mkdir()
    for name in ("HOME", "USERPROFILE", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(home))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Write files into a project, and stand in it."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "pyproject.toml").write_text("")
    monkeypatch.chdir(root)

    def write(**files: str) -> Path:
        for name, text in files.items():
            path = root / (name.replace("__", "/") + ".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8"))
        return root

    return write


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Run the command line in this process."""

    def command(*words: str) -> Result:
        capfd.readouterr()
        code = main(words)
        out, err = capfd.readouterr()
        return Result(code, out, err)

    return command


@pytest.fixture
def process() -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Run the command line as a process of its own."""

    def command(
        *words: str, environ: dict[str, str] | None = None, cwd: Path | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        line = [sys.executable, "-m", "ddp_codemod", *words]
        return subprocess.run(line, env={**os.environ, **(environ or {})}, cwd=cwd, capture_output=True, check=False)

    return command
