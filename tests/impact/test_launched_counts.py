"""The number of processes where there are no GPUs to count: run for real with two and with one, and left alone where it counts GPUs."""

from __future__ import annotations

import os
import socket
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
STEP = """
    model = torch.nn.Linear(1, 1)
    if dist.is_initialized():
        model = torch.nn.parallel.DistributedDataParallel(model)
    model(torch.full((1, 1), rank + 1.0)).sum().backward()
    open(f"out-{rank}", "w").write(f"{dist.is_initialized()} {next(model.parameters()).grad.item()}")
"""
# Its own processes, one for each GPU, and a group where there are several.
SPAWNS = f"""import os
import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def work(rank, size):
    os.environ["MASTER_ADDR"] = "localhost"
    if size > 1:
        torch.cuda.set_device(rank)
        dist.init_process_group("nccl", rank=rank, world_size=size)
{STEP}

if __name__ == "__main__":
    n_gpus = torch.cuda.device_count()
    mp.spawn(work, args=(n_gpus,), nprocs=n_gpus)
"""
# By a name that says nothing, by position, in a loop, and as the size of a mesh, which makes the group.
POSITIONAL = SPAWNS.replace("n_gpus", "found").replace("args=(found,), nprocs=found", "(found,), found")
LOOPED = SPAWNS.replace("    n_gpus = torch.cuda.device_count()\n", "    found = []\n").replace(
    "    mp.spawn(work, args=(n_gpus,), nprocs=n_gpus)",
    """    for rank in range(torch.cuda.device_count()):
        found.append(mp.get_context("spawn").Process(target=work, args=(rank, torch.cuda.device_count())))
        found[-1].start()
    for one in found:
        one.join()""",
)
MESH = f"""import os
import torch
import torch.distributed as dist

rank = int(os.environ["RANK"])
size = torch.cuda.device_count()
dist.init_device_mesh("cuda", (int(os.environ["WORLD_SIZE"]) // size, size))
{STEP.replace(chr(10) + "    ", chr(10))}
"""
# A launcher's processes, and a group where there are several GPUs: kept in a class, as in scripts for competitions.
LAUNCHED = f"""import os
import torch
import torch.distributed as dist


class CFG:
    n_gpus = torch.cuda.device_count()


def main(rank):
    if CFG.n_gpus > 1:
        dist.init_process_group("nccl")
{STEP}

if __name__ == "__main__":
    main(int(os.environ.get("RANK", 0)))
"""
# The same in a function: what stands under the number runs here, too.
WITHIN = LAUNCHED.replace("    if CFG.n_gpus > 1:", "    n_gpus = torch.cuda.device_count()\n    if n_gpus > 1:").replace(
    "class CFG:\n    n_gpus = torch.cuda.device_count()\n", ""
)


def apply(root: Path, program: str, platform: str = "cpu") -> str:
    (root / "train.py").write_text(program, "utf-8")
    main(["apply", str(root), "--platform", platform, "--unsafe", "--no-cache"])
    return (root / "train.py").read_text("utf-8")


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def run(root: Path, ranks: int, several: bool) -> list[str]:
    """What each rank saw: whether there is a group, and its gradient."""
    env = {name: value for name, value in os.environ.items() if name not in ("RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE")}
    env |= {"MASTER_ADDR": "localhost", "MASTER_PORT": str(free_port()), "CUDA_VISIBLE_DEVICES": "", "GLOO_SOCKET_IFNAME": "lo"}
    env |= {"LOCAL_WORLD_SIZE": "2"} if several else {}
    given = [{"RANK": str(rank), "WORLD_SIZE": str(ranks)} if ranks > 1 else {} for rank in range(ranks)]
    started = [subprocess.Popen([sys.executable, "train.py"], cwd=root, env=env | one) for one in given]
    for one in started:
        one.wait(120)  # torch's threads may abort a rank at its exit: what it wrote before is what counts
    return [path.read_text() for path in sorted(root.glob("out-*"))]


