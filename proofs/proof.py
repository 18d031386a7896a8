"""What every proof gets and gives."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
KEPT = REPOSITORY / "proofs" / "kept"  # inputs that once failed; every run tries them again


@dataclass
class Trial:
    """One run of one proof: how much, from which seed, in which empty folder; and what came of it."""

    whole: bool
    seed: int
    folder: Path
    share: float = 1.0  # of the full number of generated cases
    failures: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    kept: dict[str, bytes] = field(default_factory=dict)  # inputs that failed, by the name to keep them under

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)

    def fail(self, why: str, name: str = "", data: bytes = b"") -> None:
        """Note a broken promise, and the input that broke it."""
        self.failures.append(why)
        if name:
            self.kept[name] = data

    def sized(self, part: int, whole: int) -> int:
        """How many, in this run."""
        return max(part, round(whole * self.share)) if self.whole else part


def environment(folder: Path, **more: str) -> dict[str, str]:
    """Variables for a program apart from whoever runs the proofs: its own home and state, no git configuration, English."""
    home = folder / "home"
    home.mkdir(parents=True, exist_ok=True)
    keep = ("PATH", "LD_LIBRARY_PATH", "SYSTEMROOT", "TMPDIR", "TEMP", "TMP")
    return {
        **{name: os.environ[name] for name in keep if name in os.environ},
        "HOME": str(home),
        "USERPROFILE": str(home),
        "XDG_STATE_HOME": str(folder / "state"),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@b",
        "LC_ALL": "C.UTF-8",
        "PYTHONPATH": str(REPOSITORY),
        "PYTHONDONTWRITEBYTECODE": "1",
        **more,
    }  # fmt: skip


def tool(*words: str) -> list[str]:
    """The command line of the package beside the proofs."""
    return [sys.executable, "-m", "ddp_codemod", *words]


def git(folder: Path, *words: str, stdin: bytes = b"", env: dict[str, str] | None = None) -> bytes:
    """Plain git, which is to succeed."""
    ended = subprocess.run(["git", *words], cwd=folder, input=stdin, capture_output=True, env=env or environment(folder.parent))
    if ended.returncode:
        raise RuntimeError(f"git {' '.join(words)}: {ended.stderr.decode(errors='replace')}")
    return ended.stdout


def tree(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Bytes and mode of every file, and where every link leads, outside .git."""
    found: dict[str, tuple[bytes, int]] = {}
    for at, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != ".git"]
        for name in names:
            path = Path(at, name)
            key = os.path.relpath(path, folder)
            if path.is_symlink():
                found[key] = (os.fsencode(os.readlink(path)), 0)
            elif path.is_file():
                found[key] = (path.read_bytes(), path.stat().st_mode)
    return found
