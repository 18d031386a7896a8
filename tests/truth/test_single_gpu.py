"""On an imitated machine with one GPU: what formed a group of one rank trains the same without it, and two processes train as before."""

from __future__ import annotations

import pickletools
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

GLOO = {"os.name": "nt", "platform.system": "Windows", "sys.platform": "win32"}  # what these projects ask for gloo on
ONE = {"gpus": 1, **GLOO}
ALONE = {**ONE, "sockets": False}
TWO = {"gpus": 2, **GLOO}


def names(checkpoint: Path) -> list[str]:
    """Every key in a checkpoint, read without torch."""
    with zipfile.ZipFile(checkpoint) as archive:
        pickled = archive.read(next(name for name in archive.namelist() if name.endswith("/data.pkl")))
    return sorted(text for _, text, _ in pickletools.genops(pickled) if isinstance(text, str))


def test_a_lightning_trainer_trains_without_a_group(project: Callable[..., Any]) -> None:
    after = project("tts-spawn", "single-gpu")
    ran = after.on(**ALONE).python("s1_train.py")
    assert ran.status == 0, ran.output
    assert ran.losses[-1] < ran.losses[0]
    assert (after.root / "logs/s1/s1.pth").stat().st_size


def test_what_was_spawned_trains_without_a_group_and_two_processes_as_before(project: Callable[..., Any]) -> None:
    before, after = project("tts-spawn"), project("tts-spawn", "single-gpu")
    one_rank, alone = before.on(**ONE).python("s2_train.py"), after.on(**ALONE).python("s2_train.py")
    assert one_rank.status == alone.status == 0, one_rank.output + alone.output
    assert len(alone.losses) > 3
    assert alone.losses == pytest.approx(one_rank.losses, abs=2e-6)
    saved = names(after.root / "logs/s2/s2.pth")
    assert any("weight" in name for name in saved)
    assert names(before.root / "logs/s2/s2.pth") == saved
    two = after.on(**TWO).python("s2_train.py")
    assert two.status == 0, two.output
    assert two.losses == pytest.approx(alone.losses, abs=2e-6)  # the mean over the ranks
    assert names(after.root / "logs/s2/s2.pth") == saved


def test_a_torchrun_script_trains_without_a_launcher(project: Callable[..., Any]) -> None:
    refused = (
        project("speaker-torchrun").on(**ALONE).python("speakerlab/bin/train.py", "--gpu", "0", environment={"LOCAL_RANK": "0"})
    )
    assert refused.status != 0
    assert "this machine forbids process groups" in refused.output
    ran = project("speaker-torchrun", "single-gpu").on(**ALONE).python("speakerlab/bin/train.py", "--gpu", "0")
    assert ran.status == 0, ran.output
    assert "backend None ranks 1" in ran.output
    assert ran.losses[-1] < ran.losses[0]
