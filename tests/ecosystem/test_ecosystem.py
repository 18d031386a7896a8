"""Two published packages, small ones; ``make ecosystem`` runs them all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).with_name("run.py")
UNREACHABLE = 3


@pytest.mark.parametrize("pin", ["coqui-tts-trainer==0.4.0", "so-vits-svc-fork==4.2.30"])
def test_published_package(pin: str) -> None:
    ran = subprocess.run([sys.executable, str(RUN), pin], capture_output=True, text=True, encoding="utf-8")
    if ran.returncode == UNREACHABLE:
        pytest.skip(ran.stdout.strip())
    assert ran.returncode == 0, ran.stdout + ran.stderr
