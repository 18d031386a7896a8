"""Real git repositories, apart from the configuration and state of whoever runs the tests."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from ddp_codemod.model import FileChange


@dataclass(frozen=True)
class Repo:
    """A repository to play with: everything fails with git's own words."""

    top: Path

    def git(self, *args: str, stdin: bytes = b"", at: Path | None = None) -> bytes:
        result = subprocess.run(["git", *args], cwd=at or self.top, input=stdin, capture_output=True, check=False)
        assert result.returncode == 0, (args, result.stderr.decode("utf-8", "replace"))
        return result.stdout

    def commit(self, **files: bytes) -> None:
        """Write the files, by name without ".py", and commit everything there is."""
        for name, data in files.items():
            (self.top / f"{name}.py").write_bytes(data)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "state")

    def read(self, name: str) -> bytes:
        return (self.top / name).read_bytes()

    def change(self, name: str, old: bytes = b"nccl", new: bytes = b"gloo") -> FileChange:
        """What the tool would ask for: one word replaced in the file as it is."""
        before = self.read(name)
        return FileChange(name, before, before.replace(old, new))

    def patch_id(self, patch: bytes) -> bytes:
        return self.git("patch-id", "--stable", stdin=patch).split(b" ")[0]

    def tree(self) -> dict[str, tuple[bytes, int]]:
        """Bytes and mode of every file outside .git."""
        return {
            path.relative_to(self.top).as_posix(): (path.read_bytes(), path.stat().st_mode)
            for path in sorted(self.top.rglob("*"))
            if path.is_file() and ".git" not in path.relative_to(self.top).parts
        }


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own, whose .gitconfig has an author."""
    home = tmp_path / "home"
    home.mkdir()
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    (home / ".gitconfig").write_text("[user]\n\tname = Test\n\temail = test@example.com\n[init]\n\tdefaultBranch = main\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / ".gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return home


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """An empty repository."""
    return make_repo(tmp_path / "project")


@pytest.fixture
def sha256_repo(tmp_path: Path) -> Repo:
    return make_repo(tmp_path / "project256", "--object-format=sha256")


def make_repo(top: Path, *options: str) -> Repo:
    top.mkdir()
    made = Repo(top)
    made.git("init", "-q", *options)
    return made


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder without git, as from a zip."""
    folder = tmp_path / "unzipped"
    folder.mkdir()
    return folder
