"""Where a device is used: what a switch of the program leaves out today is changed too, what the platform leaves out is not."""

from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

RULES = load()
PROGRAM = """\
import os

import torch
import torch.distributed as dist

{switch}

if {test}:
    dist.init_process_group("nccl")
    device = torch.device("cuda", 0)
else:
    device = torch.device("cpu")
torch.ones(1, requires_grad=True, device=device).backward()
"""


def changed(folder: Path, platform: str, switch: str, test: str) -> bool:
    (folder / "train.py").write_text(PROGRAM.format(switch=switch, test=test), "utf-8")
    made = survey(Options((folder,), RULES.platforms[platform], RULES, root=folder))
    return any(edit.rule == "device-name" for edit in made.edits)


@pytest.mark.parametrize(
    ("switch", "test"),
    [
        ("distributed = False", "distributed"),
        ("alone = True", "not alone"),
        ("cards = 1", "cards > 1"),
        ("", "os.name == 'posix'"),
    ],
)
def test_a_switch_that_is_set_by_hand_may_be_set_otherwise(tmp_path: Path, switch: str, test: str) -> None:
    assert changed(tmp_path, "sdaa", switch, test)


@pytest.mark.parametrize(
    "test", ["os.name == 'nt'", "torch.npu.is_available()", "torch.version.hip", "not torch.distributed.is_available()"]
)
def test_what_the_platform_never_runs_stays(tmp_path: Path, test: str) -> None:
    assert not changed(tmp_path, "sdaa", "", test)
