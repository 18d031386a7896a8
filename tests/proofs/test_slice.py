"""A slice of each proof in proofs/, with a new seed each time: it is printed, and repeats the run."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from proofs.__main__ import PROOFS

REPOSITORY = Path(__file__).parents[2]


@pytest.mark.skipif(sys.platform == "win32", reason="the proofs end processes by signals and make pipes")
@pytest.mark.parametrize("number", range(1, len(PROOFS) + 1), ids=PROOFS)
def test_the_promise_holds(number: int) -> None:
    words = ["--slice", "--only", str(number), "--seed", str(random.SystemRandom().randrange(1 << 32))]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    ended = subprocess.run(
        [sys.executable, "-m", "proofs", *words],
        cwd=REPOSITORY,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    print(f"python -m proofs {' '.join(words)}\n{ended.stdout}{ended.stderr}")
    assert ended.returncode == 0
