"""A program that is asked for a backend which the platform lacks says so once, and says nothing where nobody asks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ddp_codemod import plan

TORCH = "def init_process_group(backend=None, init_method=None, **other):\n    print(backend)\n"
OPTION = (
    "import argparse\n"
    "import torch.distributed as dist\n"
    "parser = argparse.ArgumentParser()\n"
    'parser.add_argument("--backend", default="nccl")\n'
    "args = parser.parse_args()\n"
)
CALLS = {
    "plain": "dist.init_process_group(args.backend)\n",
    "in a loop": "for _ in range(3):\n    dist.init_process_group(backend=args.backend)\n",
    "in a function": "def setup(given):\n    dist.init_process_group(given.backend, rank=0)\nsetup(args)\n",
    "by a function": "def pick():\n    return args.backend\ndist.init_process_group(pick())\n",
    "by a function for a keyword": "def pick():\n    return args.backend\nbackend = 1\ndist.init_process_group(backend=pick(), rank=0)\nassert backend == 1\n",
    "from a tuple": 'given = (args.backend, "env://")\ndist.init_process_group(*given)\n',
    "from a dictionary": 'options = {"backend": args.backend}\ndist.init_process_group(**options)\n',
}
# nothing can be said before these: a line that would run without the call, or none that is free
SILENT = {
    "in a lambda": "start = lambda: dist.init_process_group(args.backend)\nstart()\n",
    "in a branch of an expression": "args.backend and dist.init_process_group(args.backend)\n",
    "behind another argument": "def pick():\n    return args.backend\ndist.init_process_group(rank=print(end=''), backend=pick())\n",
    "in an expression": "def pick():\n    return args.backend\n[dist.init_process_group(pick())]\n",
    "with another warnings": "warnings = []\ndist.init_process_group(args.backend)\n",
}


@pytest.fixture(autouse=True)
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_STATE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path / "state"))


def ported(root: Path, call: str) -> Path:
    (root / "torch").mkdir()
    (root / "torch" / "__init__.py").write_text("")
    (root / "torch" / "distributed.py").write_text(TORCH)
    project = root / "project"
    project.mkdir()
    (project / "train.py").write_text(OPTION + call)
    plan(project, "rocm").apply()
    return project / "train.py"


def run(program: Path, *words: str) -> tuple[set[str], str]:
    """The backends that the groups of a program got, and what it said to its reader."""
    ended = subprocess.run(
        [sys.executable, program, *words], capture_output=True, text=True, cwd=program.parent.parent, env={"PYTHONPATH": "."}
    )
    assert ended.returncode == 0, ended.stderr
    return {*ended.stdout.split()}, ended.stderr


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_name_that_somebody_types_is_changed_and_said_once(call: str, tmp_path: Path) -> None:
    program = ported(tmp_path, call)
    backends, said = run(program, "--backend", "nccl")
    assert backends == {"gloo"}
    assert said.count("UserWarning: nccl does not work on rocm") == 1


@pytest.mark.parametrize("call", [*CALLS.values(), *SILENT.values()], ids=[*CALLS, *SILENT])
@pytest.mark.parametrize("words", [(), ("--backend", "gloo"), ("--backend", "mpi")], ids=" ".join)
def test_nothing_is_said_of_another(words: tuple[str, ...], call: str, tmp_path: Path) -> None:
    assert run(ported(tmp_path, call), *words) == ({words[-1] if words else "gloo"}, "")


@pytest.mark.parametrize("call", SILENT.values(), ids=SILENT)
def test_the_name_is_changed_where_no_line_is_free(call: str, tmp_path: Path) -> None:
    assert run(ported(tmp_path, call), "--backend", "nccl") == ({"gloo"}, "")
