"""Projects of several files at random: Python that reads its backend from configuration, launch files, Dockerfiles and notebooks."""

from __future__ import annotations

import base64
import json
import random
import re
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from proofs import cases
from proofs.proof import REPOSITORY

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HEAD = re.compile(r"-- (\S+) --\n")
PLATFORMS = ("rocm", "windows", "ascend", "mixed-gpu", "xpu", "cpu", "single-gpu")


@dataclass(frozen=True)
class Project:
    """Files by name, and how they are to be surveyed."""

    files: dict[str, bytes]
    platform: str
    rules: tuple[str, ...] = ()
    env_in: str = "python"

    def dumped(self) -> bytes:
        """As a file of proofs/kept/."""
        files = {name: base64.b64encode(data).decode() for name, data in self.files.items()}
        return json.dumps({"platform": self.platform, "rules": self.rules, "env_in": self.env_in, "files": files}).encode()


def kept(path: Path) -> list[Project]:
    """An input that once failed: a project, or a file for every platform."""
    if path.suffix == ".project":
        told = json.loads(path.read_bytes())
        files = {name: base64.b64decode(data) for name, data in told["files"].items()}
        return [Project(files, told["platform"], tuple(told["rules"]), told["env_in"])]
    return [Project({path.name: path.read_bytes()}, platform) for platform in PLATFORMS]


@cache
def traps() -> tuple[tuple[dict[str, str], dict[str, object]], ...]:
    """The trap projects, as they are before a run, with their settings; those with other files than Python twice."""
    found = []
    for path in sorted((REPOSITORY / "tests" / "traps" / "cases").glob("*/*.txt")):
        head, *rest = HEAD.split(path.read_text("utf-8"))
        files = {
            name: "".join(line.removeprefix("-|") for line in text.splitlines(keepends=True) if not line.startswith("+|"))
            for name, text in zip(rest[::2], rest[1::2], strict=True)
        }
        found += [(files, tomllib.loads(head))] * (1 if all(name.endswith(".py") for name in files) else 4)
    return tuple(found)


def project(rng: random.Random) -> Project:
    """A trap project or one made here, with its layout, line ends and encodings changed."""
    if rng.random() < 0.5:
        files, settings = rng.choice(traps())
        platform = settings.get("platform", "rocm") if rng.random() < 0.8 else rng.choice(PLATFORMS)
        rules = tuple(settings.get("rules", ()))  # type: ignore[call-overload]
        env_in = str(settings.get("env_in", "python"))
    else:
        files, platform, rules = _made(rng), rng.choice(PLATFORMS), ()
        env_in = rng.choice(["python", "python", "shell"])
    return Project({name: varied(name, text, rng) for name, text in files.items()}, str(platform), rules, env_in)


READ = {
    "yaml": "import yaml\nconfig = yaml.safe_load(open('{name}'))\n",
    "yml": "import yaml\nwith open('{name}') as file:\n    config = yaml.safe_load(file)\n",
    "json": "import json\nconfig = json.load(open('{name}'))\n",
    "toml": "import tomllib\nwith open('{name}', 'rb') as file:\n    config = tomllib.load(file)\n",
    "ini": "import configparser\nconfig = configparser.ConfigParser()\nconfig.read('{name}')\n",
    "cfg": "import configparser\nconfig = configparser.ConfigParser()\nconfig.read('{name}')\n",
}
ARGUMENTS = """import argparse
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--backend", default="gloo")
parser.add_argument("--dist-url", default="env://")
args = parser.parse_args()
dist.init_process_group(backend=args.backend, init_method=args.dist_url)
"""
LAUNCHES = (
    "torchrun --nproc_per_node=2 train.py --backend nccl",
    "python -m torch.distributed.run train.py --backend=nccl \\\n    --dist-url env://",
    'python train.py --backend "nccl" --lr 0.1 # 训练',
    "export BACKEND=nccl\ntorchrun train.py --backend $BACKEND",
    "NCCL_DEBUG=INFO torchrun train.py --backend 'nccl'",
    "for seed in 1 2; do\n  torchrun train.py --backend nccl --seed $seed\ndone",
)


