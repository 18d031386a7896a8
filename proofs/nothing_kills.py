"""No input kills, hangs or grows the tool: each file ends as changed, unchanged or skipped with a reason."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

from proofs import cases, shapes
from proofs.proof import Trial, environment, tool

PROMISE = "no input kills or hangs it: 10 s and 1 GiB a file"
SECONDS, MEMORY = 10.0, 1 << 30
HEAD = "import torch.distributed as dist\n\n"
# LibCST reads an expression where an edit rewrites a call; the others only ast and the readers of configuration
CALLS = {"value": "dist.init_process_group('nccl', timeout={})\n", "added": "dist.init_process_group(timeout={})\n"}


def depths() -> dict[str, int]:
    """Ten times the depth at which each parser was seen to die or give up, by kind of text (LibCST 1.9, CPython 3.10 to 3.13)."""
    return {"expressions": 70_000, "statements": 30_000, "configuration": 100_000}


def files() -> Iterator[tuple[str, str]]:
    """(name, text) of every shape in every kind of file, at ten times the killing depth and at depths in between."""
    deep = depths()
    for n in (141, 1_200, deep["expressions"]):
        for name, shape in shapes.EXPRESSIONS.items():
            for where, call in CALLS.items():
                yield f"{name}-{where}-{n}.py", HEAD + call.format(shape(n))
    for n in (20, 95, 1_000, 3_000):
        for name, shape in shapes.STATEMENTS.items():
            if name in ("elif", "assignments") or n <= 3_000:
                yield f"{name}-{n}.py", HEAD + shape(n) + CALLS["value"].format("1")
    for n in (1_000, deep["configuration"]):
        for kind, suffix in ((shapes.YAML, "yaml"), (shapes.JSON, "json"), (shapes.TOML, "toml"), (shapes.SHELL, "sh")):
            for name, shape in kind.items():
                if not (name == "block maps" and n > 1_000):  # the text itself grows with the square
                    yield f"{name}-{n}.{suffix}", _mentioning(shape(n), suffix)
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    for n in (330, 7_000):
        for name, shape in shapes.EXPRESSIONS.items():
            source = HEAD + CALLS["value"].format(shape(n))
            notebook = {"cells": [{**cell, "source": source}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
            yield f"{name}-{n}.ipynb", json.dumps(notebook)
    yield "metadata.ipynb", '{"cells": [], "metadata": {"a": ' + "[" * 50_000 + "]" * 50_000 + '}, "nbformat": 4}'


def _mentioning(text: str, suffix: str) -> str:
    """The text with something in it for which the file is read."""
    more = {"yaml": "backend: nccl\n", "toml": 'backend = "nccl"\n', "json": "", "sh": "torchrun train.py --backend nccl\n"}
    return more[suffix] + (text if suffix != "json" else '{"backend": "nccl", "a": ' + text + "}")


READER = """import argparse, yaml, json, tomllib
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--backend", default="nccl")
args = parser.parse_args()
config = yaml.safe_load(open("FILE"))
dist.init_process_group(args.backend)
dist.init_process_group(config["backend"])
"""


def prove(trial: Trial) -> str:
    """Run the tool on every shape, on mutants and on files that are none."""
    worst_time, worst_memory = 0.0, 0
    chosen = list(files())
    if not trial.whole:
        chosen = trial.random.sample(chosen, 6)
    for number, (name, text) in enumerate(chosen):
        folder = trial.folder / f"shape{number}"
        folder.mkdir()
        (folder / name).write_text(text)
        if not name.endswith((".py", ".ipynb")):
            (folder / "train.py").write_text(READER.replace("FILE", name))
        seconds, memory = _run(trial, folder, ["diff", ".", "--platform", "windows", "--unsafe"], name, text.encode())
        worst_time, worst_memory = max(worst_time, seconds), max(worst_memory, memory)
        trial.counts["runs on deep files"] += 1
    for name in _special(trial) if trial.whole else list(_special(trial))[:2]:
        seconds, memory = _run(trial, trial.folder / name, ["diff", ".", "--platform", "rocm"], name, b"")
        worst_time, worst_memory = max(worst_time, seconds), max(worst_memory, memory)
        trial.counts["files that are none, or huge"] += 1
    mutants = _mutants(trial, trial.sized(50, 10_000))
    return (
        f"{trial.counts['runs on deep files']} runs on {len(shapes.EXPRESSIONS) + len(shapes.STATEMENTS)} shapes of Python and "
        f"{sum(map(len, (shapes.YAML, shapes.JSON, shapes.TOML, shapes.SHELL)))} of YAML, JSON, TOML and shell, "
        f"{mutants} mutants, {trial.counts['files that are none, or huge']} pipes, devices and huge files: "
        f"{len(trial.failures)} deaths, hangs or tracebacks; at most {worst_time:.1f} s and {worst_memory >> 20} MiB"
    )


def _run(trial: Trial, folder: Path, words: list[str], what: str, data: bytes) -> tuple[float, int]:
    """Run the tool in a folder; (seconds of processor time, peak bytes) of its process."""
    process = subprocess.Popen(
        tool(*words), cwd=folder, env=environment(trial.folder), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    timer = threading.Timer(6 * SECONDS, process.kill)
    timer.start()
    try:
        assert process.stderr is not None
        said = process.stderr.read().decode("utf-8", "replace")
        process.stderr.close()
        _, status, used = os.wait4(process.pid, 0)
        code = process.returncode = os.waitstatus_to_exitcode(status)
    finally:
        timer.cancel()
    seconds, memory = used.ru_utime + used.ru_stime, used.ru_maxrss * 1024
    if code not in (0, 1) or "Traceback" in said:
        trial.fail(f"{what}: exit {code}: {''.join(said.strip().splitlines()[-1:])[:200]}", what.replace("/", "-"), data)
    elif seconds > SECONDS:
        trial.fail(f"{what}: {seconds:.1f} s of processor time", what, data)
    elif memory > MEMORY:
        trial.fail(f"{what}: {memory >> 20} MiB", what, data)
    return seconds, memory


def _special(trial: Trial) -> Iterator[str]:
    """Folders with something in them that is no plain file, or has no end."""

    def folder(name: str) -> Path:
        (trial.folder / name).mkdir()
        return trial.folder / name

    os.mkfifo(folder("pipe") / "train.py")
    os.mkfifo(trial.folder / "pipe" / "pyproject.toml")
    os.mkfifo(trial.folder / "pipe" / "config.yaml")
    yield "pipe"
    (folder("zero") / "train.py").symlink_to("/dev/zero")
    (trial.folder / "zero" / "pyproject.toml").symlink_to("/dev/zero")
    (trial.folder / "zero" / "requirements.txt").symlink_to("/dev/zero")
    yield "zero"
    for name, fill in (("huge", b"\0"), ("lines", b"\n")):
        with (folder(name) / "train.py").open("wb") as file:
            file.write((HEAD + "dist.init_process_group('nccl')\n").encode())
            if fill == b"\0":
                file.truncate(100_000_000)
            else:
                file.write(fill * 100_000_000)
        yield name
    (folder("long") / "train.py").write_text(HEAD + "dist.init_process_group('nccl') #" + "x" * 15_000_000 + "\n")
    yield "long"
    (folder("loop") / "a.py").symlink_to("b.py")
    (trial.folder / "loop" / "b.py").symlink_to("a.py")
    (trial.folder / "loop" / "c").symlink_to(".")
    yield "loop"


def _mutants(trial: Trial, many: int) -> int:
    """Survey and render mutants of the fixtures in children, a batch each."""
    done, batch = 0, 50
    while done < many:
        folder = trial.folder / f"mutants{done}"
        folder.mkdir()
        for number in range(min(batch, many - done)):
            name, data = cases.mutant(trial.random)
            (folder / f"m{number}{name}").write_bytes(data)
        ended = subprocess.run(
            tool("diff", ".", "--platform", trial.random.choice(["rocm", "windows", "ascend", "mixed-gpu"]), "--unsafe"),
            cwd=folder, env=environment(trial.folder), capture_output=True, timeout=120,
        )  # fmt: skip
        said = ended.stderr.decode("utf-8", "replace")
        if ended.returncode not in (0, 1) or "Traceback" in said:
            trial.fail(f"mutants in {folder}: exit {ended.returncode}: {said.strip().splitlines()[-1:]}")
            for path in folder.iterdir():
                trial.kept[f"mutant-{trial.seed}-{path.name}"] = path.read_bytes()
        done += min(batch, many - done)
    return done
