"""Thousands of changes, or one on a very long line: what each format says of a change does not grow with the others."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import ddp_codemod.report
from ddp_codemod.cli import main
from ddp_codemod.edits.lines import AROUND, MARK
from ddp_codemod.model import Applicability, Edit, Place, Reason, Survey
from ddp_codemod.report.edit_sites import TOLD, _has_overlap, sites_of_edit

SCHEMA = json.loads((Path(ddp_codemod.report.__file__).parent / "schema.json").read_text("utf-8"))
HEAD = "import argparse\nimport torch.distributed as dist\n\n"
OPTION = "p = argparse.ArgumentParser()\np.add_argument('--backend', default='nccl')\n"
READ = "dist.init_process_group(p.parse_args().backend)\n"
WORDS = "import subprocess\nsubprocess.run(['python', 'train.py', {}])\n"
LONG = HEAD + "x = ['" + "a" * 6_000 + "']; dist.init_process_group('nccl'); y = ['" + "b" * 6_000 + "']\n"


def words_of_a_list(folder: Path, n: int) -> str:
    folder.mkdir()
    (folder / "train.py").write_text(HEAD + OPTION + READ)
    (folder / "run.py").write_text(WORDS.format("'--backend', 'nccl', " * n))
    return str(folder)


@pytest.mark.parametrize("words", ["--format json", "--format sarif", "--format github", "--format rdjson", ""])
def test_a_line_of_many_changes_takes_room_that_grows_with_their_number(
    output: Callable[..., bytes], tmp_path: Path, words: str
) -> None:
    few, many = (
        len(output("check", words_of_a_list(tmp_path / str(n), n), "--platform", "rocm", *words.split())) for n in (100, 400)
    )
    assert many < 5 * few  # four times as many; with the square it would be sixteen


def test_json_gives_what_stands_around_a_change_of_a_long_line(document: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(LONG)
    found = document("check", str(tmp_path), "--platform", "rocm", "--format", "json")
    jsonschema.validate(found, SCHEMA, cls=jsonschema.Draft202012Validator)
    (edit,) = found["edits"]
    assert edit["truncated"] is True
    for text, name in ((edit["before"], "'nccl'"), (edit["after"], '"gloo"')):
        assert text[0] + text[-1] == 2 * MARK
        assert len(text) == 2 * (len(MARK) + AROUND) + len(name)
        assert f"dist.init_process_group({name}); y" in text.replace("'gloo'", '"gloo"')
    (tmp_path / "train.py").write_text(LONG.replace("a" * 6_000, "a").replace("b" * 6_000, "b"))
    assert "truncated" not in document("check", str(tmp_path), "--platform", "rocm", "--format", "json")["edits"][0]


def test_annotations_give_what_stands_around_a_change_of_a_long_line(output: Callable[..., bytes], tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(LONG)
    said = output("check", str(tmp_path), "--platform", "rocm", "--format", "github").decode()
    assert "init_process_group('nccl')" in said
    assert "init_process_group('gloo')" in said
    assert len(said) < 4 * AROUND + 1_000


def test_a_changed_line_that_is_long_is_known_again(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "train.py").write_text(LONG)
    assert main(["apply", str(tmp_path), "--platform", "rocm"]) == 0
    capfd.readouterr()
    assert main(["explain", f"{tmp_path / 'train.py'}:4", "--platform", "rocm"]) == 0
    said = capfd.readouterr().out
    assert "nccl does not work on rocm" in said
    assert len(said) < 6 * AROUND


def test_sarif_tells_some_starts_of_a_value_and_the_one_that_changes(document: Callable[..., Any], tmp_path: Path) -> None:
    folder = words_of_a_list(tmp_path / "p", 3 * TOLD)
    found = document("check", folder, "--platform", "rocm", "--format", "sarif")
    flows = [flow["threadFlows"][0]["locations"] for one in found["runs"][0]["results"] for flow in one.get("codeFlows", ())]
    assert flows
    assert max(map(len, flows)) <= 2 * TOLD + 1


def test_the_sites_of_an_edit_are_those_that_it_overlaps() -> None:
    rng = random.Random(5)
    for _ in range(60):
        sites: tuple[Any, ...] = tuple(_Site(rng) for _ in range(rng.randrange(40)))
        survey = Survey(Path(), "rocm", sites, (), (), ())
        for _ in range(20):
            start = rng.randrange(60)
            anchor = rng.choice([None, rng.randrange(60)])
            edit = Edit("a", start, start + rng.randrange(20), "x", "r", Applicability.SAFE, Reason("why"), anchor=anchor)
            places = [(site, (site.place, *(origin.place for origin in site.origins))) for site in sites]
            assert sites_of_edit(edit, survey) == [
                site for site, all_ in places if site.rule == "r" and any(p.name == "a" and _has_overlap(edit, p) for p in all_)
            ]


class _Start:
    def __init__(self, rng: random.Random) -> None:
        start = rng.randrange(60)
        self.place = Place(rng.choice("aab"), start, start + rng.choice([0, 1, 5, 40]))


class _Site(_Start):
    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        self.rule = rng.choice("rrs")
        self.origins = [_Start(rng) for _ in range(rng.randrange(4))]
