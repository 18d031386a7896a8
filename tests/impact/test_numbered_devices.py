"""A rank that is passed on as a device: moved to for real by two ranks without a GPU, and left alone where it is none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ddp_codemod.cli import main
from tests.impact.test_launched_counts import free_port

PROGRAM = """import os
import torch
import torch.distributed as dist


class Meter:
    def __init__(self, device):
        self.total = torch.zeros(1, device=device)


def check(model, device):
    return model(torch.full((1, 1), dist.get_rank() + 1.0).to(device))


def main(local_rank):
    dist.init_process_group("nccl")
    meter = Meter(device=local_rank)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1, device=local_rank))
    (check(model, local_rank) + check(model, device=local_rank) + meter.total).sum().backward()
    open(f"out-{local_rank}", "w").write(f"{next(model.parameters()).grad.item()}")


if __name__ == "__main__":
    main(int(os.environ["LOCAL_RANK"]))
"""


def apply(root: Path, program: str, platform: str = "cpu") -> str:
    (root / "train.py").write_text(program, "utf-8")
    main(["apply", str(root), "--platform", platform, "--unsafe", "--no-cache"])
    return (root / "train.py").read_text("utf-8")


def test_ranks_that_pass_on_their_number_as_a_device_train_without_a_gpu(tmp_path: Path) -> None:
    assert apply(tmp_path, PROGRAM).count("torch.cuda.is_available()") == 4
    env = os.environ | {
        "MASTER_ADDR": "localhost",
        "MASTER_PORT": str(free_port()),
        "WORLD_SIZE": "2",
        "GLOO_SOCKET_IFNAME": "lo",
    }
    ranks = [
        subprocess.Popen([sys.executable, "train.py"], cwd=tmp_path, env=env | {"RANK": rank, "LOCAL_RANK": rank})
        for rank in "01"
    ]
    for one in ranks:
        one.wait(120)
    assert [(tmp_path / f"out-{rank}").read_text() for rank in "01"] == ["3.0", "3.0"]  # twice the mean of 1 and 2


ELSE = """import torch
import torch.distributed as dist
from somewhere import Meter


def show(rank, device=None):
    print(rank, device)


class Log:
    def add(self, device):
        print(device)


def main(local_rank, *more):
    dist.init_process_group("gloo")
    {}
    torch.ones(1, requires_grad=True).backward()


main(0)
"""


@pytest.mark.parametrize(
    ("line", "platform"),
    [
        ("show(local_rank)", "cpu"),  # for the parameter of another name
        ("show(*more, local_rank)", "cpu"),
        ("Meter(device=local_rank)", "cpu"),  # of which nothing is known
        ("unknown(local_rank)", "cpu"),
        ("show(0, device=0)", "cpu"),  # says no rank
        ("show(0, device=local_rank)", "rocm"),
        ("torch.zeros(1, device=local_rank)", "rocm"),
    ],
)
def test_other_numbers_stay(tmp_path: Path, line: str, platform: str) -> None:
    program = ELSE.format(line)
    assert apply(tmp_path, program, platform) == program


@pytest.mark.parametrize("call", ["torch.cuda.synchronize(device=local_rank)", "torch.ones(1).cuda(device=local_rank)"])
def test_what_another_edit_is_about_is_edited_once(tmp_path: Path, call: str) -> None:
    assert apply(tmp_path, ELSE.format(call)).count("torch.cuda.is_available()") == 1
