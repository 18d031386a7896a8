"""A slice of each proof in proofs/. The seed is printed; it is the same every time, so that a change is judged by its own merits.

PROOF_SEED=random takes a new one, as ``make proofs`` does.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from proofs.__main__ import PROOFS

REPOSITORY = Path(__file__).parents[2]
ASKED = os.environ.get("PROOF_SEED", "20261121")
SEED = str(random.SystemRandom().randrange(1 << 32)) if ASKED == "random" else ASKED


@pytest.mark.skipif(sys.platform == "win32", reason="the proofs end processes by signals and make pipes")
@pytest.mark.parametrize("number", range(1, len(PROOFS) + 1), ids=PROOFS)
def test_the_promise_holds(number: int) -> None:
    words = ["--slice", "--only", str(number), "--seed", SEED]
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
