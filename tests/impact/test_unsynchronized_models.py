"""Ranks that a launcher starts and that form no group: run for real, and said before that."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.cli import main
from ddp_codemod.model import Action
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

RULES = load()
PROGRAM = """import os
import torch
import torch.distributed as dist

several = False
if {test}:
    device = "cpu"
else:
    device = "cuda"
    several = int(os.environ["WORLD_SIZE"]) > 1
    if several:
        dist.init_process_group("nccl")
model = torch.nn.Linear(1, 1)
if several:
    model = torch.nn.parallel.DistributedDataParallel(model)
model(torch.ones(1)).sum().backward()
open(f"out-{os.environ['RANK']}", "w").write(str(dist.is_initialized()))
"""


def listed(root: Path, platform: str, test: str = "not torch.cuda.is_available()") -> list[int]:
    """The lines at which ranks are said to be alone."""
    (root / "train.py").write_text(PROGRAM.replace("{test}", test), "utf-8")
    found = survey(Options((root,), RULES.platforms[platform], RULES, root=root))
    places = (one.place for one in found.decisions if one.surface == "device-alone")
    return [found.sources[place.name].position(place.start)[0] for place in places]


def test_two_ranks_are_alone_and_it_is_said(tmp_path: Path) -> None:
    assert listed(tmp_path, "cpu") == [6]
    for rank in "01":
        env = {**os.environ, "RANK": rank, "WORLD_SIZE": "2", "CUDA_VISIBLE_DEVICES": ""}
        subprocess.run([sys.executable, "train.py"], cwd=tmp_path, env=env, check=True, capture_output=True, timeout=120)
    assert [(tmp_path / f"out-{rank}").read_text() for rank in "01"] == ["False", "False"]


@pytest.mark.parametrize(
    ("platform", "test"),
    [
        ("rocm", "not torch.cuda.is_available()"),  # there is a device
        ("cpu", 'os.environ["WORLD_SIZE"] == "1"'),  # about something else
        ("cpu", "not dist.is_available()"),
    ],
)
def test_nothing_is_said(tmp_path: Path, platform: str, test: str) -> None:
    assert listed(tmp_path, platform, test) == []


def test_a_file_of_settings_that_chooses_the_strategy_is_not_read_as_a_program(tmp_path: Path) -> None:
    (tmp_path / "trainer.yaml").write_text(
        "defaults:\n  - default\n_target_: lightning.pytorch.Trainer\nstrategy: ddp\ndevices: 4\n", "utf-8"
    )
    train = "import hydra\nimport lightning\nimport torch\nfrom omegaconf import OmegaConf\n\ntrainer = hydra.utils.instantiate(OmegaConf.load('trainer.yaml'))\n"
    wrap = "if torch.cuda.is_available():\n    model = torch.nn.parallel.DistributedDataParallel(model)\ntrainer.fit(model)\n"
    (tmp_path / "train.py").write_text(train + wrap, "utf-8")
    found = survey(Options((tmp_path,), RULES.platforms["cpu"], RULES, root=tmp_path))
    assert (found.skipped, [one.place.name for one in found.decisions if one.surface == "lightning.Trainer"]) == (
        (),
        ["trainer.yaml"],
    )


WRAPPED = """import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

rank = int(os.environ["RANK"])
dist.init_process_group("gloo", init_method="file://" + os.path.abspath("store"), rank=rank, world_size=2)
torch.manual_seed(dist.get_rank())
data = torch.randn(4, 1)
torch.manual_seed(0)
net = torch.nn.Linear(1, 1)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
{wrap}
ddp(data).sum().backward()
open(f"out-{dist.get_rank()}", "w").write(str([float(one.grad.sum()) for one in net.parameters()]))
dist.barrier()
os._exit(0)  # gloo's threads sometimes abort a process that ends while the other still has the group
"""
BRANCH = """if torch.cuda.is_available():
    use_ddp = True
    ddp = DDP(net, device_ids=[device], output_device=device, broadcast_buffers=False)
else:
    use_ddp = False
    ddp = net
"""


def edited(root: Path, wrap: str) -> str:
    (root / "pyproject.toml").touch()
    (root / "train.py").write_text(WRAPPED.replace("{wrap}", wrap), "utf-8")
    main(["apply", "--unsafe", "--platform", "cpu", "--no-cache", str(root)])
    return (root / "train.py").read_text("utf-8")


def gradients(root: Path) -> list[str]:
    started = [
        subprocess.Popen([sys.executable, "train.py"], cwd=root, env={**os.environ, "RANK": rank, "WORLD_SIZE": "2"})
        for rank in "01"
    ]
    assert [one.wait(120) for one in started] == [0, 0]
    return [(root / f"out-{rank}").read_text() for rank in "01"]


def test_a_model_that_only_a_gpu_would_wrap_learns_the_same_on_both_ranks(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(WRAPPED.replace("{wrap}", BRANCH), "utf-8")
    apart = gradients(tmp_path)
    assert apart[0] != apart[1]
    for left in ("store", "out-0", "out-1"):
        (tmp_path / left).unlink(missing_ok=True)
    assert "if torch.cuda.is_available() or torch.distributed.is_initialized():\n" in edited(tmp_path, BRANCH)
    together = gradients(tmp_path)
    assert together[0] == together[1]


MOVED = """ddp = net
if torch.cuda.is_available():
    ddp = DDP(ddp, device_ids=[rank])
