"""What the tests of the fleet share: small repositories, and a run's settings."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from generate import CALL, repository, template

from ddp_codemod import __version__
from ddp_codemod.fleet.keys import digest_rules
from ddp_codemod.fleet.model import Limits, Work

Make = Callable[..., Path]
NCCL = CALL.format('"nccl"').encode()


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Make a bare repository of files."""
    like = template(tmp_path)

    def made(name: str = "a.git", **files: bytes) -> Path:
        path = tmp_path / name
        repository(path, like, {f"{stem}.py": data for stem, data in files.items()} or {"train.py": NCCL})
        return path

    return made


@pytest.fixture
def work(tmp_path: Path) -> Work:
    """A run that keeps its results in ``out``, which nobody but the client sees."""
    return Work(
        out=str(tmp_path / "out"), token="t", version=__version__, rules=digest_rules(()), folders=(),
        lang="en", page_lang="en", limits=Limits(seconds=60, cpu=60),
    )  # fmt: skip


def limited(work: Work, **limits: float) -> Work:
    return replace(work, limits=replace(work.limits, **limits))


def command(process: psutil.Process) -> str:
    """How it was started; nothing where it has ended."""
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""
