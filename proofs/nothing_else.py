"""A safe edit changes the backend of the group, and nothing else that a program does."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import shutil
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ddp_codemod.catalog.load import Rules, load
from ddp_codemod.edits.render import render
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey
from proofs.nothing_else_programs import Made, programs
from proofs.proof import Trial

PROMISE = "a safe edit changes the backend of the group, and nothing else that the program does"
PLATFORMS = ("rocm", "windows", "ascend", "single-gpu")
MADE = ("torch", "torch.distributed", "torch_npu", "otherlib")


@dataclass(frozen=True)
class Ran:
    """What a program did: the groups it asked for, what it printed and gave to a library, the files it wrote, what ended it."""

    groups: tuple[tuple[str, Any], ...]
    told: tuple[str, ...]
    files: frozenset[str]
    ended: str


def prove(trial: Trial) -> str:
    """Run programs of the grammar, change them, run them again."""
    every = [*programs()] if sys.version_info >= (3, 10) else [one for one in programs() if "match " not in one.files["main.py"]]
    chosen = trial.random.sample(every, min(len(every), trial.sized(400, len(every))))
    edited = changing = arriving = 0
    for made in chosen:
        before = None
        for platform in PLATFORMS if trial.whole else (trial.random.choice(PLATFORMS),):
            root = _written(trial, made)
            before = before or _run(root)
            if "nccl" not in str(before.groups):
                trial.fail(f"{made.name}: the program asks for no nccl: {before}")
                break
            root = _written(trial, made)
            changed = _ported(root, platform)
            after = _run(root)
            edited += changed
            apart = [] if not changed else _apart(before, after, platform)
            changing += bool(apart)
            if apart:
                trial.fail(f"{platform}: {made.name}: {'; '.join(apart)}")  # nothing to keep: the grammar has it
            arrives = platform != "single-gpu" and "nccl" in str(after.groups)  # one GPU has its own, which makes no group
            arriving += arrives
            if arrives:
                print(f"    nccl arrives on {platform}: {made.name}")
    asked = len(chosen) * (len(PLATFORMS) if trial.whole else 1)
    kinds = f"of {len(every)} that the grammar has"
    return f"{len(chosen)} programs {kinds}, {asked} runs: {edited} edited, {changing} else changed; nccl still arrives in {arriving}"


def _written(trial: Trial, made: Made) -> Path:
    root = trial.folder / "program"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    for name, text in made.files.items():
        (root / name).write_text(text, encoding="utf-8")
    return root


@cache
def _rules() -> Rules:
    return load()


def _ported(root: Path, platform: str) -> bool:
    """Make the safe edits; whether there were any."""
    found = survey(Options((root,), _rules().platforms[platform], _rules(), root=root))
    changes = render(found, unsafe=False).changes
    for change in changes:
        (root / change.name).write_bytes(change.after)
    return bool(changes)


def _apart(before: Ran, after: Ran, platform: str) -> list[str]:
    """What differs besides the backend's name; where there is one GPU a group may go."""
    found = [f"{name}: {old!r} became {new!r}" for name, old, new in _seen(before, after) if old != new]
    if platform != "single-gpu" and [one[0] for one in before.groups] != [one[0] for one in after.groups]:
        found.append(f"groups: {before.groups} became {after.groups}")
    return found


def _seen(before: Ran, after: Ran) -> Iterator[tuple[str, object, object]]:
    # what is shown to a reader may show the new name
    shown = [tuple(line for line in ran.told if not line.startswith(("using ", "backend "))) for ran in (before, after)]
    yield "told", *shown  # type: ignore[misc]
    yield "files", before.files, after.files
    yield "end", before.ended, after.ended


def _standins(groups: list[tuple[str, Any]], told: list[str]) -> dict[str, types.ModuleType]:
    """Modules that note what is asked of them."""
    made = {name: types.ModuleType(name) for name in MADE}
    distributed = made["torch.distributed"]

    def init_process_group(
        backend: Any = None, init_method: Any = None, timeout: Any = None, world_size: int = -1, rank: int = -1, **other: Any
    ) -> None:
        groups.append((f"init of rank {rank} in {world_size}", backend))

    def new_group(ranks: Any = None, timeout: Any = None, backend: Any = None, **other: Any) -> object:
        groups.append((f"group of {ranks}", backend))
        return object()

    vars(distributed).update(init_process_group=init_process_group, new_group=new_group, is_initialized=lambda: False)
    vars(made["torch"]).update(distributed=distributed, __path__=[])
    vars(made["otherlib"])["init"] = lambda *given, **named: told.append(f"library: {given} {named}")
    return made


def _run(root: Path) -> Ran:
    """Run main.py of a folder in this process, in that folder, with stand-ins for torch and for a library."""
    groups, told, said = list[tuple[str, Any]](), list[str](), io.StringIO()
    ended, folder, path, variables = "", Path.cwd(), [*sys.path], dict(os.environ)
    mine = {*MADE, *(file.stem for file in root.glob("*.py"))}
    kept = {name: sys.modules.pop(name) for name in [*sys.modules] if name in mine or name.split(".")[0] == "torch"}
    sys.modules.update(_standins(groups, told))
    was = {file.name for file in root.iterdir()}
    main = types.ModuleType("__main__")
    try:
        os.chdir(root)
        sys.path.insert(0, str(root))
        sys.dont_write_bytecode = True
        importlib.invalidate_caches()
        own, sys.modules["__main__"] = sys.modules["__main__"], main
        with contextlib.redirect_stdout(said):
            exec(compile((root / "main.py").read_text("utf-8"), "main.py", "exec"), main.__dict__)
    except (Exception, SystemExit) as why:
        ended = f"{type(why).__name__}: {why}"
    finally:
        sys.modules["__main__"] = own
        os.chdir(folder)
        sys.path[:] = path
        os.environ.clear()
        os.environ.update(variables)
        for name in [name for name in sys.modules if name in mine or name.split(".")[0] == "torch"]:
            del sys.modules[name]
        sys.modules.update(kept)
    written = frozenset(file.name for file in root.iterdir() if file.name not in was and file.name != "__pycache__")
    return Ran(tuple(groups), (*said.getvalue().splitlines(), *told), written, ended)