@pytest.mark.parametrize("program", [SPAWNS, *(pytest.param(one, marks=pytest.mark.long) for one in (POSITIONAL, LOOPED))])
def test_a_program_that_starts_a_process_for_each_gpu_starts_as_many_as_it_is_told(tmp_path: Path, program: str) -> None:
    assert 'torch.cuda.device_count() or int(os.environ.get("LOCAL_WORLD_SIZE", 1))' in apply(tmp_path, program)
    assert run(tmp_path, 1, several=True) == ["True 1.5", "True 1.5"]  # the mean over both


def test_it_starts_one_where_it_is_told_nothing(tmp_path: Path) -> None:
    apply(tmp_path, SPAWNS)
    assert run(tmp_path, 1, several=False) == ["False 1.0"]


@pytest.mark.parametrize("program", [LAUNCHED, WITHIN])
def test_ranks_of_a_launcher_train_together_where_the_group_needs_several(tmp_path: Path, program: str) -> None:
    assert '"nccl"' not in apply(tmp_path, program)
    assert run(tmp_path, 2, several=True) == ["True 1.5", "True 1.5"]


def test_a_mesh_has_the_size_that_the_launcher_says(tmp_path: Path) -> None:
    assert "nccl" not in apply(tmp_path, MESH)
    assert run(tmp_path, 2, several=True) == ["True 1.5", "True 1.5"]


