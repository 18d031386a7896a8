"""``verify --run`` tells ranks that train one model from ranks that each train their own, with real processes over gloo."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from ddp_codemod.cli import main
from ddp_codemod.machine.processes import find_free_port
from ddp_codemod.machine.step_agreement import compare_steps
from ddp_codemod.report.trials import SCHEMA

# a rank ends at once when it has trained: torch's own threads abort one at its exit once in some hundred runs
PROGRAM = """import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
{imports}


def work(rank, port):
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}?use_libuv=0", rank=rank, world_size={world})
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Linear(3, 2))
    {wrap}
    optimizer = {optimizer}
    torch.manual_seed(rank)
    for step in range(5):
        optimizer.zero_grad()
        model(torch.rand(3, 4)).sum().square().backward()
        {shared}
        optimizer.step()
        {later}
    dist.barrier()
    dist.destroy_process_group()
    print("trained to the end", flush=True)
    os._exit(0)


if __name__ == "__main__":
    mp.spawn(work, args=({port},), nprocs={world})
"""
DDP = "model = torch.nn.parallel.DistributedDataParallel(model)"
SGD = "torch.optim.SGD(model.parameters(), lr=0.1)"
SUM = "[dist.all_reduce(one.grad) for one in model.parameters()]"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pyproject.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(root: Path, **parts: str) -> None:
    given = {"wrap": "pass", "optimizer": SGD, "shared": "pass", "later": "pass", "imports": "", "world": "2", **parts}
    text = PROGRAM.replace("{port}", str(find_free_port()))
    for name, value in given.items():
        text = text.replace(f"{{{name}}}", value)
    (root / "train.py").write_text(text, "utf-8")


def run(capfd: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any] | None, str]:
    capfd.readouterr()
    own = f"{sys.executable} -W ignore train.py"
    code = main(["verify", "--platform", "cpu", "--run", own, "--format", "json", "--timeout", "400"])
    out, err = capfd.readouterr()
    document = json.loads(out)
    jsonschema.validate(document, json.loads(SCHEMA.read_text("utf-8")))
    assert document["run"]["exit_code"] == 0, err
    assert "trained to the end" in err
    return code, document["run"]["sync_check"], err


@pytest.mark.parametrize("parts", [{"wrap": DDP}, pytest.param({"shared": SUM}, marks=pytest.mark.long)])
def test_ranks_that_share_gradients_pass(project: Path, capfd: pytest.CaptureFixture[str], parts: dict[str, str]) -> None:
    write(project, **parts)
    code, found, err = run(capfd)
    assert code == 0, err
    assert found is not None
    assert (found["diverged"], found["ranks"], found["step"]) == (False, 2, 3)
    assert found["stack"][0] == {"path": "train.py", "line": 20}
    assert found["gradients"][0] == pytest.approx(found["gradients"][1], rel=1e-6)
    assert "they train one model" in err


def test_ranks_that_share_nothing_fail(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write(project)
    code, found, err = run(capfd)
    assert code == 1
    assert found is not None
    assert found["diverged"]
    assert found["gradients"][0] != pytest.approx(found["gradients"][1], rel=1e-3)
    assert "train apart" in err
    assert not list(project.glob("**/ddp_codemod_steps*"))  # nothing is written into the project


@pytest.mark.long
def test_a_learning_rate_of_0_at_first_hides_nothing(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write(
        project,
        optimizer="torch.optim.SGD(model.parameters(), lr=0.0)",
        later="optimizer.param_groups[0]['lr'] = 1e-6",
    )
    code, found, _ = run(capfd)
    assert (code, found is not None and found["diverged"]) == (1, True)


@pytest.mark.parametrize(
    "parts",
    [
        {"world": "1"},
        {"shared": "continue"},  # no step
        pytest.param({"later": "[dist.broadcast(one.data, 0) for one in model.parameters()]"}, marks=pytest.mark.long),
        pytest.param({"imports": "import torch.distributed.algorithms.model_averaging.averagers"}, marks=pytest.mark.long),
        pytest.param(
            {"wrap": "half = dist.new_group([rank]) if rank == 0 else dist.new_group([0])"},  # groups of some ranks
            marks=pytest.mark.long,
        ),
        pytest.param({"wrap": "model = torch.nn.Linear(4, 2 + rank)"}, marks=pytest.mark.long),  # other parameters
        pytest.param(
            {"shared": "dist.all_reduce(model[0].weight.grad); dist.all_reduce(model[0].bias.grad)"}, marks=pytest.mark.long
        ),
    ],
    ids=[
        "one process",
        "no step",
        "shared afterwards",
        "averaged now and then",
        "groups of some",
        "other parameters",
        "some shared",
    ],
)
def test_nothing_is_claimed(project: Path, capfd: pytest.CaptureFixture[str], parts: dict[str, str]) -> None:
    write(project, **parts)
    code, found, err = run(capfd)
    assert (code, found) == (0, None), err
    assert "train apart" not in err


SHARDED = """import torch.distributed.fsdp as fsdp
from torch.distributed.device_mesh import init_device_mesh"""


@pytest.mark.parametrize(
    "wrap",
    [
        pytest.param(
            "model = fsdp.FullyShardedDataParallel(model, use_orig_params=True, device_id=torch.device('cpu'))",
            marks=pytest.mark.long,
        ),
        "fsdp.fully_shard(model, mesh=init_device_mesh('cpu', (2,)))",
    ],
)
def test_shards_that_differ_by_design_are_no_failure(project: Path, capfd: pytest.CaptureFixture[str], wrap: str) -> None:
    write(project, imports=SHARDED, wrap=wrap)
    code, found, err = run(capfd)
    assert (code, found) == (0, None), err


@pytest.mark.long
def test_an_optimizer_that_shares_gradients_itself(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    own = (
        "class Own(torch.optim.SGD):\n    def step(self):\n        for group in self.param_groups:\n"
        "            for one in group['params']:\n                dist.all_reduce(one.grad)\n        super().step()\n"
    )
    write(project, imports=own, optimizer="Own(model.parameters(), lr=0.1)")
    code, found, err = run(capfd)
    assert (code, found) == (0, None), err


def entry(rank: int, grads: list[float | None], params: list[float], number: int = 1, **more: Any) -> dict[str, Any]:
    given = {"rank": rank, "number": number, "ranks": 2, "optimizer": "SGD", "shards": False, "sizes": [1, 1], "frames": []}
    return {**given, "grads": grads, "held": params, "params": params, **more}


@pytest.mark.parametrize(
    ("first", "second", "apart"),
    [
        (entry(0, [1.0, 2.0], [1.0, 1.0]), entry(1, [5.0, 3.0], [2.0, 2.0]), True),
        (entry(0, [1.0, 2.0], [1.0, 1.0]), entry(1, [1.0, 2.0], [1.0, 1.0]), False),
        (entry(0, [1.0, 0.0], [1.0, 1.0]), entry(1, [1.00001, 0.0], [1.0, 1.0]), False),  # rounding of another device
        (entry(0, [0.0, 2.0], [1.0, 1.0]), entry(1, [0.0, 3.0], [1.0, 2.0]), True),  # one learns nothing yet
        (entry(0, [1.0, None], [1.0, 1.0]), entry(1, [5.0, None], [2.0, 2.0]), True),  # what takes no part
        (entry(0, [1.0, 2.0], [1.0, 1.0]), entry(1, [5.0, 3.0], [1.0, 1.0]), None),  # the same afterwards
        (entry(0, [float("nan")], [1.0]), entry(1, [float("nan")], [1.0]), None),
        (entry(0, [0.0], [1.0]), entry(1, [0.0], [2.0]), None),
        (entry(0, [1.0], [1.0]), entry(1, [5.0], [2.0], shards=True), None),
        (entry(0, [1.0], [1.0]), entry(1, [5.0], [2.0], optimizer="Adam"), None),  # of another model
        (entry(0, [1.0], [1.0]), entry(0, [5.0], [2.0]), None),  # the same rank twice
        (entry(0, [1.0], [1.0]), entry(1, [5.0], [2.0], number=2), None),  # not the same step
    ],
)  # fmt: skip
def test_what_two_steps_show(first: dict[str, Any], second: dict[str, Any], apart: bool | None) -> None:
    found = compare_steps([first, second])
    assert (found.apart if found is not None else None) is apart
