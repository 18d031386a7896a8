"""Surveys of many generated files at once, and what their edits do: shared by the proofs about bytes, second runs and trees."""

from __future__ import annotations

import ast
import io
import tokenize
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ddp_codemod.catalog.load import load
from ddp_codemod.edits.render import render
from ddp_codemod.model import Edit, FileChange, Source
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey
from proofs import cases, projects
from proofs.proof import Trial

PLATFORMS = projects.PLATFORMS
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
    for path in cases.kept():
        for number, project in enumerate(projects.kept(path)):
            yield _surveyed(trial, trial.folder / f"kept-{path.name}-{number}", project)
    for start in range(0, many, BATCH):
        files = {}
        for number in range(start, min(start + BATCH, many)):
            if trial.random.random() < 0.15:
                suffix, data = cases.mutant(trial.random)
            else:
                suffix, data = ".py", cases.encoded(cases.python(trial.random, code), trial.random)
            files[f"f{number}{suffix}"] = data
        trial.counts["files"] += len(files)
        yield _surveyed(trial, trial.folder / f"batch{start}", projects.Project(files, trial.random.choice(PLATFORMS)))
    for number in range(many // 10):
        trial.counts["projects"] += 1
        yield _surveyed(trial, trial.folder / f"project{number}", projects.project(trial.random))


def made(trial: Trial) -> str:
    """What was generated, in words."""
    return f"{trial.counts['files']} generated files and {trial.counts['projects']} generated projects with configuration, launch files and notebooks"


def _surveyed(trial: Trial, folder: Path, project: projects.Project) -> tuple[Path, list[Changed]]:
    for name, data in project.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    _HOW[folder] = project
    try:
        found = list(changed(folder, project.platform, project.rules, project.env_in))
    except Exception as why:  # none may come out of a survey
        trial.fail(
            f"{folder.name}: {why!r} {traceback.extract_tb(why.__traceback__)[-1]}", f"{folder.name}.project", project.dumped()
        )
        found = []
    trial.counts["changed"] += len(found)
    trial.counts["edits"] += sum(len(one.edits) for one in found)
    trial.counts["edits beside Python"] += sum(len(one.edits) for one in found if not one.change.name.endswith(".py"))
    return folder, found


def keep(folder: Path, name: str) -> tuple[str, bytes]:
    """What to keep of an input that failed: the file, or the whole project where it is one."""
    project = _HOW[folder]
    return (f"{folder.name}.project", project.dumped()) if folder.name.startswith("project") else (name, project.files[name])


def again(folder: Path) -> list[Changed]:
    """What a run that is asked the same as the first would change now."""
    project = _HOW[folder]
    try:
        return list(changed(folder, project.platform, project.rules, project.env_in))
    except Exception:
        return []  # told by the first survey, or by the proof about what kills


_HOW: dict[Path, projects.Project] = {}  # how a folder was surveyed


def changed(folder: Path, platform: str, fixes: tuple[str, ...] = (), env_in: str = "python") -> Iterator[Changed]:
    """What a run that takes unsafe edits too would change in a folder."""
    rules = load()
    found = survey(Options((folder,), rules.platforms[platform], rules, fixes, root=folder, env_in=env_in))  # type: ignore[arg-type]
    made = render(found, unsafe=True)
    for change in made.changes:
        planned = tuple(edit for edit in made.applied if edit.name == change.name)
        yield Changed(found.sources[change.name], change, change.edits, planned)


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
