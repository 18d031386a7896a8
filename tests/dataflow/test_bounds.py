"""Code of strangers that leads tracing on without end, or nests deeper than Python can follow: every site still ends somewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.dataflow import mappings
from ddp_codemod.dataflow.evaluator import Evaluator
from ddp_codemod.model import Action, Survey
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

HEAD = "import torch.distributed as dist\n"
DEEP = {
    "attributes": "a" + ".b" * 900,
    "subscripts": "a" + "[0]" * 190,
    "many subscripts": "a" + "[0]" * 900,
    "sum": "c" + " + 'b'" * 900,
}


def found(root: Path, text: str, platform: str = "windows") -> Survey:
    (root / "train.py").write_text(HEAD + text)
    (root / "other.py").write_text(HEAD + "dist.init_process_group('nccl')\n")
    rules = load()
    return survey(Options((root,), rules.platforms[platform], rules, root=root))


def actions(made: Survey, name: str) -> set[Action]:
    return {decision.action for decision in made.decisions if decision.place.name == name}


@pytest.mark.parametrize("parameter", ["backend", "init_method"])
@pytest.mark.parametrize("shape", DEEP)
def test_a_value_that_nests_deep_is_for_a_person_and_other_files_are_changed(tmp_path: Path, shape: str, parameter: str) -> None:
    made = found(tmp_path, f"dist.init_process_group({parameter}={DEEP[shape]})\n")
    assert {Action.REVIEW, Action.EDIT} & actions(made, "train.py") or "train.py" in {one.name for one in made.skipped}
    assert "other.py" in {edit.name for edit in made.edits}


def test_ways_that_multiply_end(tmp_path: Path) -> None:
    """Each line can keep what any line before it left."""
    made = found(tmp_path, "x = 'nccl'\n" + "if a:\n    x = x or b\n" * 60 + "dist.init_process_group(x)\n", "rocm")
    assert actions(made, "train.py") <= {Action.REVIEW, Action.EDIT}
    assert actions(made, "train.py")


HANDED_ON = {  # what the last of a row of functions is called with goes to the first by two calls in each
    "a mapping": ("f0(d):\n    dist.init_process_group(d['b'])\n", "f{1}(d):\n    f{0}(d)\n    f{0}(d)\n", "{'b': 'nccl'}"),
    "a mapping that is asked": (
        "f0(d):\n    dist.init_process_group(d.get('b', 'nccl'))\n", "f{1}(d):\n    f{0}(d)\n    f{0}(d)\n", "{'b': 'nccl'}",
    ),
    "keywords": ("f0(**k):\n    dist.init_process_group(**k)\n", "f{1}(**k):\n    f{0}(**k)\n    f{0}(**k)\n", "backend='nccl'"),
}  # fmt: skip


def handed_on(shape: str, times: int) -> str:
    first, link, last = HANDED_ON[shape]
    return f"def {first}" + "".join(f"def {link.format(i, i + 1)}" for i in range(times)) + f"f{times}({last})\n"


@pytest.mark.parametrize("shape", HANDED_ON)
def test_ways_of_a_mapping_that_multiply_end(tmp_path: Path, shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, real = [0], mappings.look_up

    def counted(*given: Any, **more: Any) -> Any:
        asked[0] += 1
        return real(*given, **more)

    monkeypatch.setattr(mappings, "look_up", counted)
    made = found(tmp_path, handed_on(shape, 13), "rocm")
    assert actions(made, "train.py") <= {Action.REVIEW, Action.EDIT}
    assert actions(made, "train.py")
    assert asked[0] < 2_000


@pytest.mark.parametrize("shape", HANDED_ON)
def test_a_mapping_that_comes_in_a_few_ways_is_followed(tmp_path: Path, shape: str) -> None:
    made = found(tmp_path, handed_on(shape, 3), "rocm")
    assert actions(made, "train.py") == {Action.EDIT}


def test_what_is_not_known_of_a_mapping_comes_once_through_a_chain_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    most, real = [0], Evaluator.step

    def counted(self: Evaluator, *given: Any) -> Any:
        leaves = list(real(self, *given))
        most[0] = max(most[0], len(leaves))
        return leaves

    monkeypatch.setattr(Evaluator, "step", counted)
    links = "".join(f"d{i + 1} = {{'b': d{i}['b']}}\n" for i in range(60))
    made = found(tmp_path, f"d0 = {{'b': 'nccl'}}\n{links}dist.init_process_group(d60['b'])\n", "cpu")
    assert [edit.after for edit in made.edits if edit.name == "train.py"] == ["'gloo'"]
    assert most[0] <= 2


def test_a_value_from_far_away_is_changed_at_the_call(tmp_path: Path) -> None:
    steps = "".join(f"x{number + 1} = x{number}\n" for number in range(400))
    made = found(tmp_path, f"x0 = 'nccl'\n{steps}dist.init_process_group(x400)\n", "rocm")
    assert [edit.after for edit in made.edits if edit.name == "train.py"] == ['"gloo" if x400 in (None, "nccl") else x400']


def test_a_parser_that_dozens_of_functions_fill(tmp_path: Path) -> None:
    groups = "".join(
        f"def add_{number}(parser):\n    parser.add_argument('--x{number}')\n    return parser\n" for number in range(25)
    )
    handed = "".join(f"    parser = add_{number}(parser)\n" for number in range(25))
    text = (
        "import argparse\n"
        + groups.replace("'--x12'", "'--backend', default='nccl'")
        + f"def parse():\n    parser = argparse.ArgumentParser()\n{handed}    return parser.parse_args()\n"
        + "args = parse()\ndist.init_process_group(args.backend)\n"
    )
    made = found(tmp_path, text, "rocm")
    assert actions(made, "train.py") == {Action.EDIT}
    assert {edit.applicability.value for edit in made.edits if edit.name == "train.py"} == {"safe"}


def test_a_function_that_calls_itself_adds_no_question(tmp_path: Path) -> None:
    text = "def start(backend='nccl', again=True):\n    if again:\n        start(backend, False)\n    dist.init_process_group(backend)\n"
    assert actions(found(tmp_path, text + "start()\n", "rocm"), "train.py") == {Action.EDIT}


def test_a_stage_that_gives_up_costs_only_the_deep_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ddp_codemod.policy import decide_url
    from ddp_codemod.sites.surface_calls import Use

    real = decide_url.decide_init_method

    def gives_up(context: object, use: Use, *more: object) -> object:
        if use.module.name == "train.py":
            raise RecursionError
        return real(context, use, *more)  # type: ignore[arg-type]

    monkeypatch.setattr("ddp_codemod.run.pipeline.decide_init_method", gives_up)
    made = found(tmp_path, f"x = {DEEP['sum']}\ndist.init_process_group('nccl')\n")
    assert [(one.name, one.reason.key) for one in made.skipped] == [("train.py", "skipped-parser")]
    assert "other.py" in {edit.name for edit in made.edits}
