"""``python -m proofs.breadth [NAME...]``: what is there many times costs no more than many times the work.

Each shape is one project of n like parts. At 300, 1,200 and 4,800 of them the cost beside that of an empty project grows at most
1.5 times as fast as their number, and none takes more than 5 s of processor or 500 MB. One line a shape; exit code 1 where one does not hold.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from proofs.proof import environment, tool

SIZES = (300, 1_200, 4_800)
SECONDS, MEMORY, FACTOR = 5.0, 500 << 20, 1.5
NOISE = 0.5  # seconds: below it a difference says nothing
Files = dict[str, str]
HEAD = "import argparse, os, yaml\nimport torch.distributed as dist\n\n"
CALL = "dist.init_process_group({})\n"
PARSED = "args = p.parse_args()\ndist.init_process_group(args.backend)\n"
OPTION = "p.add_argument('--backend', default='nccl')\n"
DECLARED = "p = argparse.ArgumentParser()\n" + OPTION + PARSED
STARTED = "subprocess.run(['python', 'train.py', '--backend', 'nccl'])\n"
COMMAND = "def f@(backend='nccl'):\n    dist.init_process_group(backend)\n"
ACCELERATED = "from accelerate import Accelerator\n\naccelerator = Accelerator()\n"
LOADED = "config = yaml.safe_load(open('c.yaml'))\ndist.init_process_group(config['backend'])\n"


def one(text: str) -> Files:
    """A project of one program."""
    return {"train.py": HEAD + text}


def many(line: str, n: int) -> str:
    """A line again and again, with its number."""
    return "".join(line.replace("@", str(number)) for number in range(n))


def circle(n: int) -> Files:
    """Files whose functions call each other, some n calls in all."""
    count = max(2, round(n**0.5))
    return {
        f"m{k}.py": many("import m@\n", count) + HEAD + "def g(b, n):\n    if n == 0:\n        dist.init_process_group(b)\n"
        + many("    m@.g(b, n - 1)\n", count) + ("g('nccl', 3)\n" if k == 0 else "") for k in range(count)
    }  # fmt: skip


def notebook(cells: list[str]) -> str:
    """A notebook of some cells."""
    made = [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": cell} for cell in cells]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


SHAPES: dict[str, Callable[[int], Files]] = {
    "callers of a helper": lambda n: one("def h(b):\n    dist.init_process_group(b)\n" + "h('nccl')\n" * n),
    "callers with keywords": lambda n: one("def h(b):\n    dist.init_process_group(b)\n" + "h(b='nccl')\n" * n),
    "files whose functions call each other": circle,
    "calls in a function": lambda n: one("def f():\n" + "    dist.init_process_group('nccl')\n" * n),
    "calls of a module": lambda n: one("dist.init_process_group('nccl')\n" * n),
    "calls that ask the environment": lambda n: one("dist.init_process_group(os.environ['B'])\n" * n),
    "functions with a call": lambda n: one(many("def f@():\n    dist.init_process_group('nccl')\n", n)),
    "helpers": lambda n: one(many("def f@(b='nccl'):\n    dist.init_process_group(b)\nf@()\n", n)),
    "classes": lambda n: one(many("class C@:\n    b = 'nccl'\n    def f(self):\n        dist.init_process_group(self.b)\n", n)),
    "reassignments": lambda n: one("b = 'nccl'\n" * n + CALL.format("b")),
    "reassignments in a function": lambda n: one("def f():\n" + "    b = 'nccl'\n" * n + "    " + CALL.format("b")),
    "names": lambda n: one(many("b@ = 'nccl'\n", n) + CALL.format("b0")),
    "attributes": lambda n: one("class C: pass\nc = C()\n" + "c.b = 'nccl'\n" * n + CALL.format("c.b")),
    "objects": lambda n: one("class C: pass\n" + many("c@ = C()\nc@.b = 'nccl'\n", n) + CALL.format("c0.b")),
    "fields": lambda n: one("class C:\n" + many("    b@: str = 'nccl'\n", n) + CALL.format("C().b0")),
    "options": lambda n: one("p = argparse.ArgumentParser()\n" + OPTION + many("p.add_argument('--o@', default='nccl')\n", n) + PARSED),
    "choices": lambda n: one(
        "p = argparse.ArgumentParser()\np.add_argument('--backend', default='nccl', choices=["
        + many("'b@', ", n) + "'nccl'])\n" + PARSED
    ),
    "readers of an option": lambda n: one(
        "p = argparse.ArgumentParser()\n" + OPTION + "args = p.parse_args()\n" + "dist.init_process_group(args.backend)\n" * n
    ),
    "updates of a mapping": lambda n: one("d = {}\n" + "d.update(b='nccl')\n" * n + CALL.format("d['b']")),
    "entries of a mapping": lambda n: one("d = {'b': 'nccl', " + many("'k@': 'nccl', ", n) + "}\n" + CALL.format("d['b']")),
    "entries that are set": lambda n: one("d = {}\n" + many("d['k@'] = 'nccl'\n", n) + CALL.format("d['k0']")),
    "spread mappings": lambda n: one("d = {'backend': 'nccl'}\n" + CALL.format("**d") * n),
    "variables of the environment": lambda n: one(many("os.environ['A@'] = '1'\n", n) + CALL.format("'nccl'")),
    "branches": lambda n: one("if a:\n    b = 'nccl'\n" * n + CALL.format("b")),
    "branches of a chain": lambda n: one(many("def f@(a):\n    if a:\n        b = 'nccl'\n    else:\n        b = 'gloo'\n    dist.init_process_group(b)\n", n)),
    "returns": lambda n: one("def f(a):\n" + many("    if a == @:\n        return 'nccl'\n", n) + CALL.format("f(1)")),
    "imports": lambda n: one(many("import m@\n", n) + CALL.format("'nccl'")),
    "import names": lambda n: one("from m import (\n" + many("    a@,\n", n) + ")\n" + CALL.format("'nccl'")),
    "continued lines": lambda n: one("x = \\\n    1\n" * n + CALL.format("'nccl'")),
    "lines continued with nothing on them": lambda n: one("dist.init_process_group( \\\n" + "\\\n" * n + "'nccl')\n"),
    "arguments of a call": lambda n: one("dist.init_process_group('nccl',\n" + many("    a@=1,\n", n) + ")\n"),
    "comments": lambda n: one("# init_process_group nccl\n" * n + CALL.format("'nccl'")),
    "texts": lambda n: one("'init_process_group nccl'\n" * n + CALL.format("'nccl'")),
    "groups": lambda n: one(CALL.format("'nccl'") + "dist.new_group([0], backend='nccl')\n" * n),
    "statements between": lambda n: one("x = 1\n" * n + CALL.format("'nccl'")),
    "decorated": lambda n: one(
        "def d(f): return f\n" + "".join(f"@d\ndef f{k}():\n    dist.init_process_group('nccl')\n" for k in range(n))
    ),
    "lambdas": lambda n: one("f = lambda b: dist.init_process_group(b)\n" + "f('nccl')\n" * n),
    "loops": lambda n: one("for b in ['nccl']:\n    dist.init_process_group(b)\n" * n),
    "comparisons": lambda n: one("b = 'nccl'\n" + "if b == 'nccl': pass\n" * n + CALL.format("b")),
    "assertions": lambda n: one("b = 'nccl'\n" + CALL.format("b") + "assert b in ['nccl']\n" * n),
    "cells": lambda n: {"a.ipynb": notebook(["import torch.distributed as dist\n"] + ["dist.init_process_group('nccl')"] * n)},
    "lines of a cell": lambda n: {"a.ipynb": notebook([HEAD + "dist.init_process_group('nccl')\n" * n])},
    "keys of YAML": lambda n: {**one(LOADED), "c.yaml": "backend: nccl\n" + many("k@: nccl\n", n)},
    "lists of YAML": lambda n: {**one(LOADED), "c.yaml": "backend: nccl\nl:\n" + "  - nccl\n" * n},
    "documents of YAML": lambda n: {**one(LOADED), "c.yaml": "backend: nccl\n" + "---\nbackend: nccl\n" * n},
    "files of YAML for a path": lambda n: {
        **one("config = yaml.safe_load(open(f'conf/{name}.yaml'))\ndist.init_process_group(config['backend'])\n"),
        **{f"conf/c{k}.yaml": "backend: nccl\n" for k in range(n)},
    },
    "programs": lambda n: {f"p{k}.py": HEAD + "dist.init_process_group('nccl')\n" for k in range(n)},
    "lines of a launch file": lambda n: {
        **one(DECLARED), "run.sh": "torchrun train.py --backend nccl\n" * n
    },
    "lists of words": lambda n: {**one(DECLARED), "run.py": "import subprocess\n" + STARTED * n},
    "lists of words for options of their own": lambda n: {
        **one(
            "p = argparse.ArgumentParser()\n" + many("p.add_argument('--o@', default='nccl')\n", n) + "args = p.parse_args()\n"
            + many("dist.init_process_group(args.o@)\n", n)
        ),
        "run.py": "import subprocess\n" + many("subprocess.run(['python', 'train.py', '--o@', 'nccl'])\n", n),
    },
    "words of a list": lambda n: {
        **one(DECLARED), "run.py": "import subprocess\nsubprocess.run(['python', 'train.py', " + "'--backend', 'nccl', " * n + "])\n"
    },
    "files with lists of words": lambda n: {**one(DECLARED), **{f"r{k}.py": "import subprocess\n" + STARTED for k in range(n)}},
    "commands of fire": lambda n: one("import fire\n" + many(COMMAND + "fire.Fire(f@)\n", n)),
    "commands of fire in a table": lambda n: one("import fire\n" + many(COMMAND, n) + "fire.Fire({" + many("'f@': f@, ", n) + "})\n"),
    "commands of fire by one call for all, again and again": lambda n: one("import fire\n" + many(COMMAND + "fire.Fire()\n", n)),
    "commands of a class, again and again": lambda n: one(
        "import fire\nclass C:\n"
        + many("    def f@(self, backend='nccl'):\n        dist.init_process_group(backend)\n", n) + "fire.Fire(C)\n" * n
    ),
    "commands of typer": lambda n: one(
        "import typer\napp = typer.Typer()\n" + many("!app.command()\n" + COMMAND, n).replace("!", "@")
    ),
    "commands of typer, each its own": lambda n: one(
        "import typer\n" + many("app@ = typer.Typer()\n!app@.command()\n" + COMMAND, n).replace("!", "@")
    ),
    "an object of typer that is made again and again": lambda n: one(
        "import typer\n" + many("app = typer.Typer()\n!app.command()\n" + COMMAND, n).replace("!", "@")
    ),
    "commands in files of their own": lambda n: {
        f"p{k}.py": HEAD + "import typer\napp = typer.Typer()\n@app.command()\n" + COMMAND.replace("@", str(k)) for k in range(n)
    },
    "commands with lines of a launch file": lambda n: {
        **one("import fire\n" + many("def f@(b@='nccl'):\n    dist.init_process_group(b@)\nfire.Fire(f@)\n", n)),
        "run.sh": many("torchrun train.py --b@ nccl\n", n),
    },
    "unread keys": lambda n: {
        **one(many("def f@(k@): pass\n", n) + CALL.format("'nccl'")), "c.json": json.dumps({f"k{k}": "nccl" for k in range(n)})
    },
    "unread keys of one name": lambda n: {
        **one("def f(b): pass\n" * n + CALL.format("'nccl'")), "c.json": json.dumps({f"k{k}": {"b": "nccl"} for k in range(n)})
    },
    "tables under keys of nobody": lambda n: {
        **one("x = 1\n" * n + CALL.format("'nccl'")), "c.json": json.dumps({f"k{k}": {"backend": "nccl"} for k in range(n)})
    },
    "files with unread keys": lambda n: {
        **one("def f(b): pass\n" + CALL.format("'nccl'")), **{f"c{k}.json": '{"b": "nccl"}' for k in range(n)}
    },
    "programs beside unread keys": lambda n: {
        **{f"p{k}.py": HEAD + f"def f(k{k}): pass\n" for k in range(n)}, "c.json": json.dumps({f"k{k}": "nccl" for k in range(n)})
    },
    "settings that nobody reads": lambda n: {**one(CALL.format("'nccl'")), "config.py": many("s@ = dict(k@='nccl')\n", n)},
    "lines that install": lambda n: {"train.py": ACCELERATED, "README.md": "pip install accelerate==0.12.0\n" * n},
    "lines that install others": lambda n: {
        "train.py": ACCELERATED, "README.md": many("pip install p@==1.0\n", n) + "pip install accelerate==0.12.0\n"
    },
    "lines that install, continued": lambda n: {
        "train.py": ACCELERATED, "README.md": "pip install \\\n" + many("  p@==1.0 \\\n", n) + "accelerate==0.12.0\n"
    },
    "words of a line that installs": lambda n: {
        "train.py": ACCELERATED, "README.md": "pip install " + "a" * n * 10 + many(" p@>=1,<2", n) + " accelerate==0.12.0\n"
    },
    "folders with lines that install": lambda n: {
        f"d{k}/{name}": text for k in range(n) for name, text in (("train.py", ACCELERATED), ("README.md", "pip install accelerate==0.12.0\n"))
    },
    "patterns": lambda n: {
        **one(CALL.format("'nccl'")), "pyproject.toml": "[tool.ddp-codemod]\nexclude = [" + many("'a@/*', ", n) + "]\n"
    },
}  # fmt: skip


# what else reports a change, and for which kinds of places it is asked for, at the largest size
COMMANDS = (
    "check .", "scan .", "check . --format sarif", "check . --format github", "check . --format rdjson", "diff .", "diff . --summary md",
    "review . --html ../page.html", "apply .",
)  # fmt: skip
REPORTED = (
    "callers of a helper",
    "calls of a module",
    "readers of an option",
    "comments",
    "words of a list",
    "cells",
    "programs",
)


def cost(files: Files, folder: Path, command: str = "check . --format json") -> tuple[float, int, int]:
    """(seconds of processor, peak bytes, exit code) of a command on a project."""
    project = folder / "project"
    project.mkdir(parents=True)
    for name, text in files.items():
        if name.endswith(".py"):
            ast.parse(text)  # a program that is none would be passed over, and cost nothing
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text, "utf-8")
    process = subprocess.Popen(
        tool(*command.split(), "--platform", "rocm"),
        cwd=project, env=environment(folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, process.returncode


def fault(name: str, sizes: tuple[int, ...] = SIZES) -> tuple[str, str]:
    """What a shape cost at each size, and what does not hold of it ("" where all does)."""
    with tempfile.TemporaryDirectory(prefix="breadth-") as made:
        found = [cost(SHAPES[name](n) if n else one(""), Path(made) / str(n)) for n in (0, *sizes)]
    base = found[0][0]
    said = ", ".join(f"{n}: {seconds:.1f} s {memory >> 20} MB" for n, (seconds, memory, _) in zip(sizes, found[1:], strict=True))
    wrong = [f"exit code {code}" for _, _, code in found if code not in (0, 1)]
    wrong += [f"{seconds:.1f} s" for seconds, _, _ in found if seconds > SECONDS]
    wrong += [f"{memory >> 20} MB" for _, memory, _ in found if memory > MEMORY]
    for (less, more), (few, lots) in zip(pairwise(found[1:]), pairwise(sizes), strict=True):
        allowed = FACTOR * lots / few * max(less[0] - base, 0.0) + NOISE
        if more[0] - base > allowed:
            wrong.append(f"{lots} cost {more[0] - base:.1f} s, {few} only {less[0] - base:.1f} s")
    return said, "; ".join(wrong)


def reported(name: str, command: str, n: int = SIZES[-1]) -> tuple[str, str]:
    """What a command cost on a shape, and what does not hold of it."""
    with tempfile.TemporaryDirectory(prefix="breadth-") as made:
        seconds, memory, code = cost(SHAPES[name](n), Path(made) / "0", command)
    wrong = code not in (0, 1) or seconds > SECONDS or memory > MEMORY
    return f"{n}: {seconds:.1f} s {memory >> 20} MB", f"exit code {code}" if wrong else ""


def main() -> int:
    """Try every shape, or those named; without names each way to report as well."""
    broken = 0
    todo = [(name, lambda name=name: fault(name)) for name in sys.argv[1:] or SHAPES]
    if not sys.argv[1:]:
        todo += [
            (f"{name}, {words}", lambda name=name, words=words: reported(name, words)) for name in REPORTED for words in COMMANDS
        ]
    for said_of, measure in todo:
        said, wrong = measure()
        broken += bool(wrong)
        print(f"{said_of}: {said}{'  BROKEN: ' + wrong if wrong else ''}", flush=True)
    print(f"{len(sys.argv[1:] or SHAPES)} shapes, {len(todo) - len(sys.argv[1:] or SHAPES)} ways to report, {broken} broken")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
