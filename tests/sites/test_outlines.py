"""What files define and mention, with and without their trees."""

from __future__ import annotations

from pathlib import Path

import pytest

import ddp_codemod
from ddp_codemod.sites.outlines import Definition, Outline, defined_in, outline_files
from ddp_codemod.sites.project import Project

ROOT = Path(ddp_codemod.__file__).parent
CODE = """
class Net(base.Module, Mixin):
    @property
    def size(self):
        return helper()

    if fast:
        def run(self):
            return other() if fast else slow()

def helper():
    def inner():
        Net()
    return inner

if __name__ == "__main__":
    started()
else:
    imported()
"""


def outline(folder: Path, name: str, wanted: set[str], kept: bool, started: bool = False) -> Outline:
    (found,) = outline_files(Project(folder, sorted(folder.rglob("*.py"))), name, wanted, kept, started)
    return found


def told(one: Definition) -> tuple[object, ...]:
    return one.name, sorted(one.part.every), one.bases, sorted(method.name for method in one.methods)


@pytest.mark.parametrize("name", ["run/pipeline.py", "sites/scopes.py", "cli/translate.py", "sites/outlines.py", "model.py"])
def test_a_file_is_told_alike_without_its_tree(name: str) -> None:
    wanted = {one for path in ROOT.rglob("*.py") for one in defined_in(path.read_bytes())}
    kept, passing = (outline(ROOT, name, wanted, kept) for kept in (True, False))
    assert kept.module is not None
    assert passing.module is None
    assert kept.part.every == passing.part.every
    assert sorted(map(repr, map(told, kept.definitions))) == sorted(map(repr, map(told, passing.definitions)))
    assert all(one.node is None and not one.part.branches for one in passing.definitions)


@pytest.mark.parametrize(("started", "run"), [(True, "started"), (False, "imported")])
def test_only_one_side_of_a_question_for_main_runs(tmp_path: Path, started: bool, run: str) -> None:
    (tmp_path / "a.py").write_text(CODE, "utf-8")
    wanted = {"helper", "other", "slow", "Net", "started", "imported"}
    found = outline(tmp_path, "a.py", wanted, kept=False, started=started)
    assert found.part.names == {run}
    by_name = {one.name: one for one in found.definitions}
    assert by_name.keys() == {"Net", "size", "run", "helper", "inner"}
    assert by_name["run"].part.names == {"other", "slow"}
    assert (by_name["Net"].bases, [one.name for one in by_name["Net"].methods]) == (("Module", "Mixin"), ["size"])


def test_a_file_that_cannot_be_parsed_is_named_and_has_no_outline(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("print 'two'\n", "utf-8")
    project = Project(tmp_path, [tmp_path / "a.py"])
    assert list(outline_files(project, "a.py", set(), kept=False, started=False)) == []
    assert list(project.skipped) == ["a.py"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("@dataclass\nclass Config:\n    def __init__(self): ...", {"Config", "__init__"}),
        ("async  def \\\n f(): ...", {"f"}),
        ('"cells": ["x = 1\\ndef g():\\n"]', {"g"}),
        ("class 网络(nn.Module): ...", {"网络"}),
        ("define(x)", set()),
    ],
)
def test_names_that_bytes_seem_to_define(text: str, names: set[str]) -> None:
    assert names <= set(defined_in(text.encode()))
    assert names or not set(defined_in(text.encode()))
