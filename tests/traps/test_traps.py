"""Small projects that tempt a codemod: each case names what it shows, and most of them have to stay as they are.

A case is one text file, ``cases/GROUP/NAME.txt``: TOML (may be empty), then the files of a project, each under a line
``-- path --``. A line that has to change stands there twice, as ``-|old`` and ``+|new``; a case without such lines stays
untouched. The TOML says ``platform`` (default "rocm"), ``unsafe``, ``rules``, ``env_in``, ``review`` (the lines "path:3" that are listed
for a person to look at, by default none; "any" where that is a matter of taste), ``uncovered`` (in the same way, what the ledger lists), and ``xfail``, the reason of a known fault.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.edits.render import Rendered, render
from ddp_codemod.model import Action, Survey
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDER = Path(__file__).parent / "cases"
HEAD = re.compile(r"-- (\S+) --\n")
KNOWN_KEYS = {"platform", "unsafe", "rules", "env_in", "review", "uncovered", "xfail"}


@dataclass(frozen=True)
class Case:
    """One case file."""

    name: str
    before: dict[str, str]
    after: dict[str, str]
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def untouched(self) -> bool:
        return self.before == self.after


def read_case(path: Path) -> Case:
    """Read a case file (ValueError for one that breaks the layout)."""
    head, *rest = HEAD.split(path.read_bytes().decode("utf-8"))
    settings = tomllib.loads(head)
    if unknown := set(settings) - KNOWN_KEYS:
        raise ValueError(f"{path}: unknown keys {sorted(unknown)}")
    before: dict[str, str] = {}
    after: dict[str, str] = {}
    for name, text in zip(rest[::2], rest[1::2], strict=True):
        if name in before:
            raise ValueError(f"{path}: {name} stands there twice")
        before[name] = _side(text, "-|", "+|")
        after[name] = _side(text, "+|", "-|")
    if not before:
        raise ValueError(f"{path}: no file")
    return Case(path.relative_to(FOLDER).with_suffix("").as_posix(), before, after, settings)


def _side(text: str, mine: str, other: str) -> str:
    lines = (line for line in text.splitlines(keepends=True) if not line.startswith(other))
    return "".join(line.removeprefix(mine) for line in lines)


CASES = [read_case(path) for path in sorted(FOLDER.glob("*/*.txt"))]


def parameter(case: Case) -> Any:
    why = case.settings.get("xfail")
    return pytest.param(case, id=case.name, marks=[pytest.mark.xfail(reason=why, strict=True)] if why else [])


def port(case: Case, root: Path) -> tuple[Survey, Rendered]:
    """Survey and render the folder as the case asks."""
    rules = load()
    platform = rules.platforms[case.settings.get("platform", "rocm")]
    fixes, env_in = tuple(case.settings.get("rules", ())), case.settings.get("env_in", "python")
    found = survey(Options((root,), platform, rules, fixes=fixes, root=root, env_in=env_in))
    return found, render(found, case.settings.get("unsafe", False))


def asked(found: Survey) -> set[str]:
    """The lines that a person is asked to look at."""
    lines = {f"{note.name}:{note.line}" for note in found.advisories if note.line}
    for decision in found.decisions:
        if decision.action is Action.REVIEW:
            place = decision.place
            lines.add(f"{place.name}:{found.sources[place.name].position(place.start)[0]}")
    return lines


@pytest.mark.parametrize("case", [parameter(case) for case in CASES])
def test_case(case: Case, tmp_path: Path) -> None:
    for name, text in case.before.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(text.encode("utf-8"))

    found, rendered = port(case, tmp_path)
    assert not [skipped for skipped in found.skipped if skipped.candidate]
    assert not rendered.failed
    for change in rendered.changes:
        (tmp_path / change.name).write_bytes(change.after)
    got = {name: (tmp_path / name).read_bytes().decode("utf-8") for name in case.before}
    assert got == case.after
    for name, text in got.items():
        if name.endswith(".py"):
            ast.parse(text)
        elif name.endswith((".json", ".ipynb")):
            json.loads(text)

    wanted = case.settings.get("review", [])
    if wanted != "any":
        assert sorted(asked(found)) == sorted(wanted)

    left = [f"{one.place.name}:{one.line}" for one in found.uncovered]
    if case.settings.get("uncovered") != "any":
        assert left == case.settings.get("uncovered", [])

    assert not port(case, tmp_path)[1].changes, "a second run changes something"


def test_most_cases_are_about_code_that_stays() -> None:
    assert len(CASES) >= 150
    assert sum(case.untouched for case in CASES) * 2 >= len(CASES)
    assert {case.name.split("/")[0] for case in CASES} <= {path.name for path in FOLDER.iterdir()}


def test_no_two_cases_are_the_same_project() -> None:
    seen: dict[str, str] = {}
    for case in CASES:
        key = json.dumps([case.before, {k: v for k, v in case.settings.items() if k != "xfail"}], sort_keys=True)
        assert seen.setdefault(key, case.name) == case.name