def _made(rng: random.Random) -> dict[str, str]:
    """Python that takes its backend from one other file."""
    kind = rng.choice(
        ["yaml", "yml", "json", "toml", "ini", "cfg", "sh", "bash", "Dockerfile", "Makefile", "ipynb", "bat", "ps1"]
    )
    if kind in READ:
        name = f"{rng.choice(['config', 'conf/base', 'a b'])}.{kind}"
        read = f"import torch.distributed as dist\n{READ[kind].format(name=name)}dist.init_process_group(config['dist']['backend'])\n"
        return {"train.py": read, name: _configuration(kind, rng)}
    launch = rng.choice(LAUNCHES)
    if kind == "Dockerfile":
        if rng.random() < 0.5:
            launch = json.dumps(["torchrun", "train.py", "--backend", "nccl"])
        return {
            "train.py": ARGUMENTS,
            kind: f"FROM pytorch\nENV NCCL_DEBUG=INFO\nRUN pip install x\nCMD {launch.splitlines()[-1]}\n",
        }
    if kind == "Makefile":
        return {"train.py": ARGUMENTS, kind: "train: data\n\t" + launch.replace("$", "$$").replace("\n", "\n\t") + "\n"}
    if kind == "ipynb":
        cells = ["!" + launch.splitlines()[-1].strip(), "%%bash\n" + launch, "%env NCCL_DEBUG=INFO", cases.python(rng)]
        cell = {"cell_type": "code", "metadata": {"ü": "nccl"}, "outputs": [], "execution_count": None}
        made = [
            {**cell, "source": text if rng.random() < 0.3 else text.splitlines(keepends=True)} for text in rng.sample(cells, 3)
        ]
        notebook = {"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
        return {
            "train.py": ARGUMENTS,
            "run.ipynb": json.dumps(notebook, indent=rng.choice([None, 1, 2]), ensure_ascii=rng.random() < 0.5),
        }
    return {"train.py": ARGUMENTS, f"run.{kind}": ("#!/bin/sh\nset -e\n" if kind in ("sh", "bash") else "") + launch + "\n"}


def _configuration(kind: str, rng: random.Random) -> str:
    before, after = rng.choice([("", ""), ("name = 'nccl'\n", "port = 1\n")])
    quoted = rng.choice(['"nccl"', "'nccl'", "nccl"])
    if kind in ("yaml", "yml"):
        block = f"dist:\n  backend: {quoted}  # 后端\n  port: 29500\n"
        flow = f"dist: {{backend: {quoted}, port: 1}}\n"
        return before.replace(" =", ":") + rng.choice([block, flow, block.replace("  ", "      ")]) + after.replace(" =", ":")
    if kind == "json":
        return json.dumps(
            {"nccl": ["nccl"], "dist": {"backend": "nccl", "ü": 1}}, indent=rng.choice([None, 2, "\t"]), ensure_ascii=False
        )
    if kind == "toml":
        quoted = quoted if quoted != "nccl" else '"""nccl"""'
        return before + rng.choice(
            [f"[dist]\nbackend = {quoted}  # x\n", f"dist = {{ backend = {quoted} }}\n", f"dist.backend = {quoted}\n"]
        )
    return f"[other]\n{before}[dist]\nbackend {rng.choice('=:')} nccl\n{after}"


def varied(name: str, text: str, rng: random.Random) -> bytes:
    """The file in one of the layouts, line ends and encodings that such files have."""
    if name.endswith(".py"):
        return cases.encoded(text, rng)
    if not name.endswith((".ipynb", ".json")):
        lines = text.split("\n")
        lines = [
            line + rng.choice(["", "", "", "  ", "\t"]) if line.strip() and not line.endswith("\\") else line for line in lines
        ]
        if name.endswith((".yaml", ".yml", ".toml", ".sh", ".bash", "Dockerfile", "Makefile", ".ini", ".cfg")):
            lines.insert(0 if rng.random() < 0.5 and not text.startswith("#!") else len(lines), "# 训练 nccl \u202e\u00e9\u0301")
        text = "\n".join(lines)
    text = text.rstrip("\n") + rng.choice(["\n", "\n", "", "\n\n\n"])
    mark = "\ufeff" if rng.random() < 0.1 else ""
    return (mark + text.replace("\n", rng.choice(["\n", "\n", "\r\n"]))).encode("utf-8")
