"""``python -m proofs.fuzz [--files N] [--seed N] [--out FOLDER]`` (make fuzz): real files, changed at random, through the whole way.

Files of the packages that are installed beside this Python are taken, many of them changed, and calls planted in most. Each batch of them is a
project: its patch is applied by plain git and by ``apply``, which are to give the same; it is planned again, which is to find nothing; what
compiled is to compile; and ``undo`` is to give back every byte and mode. Nothing of the files is run. Exit code 1 where something differs; the
batch is then left in FOLDER.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from proofs import cases
from proofs.proof import environment, git, tool, tree

PLATFORMS = ("rocm", "rocm", "windows", "windows", "ascend", "cpu", "macos", "single-gpu", "xpu", "mixed-gpu")
BATCH, LARGEST = 50, 60_000
IMPORT = "import torch.distributed as dist"
PLANTS = (
    (IMPORT, "dist.init_process_group('nccl')"),
    (IMPORT, "dist.init_process_group(backend='nccl', init_method='env://')  # gpu"),
    (IMPORT, "dist.init_process_group()"),
    (IMPORT, "group = dist.new_group([0], backend='nccl')"),
    (IMPORT, 'b = "nccl" if flag else "gloo"; dist.init_process_group(b)'),
    (IMPORT, "options = {'backend': 'nccl'}", "dist.init_process_group(**options)"),
    (IMPORT, "dist.init_process_group(", "    'nccl',  # the fast one", "    rank=0,", ")"),
    ("import torch", "if torch.cuda.is_available(): torch.distributed.init_process_group('nccl')"),
    ("from torch.distributed import init_process_group as start", "start(backend=('nc'", "    'cl'))"),
    ("import os", "os.environ['NCCL_P2P_DISABLE'] = '0'", "os.environ.setdefault('MASTER_ADDR', 'localhost')"),
    ("import argparse", "p = argparse.ArgumentParser()", "p.add_argument('--backend', default='nccl', choices=['nccl', 'mpi'])"),
    ("import pytorch_lightning as pl", "trainer = pl.Trainer(strategy='ddp', devices=2)"),
    ("import torch", "model = torch.nn.parallel.DistributedDataParallel(model.cuda(), device_ids=[0])"),
    ("import torch.multiprocessing as mp", "mp.spawn(main, nprocs=torch.cuda.device_count())"),
)


def installed() -> list[Path]:
    """The Python files that lie beside this Python, in order."""
    top = Path(sysconfig.get_paths()["purelib"])
    return sorted(path for path in top.rglob("*.py") if path.is_file() and 0 < path.stat().st_size < LARGEST)


def compiles(data: bytes) -> bool:
    """Whether Python takes a file."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(data, "x", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def planted(text: str, rng: random.Random) -> str:
    """The text with a call before one of its statements, indented as that is; as it was where there is no room."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            statements = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    lines = text.split("\n")
    for node in rng.sample(statements, min(8, len(statements))):
        first = min([node.lineno, *(part.lineno for part in getattr(node, "decorator_list", ()))])
        indent = lines[first - 1][: len(lines[first - 1]) - len(lines[first - 1].lstrip())] if first <= len(lines) else "?"
        made = [*lines[: first - 1], *(indent + line for line in rng.choice(PLANTS)), *lines[first - 1 :]]
        if not indent.strip() and compiles("\n".join(made).encode("utf-8", "replace")):
            return "\n".join(made)
    return text


def changed(data: bytes, rng: random.Random) -> bytes:
    """A file as the fuzzer makes it of a real one."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return cases.mutated(data, rng)
    text = text.replace("\r\n", "\n")
    for _ in range(rng.randrange(1, 4)):
        text = planted(text, rng)
    if rng.random() < 0.4:
        text = rng.choice(cases._CHANGES)(text, rng)
    made = cases.encoded(text, rng) if rng.random() < 0.5 else text.encode("utf-8", "surrogateescape")
    return cases.mutated(made, rng) if rng.random() < 0.15 else made


