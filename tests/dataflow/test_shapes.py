"""Code whose ways multiply: each place is told once, and the edit is the one of a single way."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.dataflow import solver
from ddp_codemod.dataflow.evaluator import Evaluator
from ddp_codemod.model import Survey
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

HEAD = "import torch.distributed as dist\n"
CALL = "    dist.init_process_group(b)\n"


def diamond(levels: int) -> str:
    """Each function calls the one below twice, so that two to the power of the levels ways lead to the value."""
    links = "".join(f"def f{n}(b):\n    f{n - 1}(b)\n    f{n - 1}(b)\n" for n in range(1, levels + 1))
    return f"{HEAD}def f0(b):\n{CALL}{links}f{levels}('nccl')\n"


def parser(count: int) -> str:
    """A parser that is handed through functions."""
    links = "".join(f"def p{n}(parser):\n    p{n - 1}(parser)\n" for n in range(1, count))
    text = f"import argparse\n{HEAD}def p0(parser):\n    parser.add_argument('--backend', default='nccl')\n{links}"
    return (
        f"{text}parser = argparse.ArgumentParser()\np{count - 1}(parser)\ndist.init_process_group(parser.parse_args().backend)\n"
    )


def surveyed(root: Path, text: str) -> Survey:
    (root / "m.py").write_text(text)
    rules = load()
    return survey(Options((root,), rules.platforms["rocm"], rules, root=root))


def gloo(found: Survey) -> Counter[tuple[str, str]]:
    return Counter((edit.after or "", edit.applicability.value) for edit in found.edits)


@pytest.mark.parametrize("levels", [3, 12, 20, 38])
def test_each_place_is_told_once(levels: int, tmp_path: Path) -> None:
    found = surveyed(tmp_path, diamond(levels))
    places = [(decision.place, decision.parameter) for decision in found.decisions]
    assert len(places) == len(set(places)) <= levels + 2  # those that hand the value on are told too
    assert all(len(decision.origins) == 1 for decision in found.decisions)
    assert gloo(found) == {("'gloo'", "safe"): 1}


def test_the_steps_of_a_value_grow_with_the_code_and_not_with_its_ways(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, real = Counter[int](), Evaluator.step

    def counted(self: Evaluator, *given: object) -> object:
        asked[levels] += 1
        return real(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(Evaluator, "step", counted)
    for levels in (8, 16, 32):
        surveyed(tmp_path, diamond(levels))
    assert asked[32] - asked[16] <= 2 * (asked[16] - asked[8])


def test_the_steps_of_every_way_are_told_with_the_call(tmp_path: Path) -> None:
    found = surveyed(tmp_path, diamond(4))
    (decision,) = (one for one in found.decisions if one.parameter == "backend")
    source = found.sources["m.py"]
    lines = {source.position(hop.place.start)[0] for hop in decision.steps}
    assert lines == {5, 6, 8, 9, 11, 12, 14, 15, 16}


def test_a_parser_that_thirty_functions_hand_on(tmp_path: Path) -> None:
    assert ("'gloo'", "safe") in gloo(surveyed(tmp_path, parser(30)))


def test_what_is_not_followed_to_its_end_is_named_with_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert surveyed(tmp_path, diamond(20)).skipped == ()
    monkeypatch.setattr(solver, "MAX_QUERIES", 10)
    (cut,) = surveyed(tmp_path, diamond(20)).skipped
    assert (cut.name, cut.reason.key, cut.candidate) == ("m.py", "skipped-too-far", True)


def test_the_file_that_asks_is_named_and_not_those_that_the_value_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"hand{number}" for number in range(12)]
    for number, (name, called) in enumerate(pairwise(names)):
        source = f"from {called} import get as below\n\n\ndef get(value):\n    return below(value or {number})\n"
        (tmp_path / f"{name}.py").write_text(source, encoding="utf-8")
    (tmp_path / f"{names[-1]}.py").write_text("def get(value):\n    return value\n", encoding="utf-8")
    asks = 'import torch.distributed as dist\nfrom hand0 import get\n\ndist.init_process_group(get("nccl"))\n'
    monkeypatch.setattr(solver, "MAX_QUERIES", 10)
    (cut,) = surveyed(tmp_path, asks).skipped
    assert cut.name == "m.py"


CIRCLES = {  # of functions that call each other, each in a file of its own: parameters, the call of the surface, the call of the next
    "positions": ("b, n", "dist.init_process_group(b)", "m{0}.g(b, n - 1)"),
    "keywords": ("*, b, n", "dist.init_process_group(backend=b)", "m{0}.g(n=n - 1, b=b)"),
}


def circle(root: Path, shape: str, count: int, value: str) -> None:
    taken, surface, call = CIRCLES[shape]
    for at in range(count):
        others = [number for number in range(count) if number != at]
        imports = "".join(f"import m{number}\n" for number in others)
        calls = "".join(f"    {call.format(number)}\n" for number in others)
        started = f"g(b={value}, n=3)\n" if at == 0 else ""
        text = f"{imports}{HEAD}def g({taken}):\n    if n == 0:\n        {surface}\n{calls}{started}"
        (root / f"m{at}.py").write_text(text, encoding="utf-8")


@pytest.mark.parametrize("shape", CIRCLES)
def test_functions_that_call_each_other_are_asked_once_for_all(
    shape: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, real = Counter[int](), Evaluator.step

    def counted(self: Evaluator, *given: object) -> object:
        asked[count] += 1
        return real(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(Evaluator, "step", counted)
    rules = load()
    for count in (4, 8, 16):
        (tmp_path / str(count)).mkdir()
        circle(tmp_path / str(count), shape, count, "'nccl'")
        root = tmp_path / str(count)
        found = survey(Options((root,), rules.platforms["rocm"], rules, root=root))
        assert gloo(found) == {("'gloo'", "safe"): 1}
        assert not found.skipped
    assert asked[16] <= 5 * asked[8]  # the calls are four times as many


def test_a_value_that_goes_through_calls_in_calls_is_changed_at_its_source(tmp_path: Path) -> None:
    links = "".join(f"def f{n}(b):\n    return f{n - 1}(f{n - 1}(b))\n" for n in range(1, 10))
    found = surveyed(tmp_path, f"{HEAD}def f0(b):\n    return b\n{links}dist.init_process_group(f9('nccl'))\n")
    assert gloo(found) == {("'gloo'", "safe"): 1}
    assert not found.skipped
