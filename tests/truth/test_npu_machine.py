"""On an imitated Ascend machine, real torch and real gloo behind hccl: what is ported whole trains, by each of the two ways."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

NPU = {"npu": True, "os.name": "posix", "platform.system": "Linux", "sys.platform": "linux"}
WAYS = {
    "each place": ("--unsafe",),
    "the vendor's import": ("--unsafe", "--rule", "transfer-to-npu"),
    "portable": ("--unsafe", "--style", "portable"),
}
# the kinds of places that name a device, in a program of two ranks
KINDS = """\
import argparse
import os
from dataclasses import dataclass, fields
from typing import Literal, get_args, get_type_hints

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


@dataclass
class Config:
    device_type: Literal["cpu", "cuda", "mps"] = "cuda"
    steps: int = 4


def checked(config: Config) -> Config:
    for field in fields(config):
        allowed = get_args(get_type_hints(Config)[field.name])
        if allowed and getattr(config, field.name) not in allowed:
            raise SystemExit(f"{field.name}: {getattr(config, field.name)} is none of {allowed}")
    return config


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda", choices=["cpu", "cuda"])
    args = parser.parse_args()
    config = checked(Config())
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl")
    torch.manual_seed(0)
    torch.cuda.manual_seed_all(0)
    device = torch.device(f"cuda:{rank}")
    model = DDP(torch.nn.Linear(4, 1).to(device), device_ids=[rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.cuda.amp.GradScaler(enabled=args.device == "cuda")
    weight = torch.zeros(1, device=config.device_type)
    for _ in range(config.steps):
        x, y = torch.ones(8, 4).cuda(non_blocking=True), torch.ones(8, 1).to(args.device)
        with torch.autocast("cuda", enabled=False):
            loss = torch.nn.functional.mse_loss(model(x), y) + weight.sum()
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        torch.cuda.synchronize()
        if rank == 0:
            print(f"loss {loss.item():.6f}", flush=True)
    dist.barrier()
    if rank == 0:
        print("backend", dist.get_backend(), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
"""


def trains(ran: Any) -> None:
    """Both ranks went to the end, the losses fall, and nothing was asked of torch.cuda."""
    assert ran.status == 0, ran.output
    assert len(ran.losses) > 3, ran.output
    assert ran.losses[-1] < ran.losses[0]
    assert "asked torch.cuda" not in ran.output, ran.output


@pytest.fixture
def kinds(tmp_path: Path, truth: SimpleNamespace) -> Callable[..., Any]:
    def written(*options: str) -> Any:
        root = tmp_path / "".join(("kinds", *options))
        root.mkdir()
        (root / "pyproject.toml").touch()
        (root / "train.py").write_text(KINDS)
        if options:
            truth.apply(root, "ascend", *options)
        return truth.Project(root).on(**NPU)

    return written


@pytest.mark.parametrize("way", [pytest.param(way, marks=() if way == "each place" else pytest.mark.long) for way in WAYS])
def test_each_kind_of_place_is_moved(kinds: Callable[..., Any], way: str) -> None:
    ran = kinds(*WAYS[way]).torchrun("train.py")
    if way == "portable":
        assert ran.status == 0, ran.output  # which asks torch.cuda where there is no npu
        assert len(ran.losses) == 4
    else:
        trains(ran)
    assert "backend hccl" in ran.output


def test_half_a_port_and_none_do_not_run(kinds: Callable[..., Any], tmp_path: Path) -> None:
    ran = kinds().torchrun("train.py")
    assert ran.status != 0
    assert not ran.losses


@pytest.mark.long
@pytest.mark.parametrize("way", ["each place", "the vendor's import"])
@pytest.mark.parametrize(("case", "program"), [("tts-spawn", "s2_train.py"), ("speaker-torchrun", "speakerlab/bin/train.py")])
def test_projects_train(project: Callable[..., Any], case: str, program: str, way: str) -> None:
    machine = project(case, "ascend", *WAYS[way]).on(**NPU)
    trains(machine.torchrun(program) if case.endswith("torchrun") else machine.python(program))
