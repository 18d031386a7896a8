"""The proof of a fleet run on 40 repositories, ten of them poison, while workers are killed: see proof.py."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from proof import prove

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="fleet needs process groups")


def test_nothing_is_lost_and_nothing_finished_is_done_again(tmp_path: Path) -> None:
    measured = prove(tmp_path, 40, kill_every=2.0, kills=3)
    assert measured["results"] == 30
    # the kinds that each poison may come out as stand in generate.py; a memory bomb has three
    errors = measured["errors"]
    assert isinstance(errors, dict)
    assert sum(errors.values()) == 10
    assert errors["clone-failed"] == 4
    assert min(errors["unparseable"], errors["timed-out"]) >= 2
    assert errors["too-large"] >= 1
    assert int(str(measured["workers killed"])) > 0
    # those that git could not get: of the two broken ones the commit is known, of the two hostile ones not even that
    assert measured["begun again"] == 2
