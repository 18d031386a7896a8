"""After a safe edit for one GPU, one process trains without a group what it trained with one, and two processes do as before."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path
from random import Random

from ddp_codemod.catalog.load import load
from ddp_codemod.edits.render import render
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey
from proofs.proof import REPOSITORY, Trial, environment

PROMISE = "no program that trained dies for want of a group after a safe edit for one GPU"
STANDINS = REPOSITORY / "proofs" / "alone"
VARIABLES = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1"}

HEAD = """\
import contextlib
import functools
import os

import commands
import graphs
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed.algorithms.join import Join
from torch.nn import Net
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DistributedSampler
"""

# How the group is made: what stands at the top of the file or of the one beside it, and in the function that trains.
STARTS = {
    "here": ("", 'dist.init_process_group("nccl", rank=rank, world_size=world_size)'),
    "here, from the environment": ("", 'dist.init_process_group("nccl")'),
    "helper": (
        'def setup(rank, world_size):\n    dist.init_process_group("nccl", rank=rank, world_size=world_size)\n',
        "setup(rank, world_size)",
    ),
    "helper with options": (
        "def setup(rank, world_size, **options):\n"
        '    dist.init_process_group("nccl", rank=rank, world_size=world_size, **options)\n',
        "setup(rank, world_size)",
    ),
    "object": (
        "class Machine:\n    def start(self, rank, world_size):\n"
        '        dist.init_process_group("nccl", rank=rank, world_size=world_size)\n',
        "Machine().start(rank, world_size)",
    ),
    "engine": (
        'def setup(engine):\n    if engine in ["ddp", "other"]:\n        dist.init_process_group("nccl")\n',
        'setup("ddp")',
    ),
    "flag": (
        'def setup():\n    if "RANK" in os.environ:\n        dist.init_process_group("nccl")\n',
        "setup()",
    ),
    "several": (
        "def setup(rank, world_size):\n    if world_size > 1:\n"
        '        dist.init_process_group("nccl", rank=rank, world_size=world_size)\n',
        "setup(rank, world_size)",
    ),
}

# Expressions that ask the group, or might.
ASKS = (
    "dist.get_rank()",
    "dist.get_world_size()",
    "dist.get_rank() + 1",
    "dist.get_rank() == 0",
    "dist.get_world_size() > 1",
    "dist.get_rank() if dist.is_initialized() else 0",
    "list(DistributedSampler([1, 2, 3]))",
    "list(DistributedSampler([1, 2, 3], num_replicas=world_size, rank=rank))",
    "list(graphs.Loader([1, 2, 3]))",
    "list(graphs.Loader([1, 2, 3], use_ddp=True))",
    "list(graphs.Loader([1, 2, 3], use_ddp=world_size > 1))",
    "list(graphs.Loader([1, 2, 3], use_ddp=False))",
    "list(graphs.Loader([1, 2, 3], rank=rank))",
    "list(graphs.DistributedItems([1, 2, 3]))",
    "list(functools.partial(graphs.Loader, use_ddp=True)([1, 2, 3]))",
    'list(graphs.Loader([1, 2, 3], **{"use_ddp": True}))',
    "graphs.plain([1, 2, 3])",
    "graphs.average_dist(4)",
    "rank",
)

# Statements that use the group, or the model.
USES = (
    "dist.barrier()",
    "dist.all_reduce(x)",
    "dist.broadcast(x, 0)",
    "parts = [torch.Tensor(0) for _ in range(world_size)]\ndist.all_gather(parts, x)\nprint(parts)",
    "dist.all_to_all([x], [x])",
    "if rank == 0:\n    dist.barrier()",
    "if dist.is_initialized():\n    dist.barrier()",
    "if world_size > 1:\n    dist.barrier()",
    "print(net.module.report())",
    "print(getattr(net, 'module', net).report())",
    "print(net.module.report() if hasattr(net, 'module') else net.report())",
    "print(sorted(net.state_dict()))",
    "net.load_state_dict(net.state_dict())",
    "with net.no_sync():\n    net(1).backward()",
    "with net.join():\n    net(1).backward()",
    "with net.join(enable=True):\n    net(1).backward()",
    "with Join([net]):\n    net(1).backward()",
    "with net.no_sync() if rank else contextlib.nullcontext():\n    net(1).backward()",
    "print(type(net) in (DDP, Net))",
    "sync = net.no_sync\nwith sync():\n    net(1).backward()",
)

# Where an expression stands: what stands at the top, and what stands in the function.
PLACES = {
    "statement": ("", "print({e})"),
    "name": ("", "value_{n} = {e}\nprint(value_{n})"),
    "text": ("", 'print(f"{{{e}!r}}")'),
    "condition": ("", "if {e}:\n    print({n})"),
    "list": ("", "print([{e} for _ in range(2)])"),
    "lambda": ("", "later_{n} = lambda: {e}\nprint(later_{n}())"),
    "helper": ("def helper_{n}(rank, world_size):\n    return {e}\n", "print(helper_{n}(rank, world_size))"),
    "helper under no name": (
        "def helper_{n}(rank, world_size):\n    return {e}\n",
        'print(globals()["helper_{n}"](rank, world_size))',
    ),
    "object": (
        "class Object{n}:\n    def __init__(self, rank, world_size):\n        self.value = {e}\n",
        "print(Object{n}(rank, world_size).value)",
    ),
    "operator": (
        "class Object{n}:\n    def __len__(self):\n        rank, world_size = 0, 1\n        return int(bool({e}))\n",
        "print(len(Object{n}()))",
    ),
    "decorated": (
        "@functools.lru_cache\ndef helper_{n}(rank, world_size):\n    return {e}\n",
        "print(helper_{n}(rank, world_size))",
    ),
    "default": ("", "def inner_{n}(value={e}):\n    return value\nprint(inner_{n}())"),
    "kept for later": (
        "def helper_{n}(rank, world_size):\n    return {e}\n",
        "print([one(rank, world_size) for one in [helper_{n}]])",
    ),
}

# How the program is started: what runs the function that trains.
RUNS = {
    "called": ("", "train(0, torch.cuda.device_count())"),
    "spawned": ("", "mp.spawn(train, args=(torch.cuda.device_count(),), nprocs=torch.cuda.device_count())"),
    "command": ("@commands.command()\n", "commands.run(0, torch.cuda.device_count())"),
}


def program(random: Random) -> dict[str, str]:
    """The files of one program."""
    top, body = [], ["x = torch.Tensor(1, 2)", "net = Net()"]
    above, start = STARTS[random.choice([*STARTS])]
    beside = bool(above) and random.random() < 0.4
    body.append(start)
    wraps = random.random() < 0.8
    if wraps:
        body.append(random.choice(("net = DDP(net)", "net = DDP(net, device_ids=[rank])")))
    body.append("net(1).backward()")
    for number in range(random.randint(1, 4)):
        if random.random() < 0.5:
            defined, text = PLACES[random.choice([*PLACES])]
            expression = random.choice(ASKS)
            top.append(defined.format(e=expression, n=number))
            body.append(text.format(e=expression, n=number))
        else:
            use = random.choice(USES)
            if wraps or ("net." not in use and "Join" not in use):
                body.append(use)
    if random.random() < 0.5:
        body.append("dist.destroy_process_group()")
    decorator, run = RUNS[random.choice([*RUNS])]
    train = f"{decorator}def train(rank, world_size):\n" + textwrap.indent("\n".join(body), "    ") + "\n"
    imports = "from beside import *\n" if beside else ""
    main = [HEAD + imports, *([] if beside else [above]), *top, train, f'if __name__ == "__main__":\n    {run}\n']
    files = {"main.py": "\n\n".join(part for part in main if part)}
    if beside:
        files["beside.py"] = HEAD + "\n\n" + above
    return files


def prove(trial: Trial) -> str:
    """Run each program with a group of one and of two, before and after, and after its safe edits where no group can be made."""
    many = trial.sized(30, 1500)
    for number in range(many):
        _one(trial, trial.folder / f"p{number}", program(trial.random))
    return (
        f"{many} generated programs, {trial.counts['trained']} train with a group of one: {trial.counts['edited']} are edited and run the same "
        f"without one, {trial.counts['left']} are left; {len(trial.failures)} end, or do something else"
    )


def _one(trial: Trial, folder: Path, files: dict[str, str]) -> None:
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    before = {ranks: _ran(trial, folder, ranks, **VARIABLES) for ranks in (1, 2)}
    if before[1][0]:
        return  # it never ran
    trial.counts["trained"] += 1
    rules = load()
    made = render(survey(Options((folder,), rules.platforms["single-gpu"], rules, root=folder)), unsafe=False)
    for change in made.changes:
        (folder / change.name).write_bytes(change.after)
    whole = "\n".join(files.values()).encode()
    for ranks in (1, 2):
        if made.changes and _same(_ran(trial, folder, ranks, **VARIABLES), ranks) != _same(before[ranks], ranks):
            trial.fail(f"{folder.name}: with a group of {ranks} it does something else", f"{folder.name}.py", whole)
    if not made.changes:
        trial.counts["left"] += 1
        return
    trial.counts["edited"] += 1
    ended, said = _same(_ran(trial, folder, 0), 1)
    if (ended, said) != _same(before[1], 1):
        trial.fail(f"{folder.name}: without a group it does something else: {said[-200:]}", f"{folder.name}.py", whole)


def _same(ran: tuple[int, str], ranks: int) -> tuple[int, str]:
    """What a program did, but for that its only process is now called where it was started."""
    return ran[0], ran[1].replace("spawned\n", "") if ranks == 1 else ran[1]


def _ran(trial: Trial, folder: Path, ranks: int, **variables: str) -> tuple[int, str]:
    """Run a program where a group of so many can be made: its exit code, and what it prints."""
    size = {"WORLD_SIZE": str(ranks)} if variables else {}
    imitated = {"IMITATED_RANKS": str(ranks), "IMITATED_DEVICES": str(max(ranks, 1))}
    given = environment(trial.folder, PYTHONPATH=str(STANDINS), **variables | size | imitated)
    ended = subprocess.run([sys.executable, "main.py"], cwd=folder, env=given, capture_output=True, text=True)
    return ended.returncode, ended.stdout + (ended.stderr[-300:] if ended.returncode else "")
