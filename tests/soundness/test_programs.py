"""The generated programs are good programs: each shape is made, runs by itself, and asks for what it says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from tests.soundness.hunt import shapes
from tests.soundness.programs import VALUES, Recipe, Site, build, recipes, single_shapes
from tests.soundness.runs import STANDIN, Ran, run, write


def ran(recipe: Recipe, root: Path) -> Ran:
    program = build(recipe)
    write(root, program.files)
    return run(root)


@pytest.mark.parametrize("recipe", [pytest.param(one, id="-".join(shapes(one)) or "plain") for one in single_shapes()])
def test_each_shape_runs_and_makes_a_group(recipe: Recipe, tmp_path: Path) -> None:
    got = ran(recipe, tmp_path)
    assert not got.error
    assert {group["asked"] for group in got.asked} == {site.function for site in recipe.sites}
    assert len(got.noise) == len(recipe.noise)


@pytest.mark.parametrize("value", VALUES)
def test_the_value_arrives(value: str, tmp_path: Path) -> None:
    layers = ("variable", "self", "function of another file", "identity")
    got = ran(Recipe((Site(value, "dataclass", layers, "table", "own wrapper"),)), tmp_path)
    assert got.backends == [None if value == "None" else value.strip('"')]


def test_what_is_typed_arrives(tmp_path: Path) -> None:
    program = build(Recipe((Site(source="option"), Site(source="getenv"))))
    write(tmp_path, program.files)
    assert run(tmp_path).backends == ["nccl", "nccl"]
    assert run(tmp_path, program.argv, program.environ).backends == ["mpi", "mpi"]


def test_a_process_of_its_own_prints_the_same(tmp_path: Path) -> None:
    recipe = Recipe((Site(layers=("function of another file",)), Site(source="json file")), noise=("option",), in_main=True)
    got = ran(recipe, tmp_path)
    command = [
        sys.executable,
        "-B",
        "-c",
        "import runpy, sys; sys.path[:0] = sys.argv.pop(), '.'; runpy.run_path('main.py', run_name='__main__')",
    ]
    done = subprocess.run([*command, str(STANDIN)], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) == len(got.asked) + len(got.noise) == 3


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    modules, path, folder = dict(sys.modules), [*sys.path], Path.cwd()
    ran(Recipe((Site(source="constant of another file"),)), tmp_path)
    assert {name for name in {*sys.modules} ^ {*modules} if name.split(".")[0] in ("torch", "hub", "consts_1", "main")} == set()
    assert all(sys.modules[name] is module for name, module in modules.items())
    assert (sys.path, Path.cwd()) == (path, folder)


@settings(max_examples=100, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(recipe=recipes())
def test_every_program_runs(recipe: Recipe, tmp_path_factory: pytest.TempPathFactory) -> None:
    got = ran(recipe, tmp_path_factory.mktemp("program"))
    assert not got.error, build(recipe)
    assert got.asked
