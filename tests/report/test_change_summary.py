"""The first line says what the changes do, and its numbers add up."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ddp_codemod.cli import main

PLAIN = 'import torch.distributed as dist\n\ndist.init_process_group("nccl", init_method="tcp://127.0.0.1:29500", rank=0, world_size=2)\n'
COMPOSITE = 'import torch.distributed as dist\n\ndist.init_process_group("cpu:gloo,cuda:nccl")\n'
CHOOSES = (
    "import platform\n\nimport torch.distributed as dist\n\n"
    'dist.init_process_group("nccl" if platform.system() != "Windows" else "gloo")\n'
)
TRAINER = "from transformers import TrainingArguments\n\nargs = TrainingArguments('out')\n"


def headline(folder: Path, capsys: pytest.CaptureFixture[str], platform: str, *words: str, **files: str) -> str:
    (folder / "pyproject.toml").touch()
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, "utf-8")
    main(["apply", str(folder), "--dry-run", "--platform", platform, *words])
    return capsys.readouterr().out.splitlines()[0]


def test_one_kind_is_named_without_a_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = headline(tmp_path, capsys, "rocm", a=PLAIN, b=PLAIN)
    assert said == "2 safe fixes in 2 files for rocm, nothing written: nccl becomes gloo."


def test_an_import_that_goes_is_told_from_the_change_it_goes_with(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = headline(tmp_path, capsys, "rocm", a=CHOOSES)
    assert said.endswith(": nccl becomes gloo, unused imports removed.")


def test_an_import_that_comes_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = headline(tmp_path, capsys, "ascend", a=PLAIN)
    assert said.endswith(": nccl becomes hccl, imports added.")


def test_another_rule_is_named_by_its_title(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = headline(tmp_path, capsys, "windows", "--torch-version", "2.5.0", a=PLAIN)
    assert said.endswith(": nccl becomes gloo (1), turn off libuv for torch 2.4 and newer (1).")


def test_it_is_said_in_chinese(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = headline(tmp_path, capsys, "windows", "--torch-version", "2.5.0", "--lang", "zh", a=PLAIN)
    assert "nccl 改为 gloo（1 处）" in said
    assert "libuv" in said


DEVICES = """import torch
import torch.distributed as dist

dist.init_process_group("nccl")
torch.cuda.set_device(0)
torch.cuda.synchronize()
model = torch.nn.Linear(1, 1).cuda()
batch = torch.ones(1).cuda()
labels = torch.ones(1, device="cuda")
weights = torch.load("weights.pt", map_location="cuda")
name = torch.device("cuda")
with torch.autocast("cuda"):
    model(batch).backward()
"""


def test_the_backend_is_named_before_the_uses_of_a_device(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = headline(tmp_path, capsys, "ascend", "--unsafe", a=DEVICES)
    assert "nothing written: nccl becomes hccl (1), " in said
    assert "others (" in said  # so that fewer kinds than there are can be named


@pytest.mark.parametrize("platform", ["rocm", "ascend", "windows", "mixed-gpu"])
def test_the_numbers_add_up(tmp_path: Path, capsys: pytest.CaptureFixture[str], platform: str) -> None:
    said = headline(tmp_path, capsys, platform, "--unsafe", a=PLAIN, b=COMPOSITE, c=CHOOSES, d=TRAINER, e=PLAIN)
    total, *parts = [int(n) for n in re.findall(r"^(\d+) |\((\d+)\)", said) for n in n if n]
    assert sum(parts) in (0, total)  # one kind needs no number
    assert total > 3
    if "unsafe" in said:
        assert sum(map(int, re.findall(r"(\d+) (?:un)?safe", said))) == total


FOUR = """import os

import torch
import torch.distributed as dist

os.environ["CUDA_VISIBLE_DEVICES"] = "0"
dist.init_process_group("nccl")
torch.cuda.set_device(0)
torch.ones(1, requires_grad=True).cuda().sum().backward()
"""


def test_one_kind_more_than_are_named_is_named_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = headline(tmp_path, capsys, "ascend", "--unsafe", a=FOUR)
    assert "others" not in said
    assert "CUDA_VISIBLE_DEVICES and similar variables (1)" in said