def test_so_many_processes_are_said_and_how_two_are_started(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    apply(tmp_path, SPAWNS)
    said = " ".join(capsys.readouterr().out.split())
    assert "): the number of processes is LOCAL_WORLD_SIZE, or 1 where it is unset." in said
    assert ": LOCAL_WORLD_SIZE=2 python train.py" in said


MINDED = "import torch\nimport torch.distributed as dist\n\ndist.init_process_group('gloo')\n{}\ntorch.ones(1, requires_grad=True).backward()\n"


@pytest.mark.parametrize(
    ("line", "platform"),
    [
        ("n_gpus = torch.cuda.device_count()\nprint(n_gpus)", "rocm"),  # there are GPUs
        ("n_gpus = max(1, torch.cuda.device_count())", "cpu"),
        ("n_gpus = torch.cuda.device_count() or 1", "cpu"),
        ("n_gpus = torch.cuda.device_count()\nif n_gpus < 1:\n    n_gpus = 1", "cpu"),
        ("n_gpus = torch.cuda.device_count()\ndevice = 'cpu' if n_gpus == 0 else 'cuda'", "cpu"),  # 0 chooses the CPU
        ("number = torch.cuda.device_count()", "cpu"),  # of what, nobody says
        ("number = torch.cuda.device_count()\nfor one in range(number):\n    print(one)", "cpu"),  # starts nothing
        ("number = torch.cuda.device_count()\nprint(dict(workers=number), range(number))", "cpu"),
        ("print(torch.cuda.device_count() > 1)", "cpu"),
        ("n_gpus = torch.cuda.device_count() if torch.cuda.is_available() else 1", "cpu"),  # never asked for here
    ],
)
def test_other_numbers_stay(tmp_path: Path, line: str, platform: str) -> None:
    program = MINDED.format(line)
    assert apply(tmp_path, program, platform) == program


@pytest.mark.parametrize(("test", "edited"), [("n > 1", False), ("n_gpus > 1", True), ("torch.cuda.device_count() > 1", False)])
def test_what_stands_under_a_number_that_is_edited_runs(tmp_path: Path, test: str, edited: bool) -> None:
    """Only that number decides nothing any more: 0 devices are still none."""
    name = test.split()[0] if "." not in test else "m"
    (tmp_path / "train.py").write_text(
        f"import torch\nimport torch.distributed as dist\n\n{name} = torch.cuda.device_count()\n"
        f"if {test}:\n    dist.init_process_group('nccl')\ntorch.ones(1, requires_grad=True).backward()\n"
    )
    found = survey(Options((tmp_path,), RULES.platforms["cpu"], RULES, root=tmp_path))
    assert any(one.rule == "unsupported-backend" for one in found.decisions) is edited


# The number is asked for only where there is a GPU, as in hifi-gan; the batch is divided there too.
CHECKED = SPAWNS.replace(
    "    n_gpus = torch.cuda.device_count()\n",
    "    n_gpus = 0\n    if torch.cuda.is_available():\n        torch.cuda.manual_seed(1)\n        n_gpus = torch.cuda.device_count()\n        print(8 // n_gpus)\n",
).replace("    mp.spawn(", "    if n_gpus < 2:\n        work(0, 1)\n    else:\n        mp.spawn(")
# The whole program is behind the check.
WHOLE = SPAWNS.replace(
    "    n_gpus = torch.cuda.device_count()\n    mp.spawn(work, args=(n_gpus,), nprocs=n_gpus)\n",
    "    if torch.cuda.is_available():\n        n_gpus = torch.cuda.device_count()\n        mp.spawn(work, args=(n_gpus,), nprocs=n_gpus)\n    else:\n        print('no GPU')\n",
)


@pytest.mark.parametrize("program", [CHECKED, WHOLE])
@pytest.mark.parametrize("several", [True, False])
def test_processes_that_are_counted_behind_a_check_are_started(tmp_path: Path, program: str, several: bool) -> None:
    assert program != SPAWNS
    assert "if torch.cuda.is_available() or " in apply(tmp_path, program)
    assert run(tmp_path, 1, several) == (["True 1.5", "True 1.5"] if several else ["False 1.0"])


APART = CHECKED.replace("if dist.is_initialized():", "if device.type == 'cuda':").replace(
    "def work(rank, size):\n", "def work(rank, size):\n    device = choose()\n"
)


def test_ranks_that_would_train_apart_are_not_started_by_an_edit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "if torch.cuda.is_available():\n        torch.cuda.manual" in apply(tmp_path, APART)
    said = " ".join(capsys.readouterr().out.split())
    assert "LOCAL_WORLD_SIZE=2 python" not in said
    found = survey(Options((tmp_path,), RULES.platforms["cpu"], RULES, root=tmp_path))
    assert {one.rule for one in found.decisions if one.action is Action.REVIEW} == {"device-apart", "device-count-check"}


def test_it_is_said_that_more_processes_would_train_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = SPAWNS.replace("if dist.is_initialized():", "if device.type == 'cuda':").replace(
        "def work(rank, size):\n", "def work(rank, size):\n    device = choose()\n"
    )
    apply(tmp_path, program)
    said = " ".join(capsys.readouterr().out.split())
    assert "Before you set LOCAL_WORLD_SIZE=2, change " in said
    assert "LOCAL_WORLD_SIZE=2 python" not in said


RESOLVED = f"""import os
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from omegaconf import OmegaConf

OmegaConf.register_new_resolver("device_count", torch.cuda.device_count)


def work(rank, size):
    os.environ["MASTER_ADDR"] = "localhost"
    dist.init_process_group("nccl", rank=rank, world_size=size)
{STEP}

if __name__ == "__main__":
    size = OmegaConf.create({{"devices": "${{device_count:}}"}}).devices
    mp.spawn(work, args=(size,), nprocs=size)
"""
# What omegaconf does with such a text, where the package is not installed.
OMEGACONF = """class OmegaConf:
    register_new_resolver = lambda name, resolver: setattr(OmegaConf, name, staticmethod(resolver))
    create = lambda entries: type("Made", (), {name: getattr(OmegaConf, text[2:-2])() for name, text in entries.items()})
"""


@pytest.mark.parametrize(("several", "seen"), [(True, ["True 1.5", "True 1.5"]), (False, ["True 1.0"])])
def test_a_configuration_that_counts_gpus_counts_processes(tmp_path: Path, several: bool, seen: list[str]) -> None:
    apply(tmp_path, RESOLVED)
    (tmp_path / "omegaconf.py").write_text(OMEGACONF, "utf-8")
    assert run(tmp_path, 1, several) == seen


def test_a_configuration_that_counts_gpus_otherwise_stays(tmp_path: Path) -> None:
    program = RESOLVED.replace("torch.cuda.device_count)", "lambda: max(1, torch.cuda.device_count()))").replace(
        '"nccl"', '"gloo"'
    )
    assert apply(tmp_path, program) == program
