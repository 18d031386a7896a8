"""No input kills, hangs or grows the tool: each file ends as changed, unchanged or skipped with a reason."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from proofs import cases, projects, shapes
from proofs.proof import Trial, environment, tool

PROMISE = "no input kills or hangs it: 10 s and 1 GiB a file"
SECONDS, MEMORY = 10.0, 1 << 30
PATIENCE = 900  # seconds on the clock; work is bounded by the processor's time, whatever else runs
STILL = (
    20  # looks, a second apart, at a process that sleeps and does no work: longer than any answer that it waits for (git.TIMEOUT)
)
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


def followed() -> Iterator[tuple[str, dict[str, str]]]:
    """Projects in which every place that some stage follows holds a shape, one file for each place; and long chains of statements."""
    head = "import argparse, os\nimport torch\n" + HEAD
    for n in (60, 190, 500, 1_200, 2_800):
        for name, shape in shapes.EXPRESSIONS.items():
            yield (
                f"{name}-everywhere-{n}",
                {f"{at}.py": head + text.replace("X", shape(n)) for at, text in shapes.POSITIONS.items()},
            )
    for n in (60, 400, 2_000):
        for name, shape in shapes.CHAINS.items():
            yield f"{name}-chain-{n}", {"train.py": head + shape(n)}


def bombs() -> Iterator[tuple[str, dict[str, str]]]:
    """Projects of some kilobytes that a reader makes gigabytes or minutes of, where nobody bounds them before."""
    call = HEAD + "dist.init_process_group('nccl')\n"
    headers = "".join(f"[{'.'.join('a' * 900)}.b{number}]\nc = 1\n" for number in range(300))
    for name, text in (("dots", ".".join("a" * 40_000) + " = 1\n"), ("headers", headers)):
        yield name, {"train.py": call, "pyproject.toml": text}
        yield f"own {name}", {"train.py": call, "pyproject.toml": f"# ddp-codemod\n{text}"}  # is read for the tool's settings


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
    everywhere = list(followed())
    for name, texts in everywhere if trial.whole else trial.random.sample(everywhere, 3):
        folder = trial.folder / name
        folder.mkdir()
        for file, text in texts.items():
            (folder / file).write_text(text)
        platform = trial.random.choice(["windows", "windows", "rocm", "cpu", "single-gpu"])
        seconds, memory = _run(trial, folder, ["diff", ".", "--platform", platform, "--unsafe"], f"{name} {platform}", b"")
        worst_time, worst_memory = max(worst_time, seconds), max(worst_memory, memory)
        trial.counts["projects of deep files"] += 1
    for name in _special(trial) if trial.whole else list(_special(trial))[:2]:
        seconds, memory = _run(trial, trial.folder / name, ["diff", ".", "--platform", "rocm"], name, b"")
        worst_time, worst_memory = max(worst_time, seconds), max(worst_memory, memory)
        trial.counts["files that are none, or huge"] += 1
    for name, texts in bombs():
        folder = trial.folder / name
        folder.mkdir()
        for file, text in texts.items():
            (folder / file).write_text(text)
        seconds, memory = _run(trial, folder, ["check", ".", "--platform", "rocm"], name, b"", (0, 1, 2))
        worst_time, worst_memory = max(worst_time, seconds), max(worst_memory, memory)
        trial.counts["bombs"] += 1
    mutants = _mutants(trial, trial.sized(50, 10_000))
    return (
        f"{trial.counts['runs on deep files']} runs on {len(shapes.EXPRESSIONS) + len(shapes.STATEMENTS)} shapes of Python and "
        f"{sum(map(len, (shapes.YAML, shapes.JSON, shapes.TOML, shapes.SHELL)))} of YAML, JSON, TOML and shell, "
        f"{trial.counts['projects of deep files']} on the shapes at {len(shapes.POSITIONS)} places that are followed and on {len(shapes.CHAINS)} chains, {trial.counts['bombs']} small files that grow in a reader, {mutants} mutants, {trial.counts['files that are none, or huge']} pipes, devices and huge files: "
        f"{len(trial.failures)} deaths, hangs or tracebacks; at most {worst_time:.1f} s and {worst_memory >> 20} MiB"
    )


def _run(
    trial: Trial, folder: Path, words: list[str], what: str, data: bytes, fine: tuple[int, ...] = (0, 1)
) -> tuple[float, int]:
    """Run the tool in a folder; (seconds of processor time, peak bytes) of its process."""
    process = subprocess.Popen(
        tool(*words), cwd=folder, env=environment(trial.folder), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        preexec_fn=_bounded,
    )  # fmt: skip
    waits: list[bool] = []
    ended = threading.Event()
    watch = threading.Thread(target=_watch, args=(process, ended, waits))
    watch.start()
    try:
        assert process.stderr is not None
        said = process.stderr.read().decode("utf-8", "replace")
        process.stderr.close()
        _, status, used = os.wait4(process.pid, 0)
        code = process.returncode = os.waitstatus_to_exitcode(status)
    finally:
        ended.set()
        watch.join()
    seconds, memory = used.ru_utime + used.ru_stime, used.ru_maxrss * 1024
    if code not in fine or "Traceback" in said:
        how = "waits for ever, " if waits else "its time ran out, " if code == -signal.SIGXCPU else ""
        trial.fail(f"{what}: {how}exit {code}: {''.join(said.strip().splitlines()[-1:])[:200]}", what.replace("/", "-"), data)
    elif seconds > SECONDS:
        trial.fail(f"{what}: {seconds:.1f} s of processor time", what, data)
    elif memory > MEMORY:
        trial.fail(f"{what}: {memory >> 20} MiB", what, data)
    return seconds, memory


def _watch(process: subprocess.Popen[bytes], ended: threading.Event, waits: list[bool]) -> None:
    """End a process that waits for what never comes: one that only waits for the processor is told from it by its state."""
    still, before = 0, ""
    for _ in range(PATIENCE):
        if ended.wait(1):
            return
        state, worked = _work(process.pid)
        still = still + 1 if state == "S" and worked == before else 0
        before = worked
        if still >= STILL:
            break
    waits.append(True)
    os.kill(process.pid, signal.SIGKILL)  # not process.kill(), which would take the ending that is waited for


def _work(number: int) -> tuple[str, str]:
    """(state, ticks of the processor) of a process, as Linux tells them; ("", "") elsewhere."""
    try:
        fields = Path(f"/proc/{number}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return "", ""
    return fields[0], " ".join(fields[11:15])


def _bounded() -> None:
    """The processor's time and the memory of a child: more than is allowed, so that what takes more is told with its measure."""
    resource.setrlimit(resource.RLIMIT_CPU, (round(3 * SECONDS), round(3 * SECONDS) + 5))
    if sys.platform == "linux":  # so that what else runs there lives
        resource.setrlimit(resource.RLIMIT_AS, (6 * MEMORY, 6 * MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


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
    """Run the tool on mutants of the fixtures and of generated projects, many at once."""
    batch = min(250, many)
    for start in range(0, many, batch):
        folder = trial.folder / f"mutants{start}"
        files: dict[str, bytes] = {}
        while len(files) < batch:
            if trial.random.random() < 0.7:
                suffix, data = cases.mutant(trial.random)
                files[f"m{len(files)}{suffix}"] = data
            else:
                number = len(files)
                for name, data in projects.project(trial.random).files.items():
                    files[f"p{number}/{name}"] = cases.mutated(data, trial.random) if trial.random.random() < 0.7 else data
        for name, data in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
        platform = trial.random.choice(projects.PLATFORMS)
        before = len(trial.failures)
        _run(trial, folder, ["diff", ".", "--platform", platform, "--unsafe"], f"mutants{start} {platform}", b"")
        if len(trial.failures) > before:
            trial.kept[f"mutants-{trial.seed}-{start}.project"] = projects.Project(files, platform).dumped()
    return -(-many // batch) * batch
