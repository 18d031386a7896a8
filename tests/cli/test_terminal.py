"""Colour and progress: on a terminal, and nowhere else."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TRAIN = 'import torch.distributed as dist\n\ndist.init_process_group("nccl")\n'

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")


def on_a_terminal(root: Path, *words: str, **environ: str) -> str:
    """What a terminal gets to see of a run."""
    import pty

    ours, terminal = pty.openpty()
    command = [sys.executable, "-m", "ddp_codemod", *words]
    with subprocess.Popen(
        command, cwd=root, env={**os.environ, "TERM": "xterm", **environ}, stdin=terminal, stdout=terminal, stderr=terminal
    ):
        os.close(terminal)
        seen = b""
        try:
            while part := os.read(ours, 4096):
                seen += part
        except OSError:  # what Linux says at the end
            pass
    os.close(ours)
    return seen.decode()


def test_colour_and_progress(project) -> None:  # type: ignore[no-untyped-def]
    seen = on_a_terminal(project(train=TRAIN), "apply", ".", "--platform", "rocm", "--dry-run")
    assert '\x1b[32m+dist.init_process_group("gloo")\x1b[0m' in seen
    assert "reading 1/1 train.py" in seen
    assert "reading" not in re.sub(r"\r\x1b\[K[^\r]*(?=\r\x1b\[K)", "", seen)  # taken away before the result comes


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_colour_where_the_environment_says_so(project, environ: dict[str, str]) -> None:  # type: ignore[no-untyped-def]
    seen = on_a_terminal(project(train=TRAIN), "apply", ".", "--platform", "rocm", "--dry-run", "-q", **environ)
    assert "\x1b" not in seen


def test_never(project) -> None:  # type: ignore[no-untyped-def]
    assert "\x1b" not in on_a_terminal(project(train=TRAIN), "diff", ".", "--platform", "rocm", "-q", "--color", "never")


def test_quiet_shows_no_progress(project) -> None:  # type: ignore[no-untyped-def]
    assert "reading" not in on_a_terminal(project(train=TRAIN), "check", ".", "--platform", "rocm", "-q")
