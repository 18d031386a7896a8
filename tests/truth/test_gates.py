"""Code that asks whether NCCL is there before it asks for its rank, with a torch that has none: two ranks of one group."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.truth.conftest import Project, apply

PROGRAM = """
import torch
import torch.distributed as dist


def rank():
    if not dist.is_nccl_available():
        return 0
    return dist.get_rank()


def mean(value):
    if not dist.is_available() or not dist.is_nccl_available():
        return value
    dist.all_reduce(value)
    return value / dist.get_world_size()


dist.init_process_group("nccl")
found = mean(torch.tensor(float(dist.get_rank()))).item()
print(f"rank {rank()} mean {found}\\n", end="", flush=True)  # in one piece: the ranks share the stream
dist.destroy_process_group()
"""


@pytest.mark.parametrize(
    ("options", "said"), [((), {"rank 0 mean 0.0", "rank 0 mean 1.0"}), (("--unsafe",), {"rank 0 mean 0.5", "rank 1 mean 0.5"})]
)
def test_each_process_takes_itself_for_the_only_one_until_the_gate_is_gone(
    tmp_path: Path, options: tuple[str, ...], said: set[str]
) -> None:
    if pytest.importorskip("torch").distributed.is_nccl_available():
        pytest.skip("this torch has NCCL")
    (tmp_path / "train.py").write_text(PROGRAM, "utf-8")
    apply(tmp_path, "cpu", *options)
    ran = Project(tmp_path).torchrun("train.py")
    assert ran.status == 0, ran.output
    assert {line for line in ran.output.splitlines() if line.startswith("rank ")} == said