else:
    ddp = ddp.to({to})
"""


@pytest.mark.parametrize(("to", "opened"), [("device", True), ('"cpu"', True), ("torch.float64", False), ("other", False)])
def test_a_model_that_is_moved_to_the_device_elsewhere_is_wrapped(tmp_path: Path, to: str, opened: bool) -> None:
    program = edited(tmp_path, MOVED.format(to=to).replace("other", "torch.bfloat16"))
    assert ("is_available() or torch.distributed.is_initialized()" in program) is opened


SLOW = """ddp = net
if not torch.cuda.is_available():
    print("using CPU, this will be slow")
elif dist.is_initialized():
    ddp = torch.nn.SyncBatchNorm.convert_sync_batchnorm(ddp)
    torch.cuda.set_device(rank)
    ddp = DDP(ddp.cuda(rank), device_ids=[rank])
"""


def test_a_branch_for_the_cpu_that_does_nothing_is_not_taken_in_a_group(tmp_path: Path) -> None:
    program = edited(tmp_path, SLOW)
    assert "if not torch.cuda.is_available() and not torch.distributed.is_initialized():\n" in program
    together = gradients(tmp_path)
    assert together[0] == together[1]


@pytest.mark.parametrize(
    "wrap",
    [
        SLOW.replace("    print", "    net = copy(net)\n    print"),  # more is done on the CPU
        SLOW.replace("not torch.cuda.is_available()", "not (torch.cuda.is_available() or slow)"),
        SLOW + "ddp = DDP(ddp)\n",
        SLOW + "if device.type == 'cuda':\n    net = ddp.module\n",  # takes the model out of its wrapper by such a test
    ],
)
def test_a_branch_for_the_cpu_stays(tmp_path: Path, wrap: str) -> None:
    assert "is_initialized():\n    print" not in edited(tmp_path, wrap)


@pytest.mark.parametrize(
    "after",
    [
        "state = ddp.module.state_dict() if hasattr(ddp, 'module') else ddp.state_dict()\n",
        "state = ddp.module.state_dict() if use_ddp else ddp.state_dict()\n",
        "net = ddp.module if isinstance(ddp, DDP) else ddp\n",
        "import os.path as module\n",
    ],
)
def test_a_model_that_is_taken_out_by_what_it_is_does_not_matter(tmp_path: Path, after: str) -> None:
    assert "is_initialized" in edited(tmp_path, BRANCH + after)


@pytest.mark.parametrize(
    "after",
    [
        "state = (ddp.module if torch.cuda.is_available() else ddp).state_dict()\n",
        "if rank == 0:\n    print(ddp.module.state_dict() if torch.cuda.is_available() else ddp.state_dict())\n",
    ],
)
def test_the_same_question_takes_it_out_of_its_wrapper_too(tmp_path: Path, after: str) -> None:
    program = edited(tmp_path, BRANCH + after)
    assert program.count("torch.cuda.is_available() or torch.distributed.is_initialized()") == 2
    together = gradients(tmp_path)
    assert together[0] == together[1]


def test_a_file_that_takes_it_out_where_there_is_a_gpu_matters(tmp_path: Path) -> None:
    save = "import torch\n\n\ndef save(net):\n    return net.module if torch.cuda.is_available() else net\n"
    (tmp_path / "save.py").write_text(save, "utf-8")
    assert "is_initialized" not in edited(tmp_path, BRANCH)


@pytest.mark.parametrize(
    "wrap",
    [
        BRANCH.replace("is_available():", "is_available() and use:"),  # asks for more
        BRANCH.replace("use_ddp = True", "print(device)"),  # does something else
        BRANCH.replace("DDP(net, ", "DDP(net.cuda(), "),
        BRANCH.replace("device_ids=[device]", "**options"),
        BRANCH.replace("device_ids=[device]", "process_group=make(device)"),
        "ddp = DDP(net, device_ids=[device]) if torch.cuda.is_available() else net\n",
        BRANCH.replace("torch.cuda.is_available()", "torch.cuda.device_count() > 1"),
        BRANCH + "state = ddp.module.state_dict() if several else ddp.state_dict()\n",  # it would find no module
        BRANCH + "if device.type == 'cuda':\n    net = ddp.module\n",
        BRANCH.replace("ddp = net\n", "ddp = net.to(device)\n"),  # the other branch would be missed
        BRANCH.replace("ddp = net\n", "ddp = net\n    torch.set_num_threads(1)\n"),
        BRANCH + "if rank == 0:\n    net = ddp.module\n",
    ],
)
def test_what_does_more_is_left_to_a_person(tmp_path: Path, wrap: str) -> None:
    assert "is_initialized" not in edited(tmp_path, wrap)
    found = survey(Options((tmp_path,), RULES.platforms["cpu"], RULES, root=tmp_path))
    assert [one.action for one in found.decisions if one.surface == "device-apart"] == [Action.REVIEW]
