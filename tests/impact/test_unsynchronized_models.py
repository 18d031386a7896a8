"""Ranks that a launcher starts and that form no group: run for real, and said before that."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

RULES = load()
PROGRAM = """import os
import torch
import torch.distributed as dist

several = False
if {test}:
    device = "cpu"
else:
    device = "cuda"
    several = int(os.environ["WORLD_SIZE"]) > 1
    if several:
        dist.init_process_group("nccl")
model = torch.nn.Linear(1, 1)
if several:
    model = torch.nn.parallel.DistributedDataParallel(model)
model(torch.ones(1)).sum().backward()
open(f"out-{os.environ['RANK']}", "w").write(str(dist.is_initialized()))
"""


def listed(root: Path, platform: str, test: str = "not torch.cuda.is_available()") -> list[int]:
    """The lines at which ranks are said to be alone."""
    (root / "train.py").write_text(PROGRAM.replace("{test}", test), "utf-8")
    found = survey(Options((root,), RULES.platforms[platform], RULES, root=root))
    places = (one.place for one in found.decisions if one.surface == "device-alone")
    return [found.sources[place.name].position(place.start)[0] for place in places]


def test_two_ranks_are_alone_and_it_is_said(tmp_path: Path) -> None:
    assert listed(tmp_path, "cpu") == [6]
    for rank in "01":
        env = {**os.environ, "RANK": rank, "WORLD_SIZE": "2", "CUDA_VISIBLE_DEVICES": ""}
        subprocess.run([sys.executable, "train.py"], cwd=tmp_path, env=env, check=True, capture_output=True, timeout=120)
    assert [(tmp_path / f"out-{rank}").read_text() for rank in "01"] == ["False", "False"]


@pytest.mark.parametrize(
    ("platform", "test"),
    [
        ("rocm", "not torch.cuda.is_available()"),  # there is a device
        ("cpu", 'os.environ["WORLD_SIZE"] == "1"'),  # about something else
        ("cpu", "not dist.is_available()"),
    ],
)
def test_nothing_is_said(tmp_path: Path, platform: str, test: str) -> None:
    assert listed(tmp_path, platform, test) == []


def test_a_file_of_settings_that_chooses_the_strategy_is_not_read_as_a_program(tmp_path: Path) -> None:
    (tmp_path / "trainer.yaml").write_text(
        "defaults:\n  - default\n_target_: lightning.pytorch.Trainer\nstrategy: ddp\ndevices: 4\n", "utf-8"
    )
    train = "import hydra\nimport lightning\nimport torch\nfrom omegaconf import OmegaConf\n\ntrainer = hydra.utils.instantiate(OmegaConf.load('trainer.yaml'))\n"
    wrap = "if torch.cuda.is_available():\n    model = torch.nn.parallel.DistributedDataParallel(model)\ntrainer.fit(model)\n"
    (tmp_path / "train.py").write_text(train + wrap, "utf-8")
    found = survey(Options((tmp_path,), RULES.platforms["cpu"], RULES, root=tmp_path))
    assert (found.skipped, [one.place.name for one in found.decisions if one.surface == "lightning.Trainer"]) == (
        (),
        ["trainer.yaml"],
    )
