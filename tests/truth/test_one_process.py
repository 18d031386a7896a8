"""A program that trains in one process on a GPU by name, and is ported to a machine without one: it takes its step there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.truth.conftest import Project, apply

MODEL = """
import torch


def batch():
    return torch.arange(8.0).reshape(4, 2).cuda()
"""
PROGRAM = """
import argparse

import torch
from model import batch

parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cuda:0")
args = parser.parse_args()

if __name__ == "__main__":
    torch.cuda.set_device(0)
    torch.set_default_tensor_type("torch.cuda.FloatTensor")
    torch.manual_seed(0)
    net = torch.nn.Linear(2, 1).to(args.device)
    step = torch.optim.SGD(net.parameters(), lr=0.01)
    for _ in range(3):
        loss = net(batch()).square().mean()
        step.zero_grad()
        loss.backward()
        step.step()
        print("loss", loss.item())
"""


def test_it_trains_after_the_patch_alone(tmp_path: Path) -> None:
    if pytest.importorskip("torch").cuda.is_available():
        pytest.skip("this machine has a GPU")
    (tmp_path / "model.py").write_text(MODEL, "utf-8")
    (tmp_path / "train.py").write_text(PROGRAM, "utf-8")
    assert Project(tmp_path).python("train.py").losses == []
    apply(tmp_path, "cpu", "--unsafe")
    ran = Project(tmp_path).python("train.py")
    first, *_, last = ran.losses
    assert ran.status == 0, ran.output
    assert last < first