def faults(folder: Path, platform: str, counts: Counter[str]) -> Iterator[str]:
    """What does not hold of a project."""
    project, copy = folder / "project", folder / "copy"
    given = environment(folder)

    def run(*words: str, ends: tuple[int, ...] = (0, 1)) -> bytes:
        ended = subprocess.run(tool(*words), cwd=project, env=given, capture_output=True, timeout=900)
        if ended.returncode not in ends or b"Traceback" in ended.stderr:
            raise RuntimeError(f"{' '.join(words)}: exit {ended.returncode}: {ended.stderr.decode(errors='replace')[-600:]}")
        return ended.stdout

    before = tree(project)
    also = ["--unsafe"] if counts["batches"] % 2 else []
    patch = run("diff", ".", "--platform", platform, "-q", *also)
    run("apply", ".", "--platform", platform, "-q", *also)
    after = tree(project)
    different = {name for name in before if before[name] != after.get(name)}
    counts["changed"] += len(different)
    counts["edits"] += patch.count(b"\n@@ ")
    if after.keys() != before.keys():
        yield f"files that came or went: {sorted(after.keys() ^ before.keys())[:5]}"
    if patch:
        shutil.copytree(folder / "old", copy)
        try:
            git(copy, "apply", "--whitespace=nowarn", stdin=patch, env=given)
        except RuntimeError as why:
            yield f"the patch does not apply: {why}"
        else:
            applied = tree(copy)
            yield from (f"{name}: git and apply differ" for name in after if applied.get(name, (b"",))[0] != after[name][0])
    for name in sorted(different):
        if name.endswith(".py") and compiles(before[name][0]) and not compiles(after[name][0]):
            yield f"{name}: compiles no more"
    again = json.loads(run("check", ".", "--platform", platform, "--format", "json", *also))
    for edit in again["edits"]:
        if also or edit["applicability"] == "safe":
            yield f"{edit['path']}:{edit['line']}: changed again: {edit['before']!r} -> {edit['after']!r}"
    if different:
        run("undo")
    back = tree(project)
    yield from (f"{name}: undo left another" for name in before if back.get(name) != before[name])


def main() -> int:
    """Take so many files."""
    parser = argparse.ArgumentParser(prog="python -m proofs.fuzz", description=__doc__)
    parser.add_argument("--files", type=int, default=2_000)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--out", type=Path, default=Path(".fuzz"))
    asked = parser.parse_args()
    seed = random.SystemRandom().randrange(1 << 32) if asked.seed is None else asked.seed
    rng, counts, broken = random.Random(seed), Counter[str](), 0
    real = installed()
    while counts["files"] < asked.files:
        with tempfile.TemporaryDirectory(prefix="fuzz-", ignore_cleanup_errors=True) as made:
            folder, platform = Path(made).resolve(), rng.choice(PLATFORMS)
            for number in range(min(BATCH, asked.files - counts["files"])):
                path = rng.choice(real)
                target = folder / "project" / f"d{number % 5}" / f"n{number}" / path.name
                target.parent.mkdir(parents=True)
                target.write_bytes(changed(path.read_bytes(), rng))
                target.chmod(rng.choice([0o644, 0o755, 0o600]))
                counts["files"] += 1
            shutil.copytree(folder / "project", folder / "old")
            try:
                found = list(faults(folder, platform, counts))
            except (RuntimeError, subprocess.TimeoutExpired) as why:
                found = [str(why)]
            counts["batches"] += 1
            for fault in found:
                print(f"BROKEN: batch {counts['batches']} on {platform}: {fault}", flush=True)
            if found:
                shutil.copytree(folder / "old", asked.out / f"{seed}-{counts['batches']}-{platform}", dirs_exist_ok=True)
            broken += len(found)
    print(
        f"{counts['files']} files of {len(real)} installed ones in {counts['batches']} projects, {counts['changed']} changed "
        f"at {counts['edits']} places, seed {seed}: {broken} differences"
    )
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
