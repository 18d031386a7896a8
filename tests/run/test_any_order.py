"""The answer does not hang on the order in which the system lists files, nor on the order in which call sites are asked about."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ddp_codemod.catalog.load import load
from ddp_codemod.model import Survey
from ddp_codemod.run.options import Options
from ddp_codemod.run.pipeline import Run
from ddp_codemod.run.survey import survey
from ddp_codemod.sites.surface_calls import Use
from tests.traps.test_traps import CASES

RULES = load()
FIXTURES = sorted((Path(__file__).resolve().parents[2] / "fixtures").glob("*/project"))
SEVERAL = [case for case in CASES if len(case.before) > 2]


class Shuffled:
    """os.scandir with its entries in another order."""

    def __init__(self, entries: list[os.DirEntry[str]]) -> None:
        self._entries = iter(entries)

    def __enter__(self) -> Iterator[os.DirEntry[str]]:
        return self._entries

    def __exit__(self, *_: object) -> None: ...

    def __iter__(self) -> Iterator[os.DirEntry[str]]:
        return self._entries

    def __next__(self) -> os.DirEntry[str]:
        return next(self._entries)

    def close(self) -> None: ...


def shuffle(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """List files, and ask about call sites, in an order of this seed."""
    scandir, find_uses = os.scandir, Run._find_uses

    def list_shuffled(folder: Any = ".") -> Shuffled:
        with scandir(folder) as listing:
            entries = list(listing)
        random.Random(seed).shuffle(entries)
        return Shuffled(entries)

    def ask_shuffled(run: Run) -> list[Use]:
        uses = list(find_uses(run))
        random.Random(seed).shuffle(uses)
        return uses

    monkeypatch.setattr(os, "scandir", list_shuffled)
    monkeypatch.setattr(Run, "_find_uses", ask_shuffled)


def answer(root: Path, platform: str) -> tuple[object, ...]:
    """All that a survey says, without the texts of the files."""
    found: Survey = survey(Options((root,), RULES.platforms[platform], RULES, root=root))
    groups = [{edit.group, *edit.also} for edit in found.edits]  # which edits belong together counts, not the groups' numbers
    together = [[at for at, other in enumerate(groups) if other & own] for own in groups]
    edits = [(replace(edit, group=0, also=()), others) for edit, others in zip(found.edits, together, strict=True)]
    return found.decisions, edits, found.advisories, found.uncovered, found.skipped, found.unfollowed


@pytest.mark.parametrize("platform", ["rocm", "windows", "ascend", "single-gpu"])
@pytest.mark.parametrize("root", FIXTURES, ids=lambda path: path.parent.name)
def test_a_project_in_any_order(root: Path, platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = answer(root, platform)
    for seed in (1, 2):
        with monkeypatch.context() as patch:
            shuffle(patch, seed)
            assert answer(root, platform) == wanted


@pytest.mark.parametrize("part", range(8))
def test_small_projects_of_several_files_in_any_order(part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for case in SEVERAL[part::8]:
        root = tmp_path / case.name.replace("/", "+")
        for name, text in case.before.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(text.encode("utf-8"))
        wanted = answer(root, case.settings.get("platform", "rocm"))
        with monkeypatch.context() as patch:
            shuffle(patch, part + 1)
            assert answer(root, case.settings.get("platform", "rocm")) == wanted, case.name
