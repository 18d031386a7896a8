"""CUDA's tensor classes where there is no CUDA: the patched program runs, for real, and gives what the classes of the CPU give."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ddp_codemod.cli import main

HEAD = "import torch\nimport torch.distributed as dist\n\n\ndef group():\n    dist.init_process_group('gloo')\n\n\n"
END = "if dist.is_initialized():\n    group()\ntorch.ones(1, requires_grad=True).backward()\n"


def apply(root: Path, line: str, platform: str = "cpu") -> str:
    (root / "train.py").write_text(f"{HEAD}{line}\n{END}", "utf-8")
    main(["apply", str(root), "--platform", platform, "--unsafe", "--no-cache"])
    return (root / "train.py").read_text("utf-8").removeprefix(HEAD).removesuffix(f"\n{END}")


def run(root: Path) -> str:
    env = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    made = subprocess.run(
        [sys.executable, "train.py"], cwd=root, env=env, capture_output=True, text=True, timeout=120, check=True
    )
    return made.stdout.strip()


@pytest.mark.parametrize(
    ("line", "prints"),
    [
        ("print(torch.cuda.LongTensor([3, 2]).tolist())", "[3, 2]"),
        ("print(torch.arange(0, 3, out=torch.cuda.LongTensor(3)).tolist())", "[0, 1, 2]"),
        ("print(torch.cuda.FloatTensor(torch.ones(2).cuda().tolist()).sum().item())", "2.0"),
        ("from torch import cuda\nprint(cuda.HalfTensor(1).dtype)", "torch.float16"),
    ],
)
def test_the_patched_program_runs(tmp_path: Path, line: str, prints: str) -> None:
    after = apply(tmp_path, line)
    assert after != line
    assert run(tmp_path) == prints
    assert apply(tmp_path, after) == after  # a second run finds nothing


@pytest.mark.parametrize(
    ("line", "platform"),
    [
        ("x = torch.cuda.LongTensor([3])", "rocm"),
        ("x = torch.LongTensor([3])", "cpu"),
        ("print(isinstance(torch.ones(1), torch.cuda.LongTensor))", "cpu"),
        ("if torch.cuda.is_available():\n    x = torch.cuda.LongTensor([3])", "cpu"),
        ("x = torch.cuda.LongTensor([3]) if torch.cuda.is_available() else None", "cpu"),
        ("from torch.cuda import LongTensor\nx = LongTensor([3])", "cpu"),  # for a person
        ("def LongTensor(x):\n    return x\n\n\nx = LongTensor([3])", "cpu"),
    ],
)
def test_others_stay(tmp_path: Path, line: str, platform: str) -> None:
    assert apply(tmp_path, line, platform) == line
