"""A check for a GPU whose question stands in a function of another file: run for real, before and after."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ddp_codemod.cli import main

HELPERS = """import torch


def enough_devices(least: int = 2) -> bool:
    # both are asked
    there = torch.{module}.is_available()
    return there and torch.{module}.device_count() >= least


def other(least: int = 2) -> bool:
    return least > 3
"""
PROGRAM = """import os
import sys

import torch
import torch.distributed as dist
from helpers import enough_devices, other

if not {ask}(least=2):
    print("not enough")
    {leave}
dist.init_process_group("gloo", init_method="file://" + os.path.abspath("store"), rank=0, world_size=1)
torch.nn.Linear(1, 1)(torch.ones(1)).sum().backward()
print("trained")
"""


def edited(root: Path, ask: str = "enough_devices", leave: str = "sys.exit()", module: str = "cuda") -> str:
    (root / "pyproject.toml").touch()
    (root / "helpers.py").write_text(HELPERS.replace("{module}", module), "utf-8")
    (root / "train.py").write_text(PROGRAM.replace("{ask}", ask).replace("{leave}", leave), "utf-8")
    before = (root / "train.py").read_text("utf-8")
    main(["apply", "--unsafe", "--platform", "cpu", "--no-cache", str(root)])
    after = (root / "train.py").read_text("utf-8")
    return "" if after == before else after


def run(root: Path) -> str:
    env = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    return subprocess.run(
        [sys.executable, "train.py"], cwd=root, env=env, capture_output=True, text=True, timeout=120, check=False
    ).stdout


@pytest.mark.parametrize("module", ["cuda", "accelerator"])
def test_the_check_is_made_only_where_there_is_a_device(tmp_path: Path, module: str) -> None:
    text = edited(tmp_path, module=module)
    assert f"if torch.{module}.is_available() and not enough_devices(least=2):" in text
    assert run(tmp_path) == "trained\n"
    (tmp_path / "train.py").write_text(PROGRAM.replace("{ask}", "enough_devices").replace("{leave}", "sys.exit()"), "utf-8")
    assert run(tmp_path) == "not enough\n"


@pytest.mark.parametrize(("ask", "leave"), [("other", "sys.exit()"), ("enough_devices", "print('slow')"), ("len", "sys.exit()")])
def test_what_asks_for_no_device_or_goes_on_stays(tmp_path: Path, ask: str, leave: str) -> None:
    assert edited(tmp_path, ask, leave) == ""
