"""Each surface in every shape in which it can be named: nothing ends in an error, and no file gets a key that the surface does not take."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.edits.render import render
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

RULES = load()
NAMES = {ident: name for ident, surface in RULES.surfaces.items() for name in surface.names if "*" not in name and "." in name}
RUNS: list[tuple[str, Literal["pin", "portable"]]] = [
    ("rocm", "pin"), ("windows", "pin"), ("ascend", "pin"), ("hpu", "pin"), ("sdaa", "pin"), ("gcu", "pin"), ("biren", "pin"), ("neuron", "pin"), ("tpu", "pin"), ("rocm-windows", "pin"),
    ("rocm", "portable"),
]  # fmt: skip
PROGRAM = """\
import hydra
from functools import partial
from {package} import {name}


def make(backend="nccl", **options):
    made = {name}(**options)
    other = {name}(backend)
    later = partial({name}, None)
    return made, other, later(), {name}(*options), {name}({{}}, [], strategy="ddp")


@hydra.main(config_path="configs", config_name="a")
def main(config):
    made = {name}()
    made.backward(1)
    make()
    return hydra.utils.instantiate(config.part)


main()
"""
TARGET = "part:\n  _target_: {full}\n  seed: 1\n"
CLASS_PATH = "part:\n  class_path: {full}\n  init_args:\n    seed: 1\n"
GIVEN = "part:\n  _target_: {full}\n  {parameter}: nccl\n"


@pytest.mark.parametrize("ident", NAMES)
def test_every_shape_comes_to_an_end(ident: str, tmp_path: Path) -> None:
    full, surface = NAMES[ident], RULES.surfaces[ident]
    package, _, name = full.rpartition(".")
    backends = [one for one in surface.parameters if one.role == "backend"]
    said: dict[str, Any] = {"full": full, "package": package, "name": name, "parameter": (backends or surface.parameters)[0].name}
    files = {"train.py": PROGRAM, "configs/a.yaml": TARGET, "configs/b.yaml": CLASS_PATH, "configs/c.yaml": GIVEN}
    (tmp_path / "configs").mkdir()
    for file, text in files.items():
        (tmp_path / file).write_text(text.format(**said), "utf-8")
    for platform, style in RUNS:
        found = survey(Options((tmp_path,), RULES.platforms[platform], RULES, root=tmp_path, style=style))
        rendered = render(found, unsafe=True)
        assert not rendered.failed
        for change in rendered.changes:
            lines = change.after.decode().splitlines()
            added = [line.strip() for line in lines if line not in change.before.decode().splitlines()]
            keys = {line.partition(":")[0] for line in added if change.name != "train.py"}
            takes = {one.name for one in surface.parameters if one.add in ("keyword", "object")} | {"_target_", "class_path"}
            there = {said["parameter"]} if change.name == "configs/c.yaml" else set()
            assert keys <= takes | there, (platform, change.name, added)
