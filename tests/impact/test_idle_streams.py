"""A loader that copies batches in a stream of the GPU: run for real, before and after."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ddp_codemod.cli import main

PROGRAM = """import os

import torch
import torch.distributed as dist


class Prefetcher:
    def __init__(self, loader):
        self.loader = iter(loader)
        self.stream = torch.cuda.Stream()
        self.preload()

    def preload(self):
        self.batch = next(self.loader, None)
        if self.batch is None:
            return
        with torch.cuda.stream(self.stream):
            self.batch = self.batch.cuda(non_blocking=True)

    def next(self):
        torch.cuda.current_stream().wait_stream(self.stream)
        batch = self.batch
        if batch is not None:
            batch.record_stream(torch.cuda.current_stream())
        self.preload()
        return batch


dist.init_process_group("gloo", init_method="file://" + os.path.abspath("store"), rank=0, world_size=1)
ahead = Prefetcher([torch.ones(1), torch.ones(1) * 2])
net = torch.nn.Linear(1, 1)
total = 0.0
while (batch := ahead.next()) is not None:
    net(batch).sum().backward()
    total += float(batch)
print(total)
"""


def edited(root: Path, program: str) -> str:
    (root / "pyproject.toml").touch()
    (root / "train.py").write_text(program, "utf-8")
    main(["apply", "--unsafe", "--platform", "cpu", "--no-cache", str(root)])
    return (root / "train.py").read_text("utf-8")


def run(root: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    return subprocess.run(
        [sys.executable, "train.py"], cwd=root, env=env, capture_output=True, text=True, timeout=120, check=False
    )


def test_without_a_gpu_it_dies_before_and_gives_each_batch_after(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM, "utf-8")
    assert "Stream" in run(tmp_path).stderr
    (tmp_path / "store").unlink(missing_ok=True)
    edited(tmp_path, PROGRAM)
    assert run(tmp_path).stdout == "3.0\n"


def test_a_stream_of_a_class_of_torch_is_done_without_too(tmp_path: Path) -> None:
    program = PROGRAM.replace("class Prefetcher:\n", "class Prefetcher(torch.utils.data.IterableDataset):\n")
    assert "self.stream = torch.cuda.Stream() if torch.cuda.is_available() else None" in edited(tmp_path, program)


def test_a_stream_whose_attribute_has_a_type_is_done_without(tmp_path: Path) -> None:
    program = PROGRAM.replace("self.stream = torch", "self.stream: object = torch")
    assert "self.stream: object = torch.cuda.Stream() if torch.cuda.is_available() else None" in edited(tmp_path, program)


OTHER = "import torch\n\n\nclass Copier:\n    def __init__(self):\n        self.stream = open('log')\n\n    def close(self):\n        self.stream.close()\n"


@pytest.mark.parametrize(("other", "edits"), [(OTHER, True), (OTHER.replace("self.stream = open('log')", "pass"), False)])
def test_a_stream_that_another_class_sets_is_its_own(tmp_path: Path, other: str, edits: bool) -> None:
    (tmp_path / "copier.py").write_text(other, "utf-8")
    assert ("torch.cuda.Stream() if torch.cuda.is_available()" in edited(tmp_path, PROGRAM)) is edits


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("self.preload()\n        return batch", "self.stream.synchronize()\n        return batch"),  # asked for more
        ("self.stream = torch.cuda.Stream()", "self.stream = wrap(torch.cuda.Stream())"),
        ("self.stream = torch.cuda.Stream()", "self.stream = self.other = torch.cuda.Stream()"),
        ("torch.cuda.stream(self.stream)", "enter(self.stream)"),
        ("self.preload()\n        return batch", "return batch, self.stream"),
        ("torch.cuda.current_stream().wait_stream(self.stream)", "ready = self.stream.wait_stream(torch.cuda.current_stream())"),
        ("torch.cuda.current_stream().wait_stream(self.stream)", "other.wait_stream(self.stream)"),
    ],
)
def test_a_stream_that_is_used_for_more_stays(tmp_path: Path, old: str, new: str) -> None:
    assert old in PROGRAM
    assert "Stream() if" not in edited(tmp_path, PROGRAM.replace(old, new))


@pytest.mark.parametrize(
    ("other", "edits"),
    [
        ("def wait(loader):\n    loader.stream.synchronize()\n", False),
        ("import torch\n\n\ndef copy(loader):\n    with torch.cuda.stream(loader.stream):\n        pass\n", True),
    ],
)
def test_another_file_may_use_the_stream_too(tmp_path: Path, other: str, edits: bool) -> None:
    (tmp_path / "other.py").write_text(other, "utf-8")
    assert ("Stream() if" in edited(tmp_path, PROGRAM)) is edits
