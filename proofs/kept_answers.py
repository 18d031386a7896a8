"""An answer that was kept is the answer of a run without one, whatever changed in between."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from unittest.mock import patch

from ddp_codemod.catalog.load import load
from ddp_codemod.run import answer_cache, project
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey
from proofs import projects
from proofs.packages import PLATFORMS, unpacked
from proofs.proof import Trial

PROMISE = "an answer from the cache is the answer of a run without it"
STEPS = 6  # changes to one project, with two questions after each
_LINES = (
    b'\nBACKEND = "gloo"\n',
    b"\n# a word more\n",
    b"\nimport torch.distributed as dist\n\ndist.init_process_group('nccl')\n",
)


def prove(trial: Trial) -> str:
    """Change projects between runs, and compare each answer with one that nothing was kept for."""
    with _cache_in(trial.folder / "cache-of-answers"):
        for number in range(trial.sized(12, 400)):
            one = projects.project(trial.random)
            folder = trial.folder / f"kept{number}"
            for name, data in one.files.items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(data)
            trial.counts["projects"] += 1
            compare(trial, folder, one.platform)
            shutil.rmtree(folder)
        for _, folder in unpacked(trial):
            for platform in PLATFORMS:
                compare(trial, folder, platform)
    counts = trial.counts
    return (
        f"{counts['answers asked']} answers after {counts['changes']} changes to {counts['projects']} generated projects and {counts['packages']} published packages "
        f"(files written, added, removed, renamed): {counts['answers kept']} from the cache, {counts['answers wrong']} not what a run finds"
    )


def compare(trial: Trial, folder: Path, platform: str) -> None:
    """Ask of one tree, change it, and ask again."""
    rules, work_out, runs = load(), project._survey_with_others, list[object]()

    def counted(*args: object) -> object:
        runs.append(args)
        return work_out(*args)

    question = Options((folder,), rules.platforms[platform], rules, root=folder, cache=True)
    for step in range(STEPS):
        if step:
            changed = _change(trial.random, folder)
            trial.counts["changes"] += 1
        else:
            changed = "as it is"
        wanted = survey(Options((folder,), rules.platforms[platform], rules, root=folder))
        for _ in range(2):  # the first is worked out where something changed, the second is kept
            runs.clear()
            with patch.object(project, "_survey_with_others", counted):
                found = survey(question)
            trial.counts["answers asked"] += 1
            trial.counts["answers kept"] += not runs
            if found != wanted:
                trial.counts["answers wrong"] += 1
                trial.fail(f"{folder.name} {platform}, {changed}: the answer is another one")


def _change(random: Random, folder: Path) -> str:
    """One change to a tree, and what it was."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    if not files:
        (folder / "first.py").write_bytes(_LINES[2])
        return "a first file"
    path = random.choice(files)
    kind = random.choice(("write", "write", "add", "remove", "rename"))
    if kind == "write":
        path.write_bytes(path.read_bytes() + random.choice(_LINES))
    elif kind == "add":
        path.with_name(f"added{random.randrange(1000)}{path.suffix}").write_bytes(path.read_bytes())
    elif kind == "remove":
        path.unlink()
    else:
        path.rename(path.with_name(f"renamed{random.randrange(1000)}{path.suffix}"))
    return f"{kind} {path.relative_to(folder)}"


@contextmanager
def _cache_in(folder: Path) -> Iterator[None]:
    names = ("XDG_CACHE_HOME", "LOCALAPPDATA")
    before = {name: os.environ.get(name) for name in names}
    worth = answer_cache.WORTH
    os.environ.update(dict.fromkeys(names, str(folder)))
    answer_cache.WORTH = 1
    try:
        yield
    finally:
        answer_cache.WORTH = worth
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.__setitem__(name, value)
