"""Surveys of many generated files at once, and what their edits do: shared by the proofs about bytes, second runs and trees."""

from __future__ import annotations

import ast
import io
import tokenize
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ddp_codemod.edits.render import render
from ddp_codemod.model import Edit, FileChange, Source
from ddp_codemod.pipeline import Options, survey
from ddp_codemod.rules.load import load
from proofs import cases
from proofs.proof import Trial

PLATFORMS = ("rocm", "windows", "ascend", "mixed-gpu", "xpu")
BATCH = 40


@dataclass(frozen=True)
class Changed:
    """One file that a run changes."""

    source: Source
    change: FileChange
    edits: tuple[Edit, ...]  # each with its text
    planned: tuple[Edit, ...]  # as they were before recipes ran


def generated(trial: Trial, many: int) -> Iterator[tuple[Path, list[Changed]]]:
    """Folders of generated files, and what changes in each; the files are written anew by the second look of a proof."""
    code = _hypothesmith(trial, trial.sized(0, 400))
    for number, path in enumerate(cases.kept()):
        folder = trial.folder / f"kept{number}"
        folder.mkdir()
        (folder / path.name).write_bytes(path.read_bytes())
        platform = trial.random.choice(PLATFORMS)
        (folder / "platform.txt").write_text(platform)
        yield folder, list(changed(folder, platform))
    for start in range(0, many, BATCH):
        folder = trial.folder / f"batch{start}"
        folder.mkdir()
        for number in range(start, min(start + BATCH, many)):
            if trial.random.random() < 0.15:
                suffix, data = cases.mutant(trial.random)
            else:
                suffix, data = ".py", cases.encoded(cases.python(trial.random, code), trial.random)
            (folder / f"f{number}{suffix}").write_bytes(data)
            trial.counts["files"] += 1
        platform = trial.random.choice(PLATFORMS)
        (folder / "platform.txt").write_text(platform)
        found = list(changed(folder, platform))
        trial.counts["changed"] += len(found)
        trial.counts["edits"] += sum(len(one.edits) for one in found)
        yield folder, found


def changed(folder: Path, platform: str) -> Iterator[Changed]:
    """What a run that takes unsafe edits too would change in a folder."""
    rules = load()
    found = survey(Options((folder,), rules.platforms[platform], rules, root=folder))
    made = render(found, unsafe=True)
    for change in made.changes:
        planned = tuple(edit for edit in made.applied if edit.name == change.name)
        yield Changed(found.sources[change.name], change, change.edits, planned)


def platform_of(folder: Path) -> str:
    """The platform that a folder's files were surveyed for."""
    file = folder / "platform.txt"
    return file.read_text() if file.is_file() else "rocm"


def parsed(data: bytes) -> ast.Module | None:
    """The tree of a program; None for what is none."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(data, "x", "exec", dont_inherit=True)
            return ast.parse(data.decode(encoding))
    except (SyntaxError, ValueError, LookupError, RecursionError, MemoryError):
        return None


@cache
def _samples(seed: int, many: int) -> tuple[str, ...]:
    try:
        import hypothesmith
    except ImportError:
        return ()
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import seed as seeded

    found: list[str] = []

    @seeded(seed)
    @settings(max_examples=many, database=None, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(hypothesmith.from_node() | hypothesmith.from_grammar())
    def collect(text: str) -> None:
        found.append(text)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        collect()
    return tuple(found)


def _hypothesmith(trial: Trial, many: int) -> tuple[str, ...]:
    found = _samples(trial.seed, many) if many else ()
    trial.counts["hypothesmith"] = len(found)
    return found
