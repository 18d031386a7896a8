"""Runs small programs in this process, with a stand-in for torch, and ports them with the tool."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import sys
import types
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ddp_codemod.catalog.load import Rules, load
from ddp_codemod.edits.render import Rendered, render
from ddp_codemod.model import Action, Survey
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

STANDIN = Path(__file__).with_name("standin")
STANDINS = ("torch", "hub")


@dataclass(frozen=True)
class Ran:
    """What a program printed, and the exception that ended it."""

    asked: tuple[dict[str, Any], ...]  # the groups
    noise: tuple[Any, ...]  # what else it says of itself
    error: str = ""

    @property
    def backends(self) -> list[Any]:
        return [group["backend"] for group in self.asked]

    @property
    def others(self) -> list[dict[str, Any]]:
        """What was asked for beside the backends."""
        return [{key: value for key, value in group.items() if key != "backend"} for group in self.asked]


@cache
def _standins() -> dict[str, types.ModuleType]:
    """The modules that stand in for torch and for a package from outside, loaded once."""
    kept = _taken(lambda name: name.split(".")[0] in STANDINS)
    sys.path.insert(0, str(STANDIN))
    try:
        importlib.invalidate_caches()
        for name in (*STANDINS, "torch.cuda", "torch.distributed"):
            importlib.import_module(name)
        return _taken(lambda name: name.split(".")[0] in STANDINS)
    finally:
        sys.path.remove(str(STANDIN))
        sys.modules.update(kept)


def _taken(wanted: Any) -> dict[str, types.ModuleType]:
    """The modules of these names, taken out of ``sys.modules``."""
    return {name: sys.modules.pop(name) for name in [*sys.modules] if wanted(name)}


@contextlib.contextmanager
def _place(root: Path, argv: Sequence[str], environ: Mapping[str, str]) -> Iterator[types.ModuleType]:
    """A main module in a project's folder; all is put back afterwards."""
    standins = _standins()
    mine = {path.stem for path in root.glob("*.py")} - {"main"}
    main = types.ModuleType("__main__")
    folder, path, words, bytecode = Path.cwd(), [*sys.path], sys.argv, sys.dont_write_bytecode
    kept = _taken(lambda name: name == "__main__" or name in mine or name.split(".")[0] in STANDINS)
    sys.modules.update({**standins, "__main__": main})
    set_before = {name: os.environ.get(name) for name in environ}
    try:
        os.chdir(root)
        os.environ.update(environ)
        sys.path[:0], sys.argv, sys.dont_write_bytecode = [str(root)], ["main.py", *argv], True
        importlib.invalidate_caches()
        yield main
    finally:
        os.chdir(folder)
        sys.path[:], sys.argv, sys.dont_write_bytecode = path, words, bytecode
        sys.path_importer_cache.pop(str(root), None)
        for name, value in set_before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
        _taken(lambda name: name == "__main__" or name in mine or name.split(".")[0] in STANDINS)
        sys.modules.update(kept)


def run(root: Path, argv: Sequence[str] = (), environ: Mapping[str, str] | None = None) -> Ran:
    """Run main.py of a folder."""
    said, error = io.StringIO(), ""
    with _place(root, argv, environ or {}) as main, contextlib.redirect_stdout(said), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a program says of a name that was typed
        try:
            exec(compile((root / "main.py").read_text("utf-8"), "main.py", "exec"), main.__dict__)
        except Exception as why:
            error = f"{type(why).__name__}: {why}"
    lines = [json.loads(line) for line in said.getvalue().splitlines() if line.startswith("{")]
    asked = tuple(line for line in lines if "asked" in line)
    return Ran(asked, tuple(line["noise"] for line in lines if "noise" in line), error)


@cache
def _rules() -> Rules:
    return load()


def port(root: Path, unsafe: bool = False) -> tuple[Survey, Rendered]:
    """Survey the folder and make the edits; nothing is written."""
    rules = _rules()
    found = survey(Options((root,), rules.platforms["rocm"], rules, root=root))
    return found, render(found, unsafe)


def write(root: Path, files: Mapping[str, str | bytes]) -> None:
    for name, text in files.items():
        (root / name).write_bytes(text if isinstance(text, bytes) else text.encode())


def listed(found: Survey, rendered: Rendered) -> list[str]:
    """All that a person is told to look at."""
    said = [f"review {d.surface} {d.value}: {d.reason.key}" for d in found.decisions if d.action is Action.REVIEW]
    said += [f"{edit.applicability.value} edit {edit.after!r}: {edit.reason.key}" for edit in rendered.left]
    said += [f"failed {why.reason.key}" for why in rendered.failed]
    said += [f"advisory {note.name}:{note.line} {note.rule}" for note in found.advisories]
    said += [f"skipped {skipped.name}: {skipped.reason.key}" for skipped in found.skipped if skipped.candidate]
    return said + [f"uncovered {item}" for item in getattr(found, "uncovered", ())]
