"""Code whose ways multiply: each place is told once, and the edit is the one of a single way."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.dataflow import tracer
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
    lines = {source.position(hop.place.start)[0] for hop in decision.hops}
    assert lines == {5, 6, 8, 9, 11, 12, 14, 15, 16}


def test_a_parser_that_thirty_functions_hand_on(tmp_path: Path) -> None:
    assert ("'gloo'", "safe") in gloo(surveyed(tmp_path, parser(30)))


def test_what_is_not_followed_to_its_end_is_named_with_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert surveyed(tmp_path, diamond(20)).skipped == ()
    monkeypatch.setattr(tracer, "MAX_STEPS", 10)
    (cut,) = surveyed(tmp_path, diamond(20)).skipped
    assert (cut.name, cut.reason.key, cut.candidate) == ("m.py", "skipped-too-far", True)


def test_the_file_that_asks_is_named_and_not_those_that_the_value_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"hand{number}" for number in range(12)]
    for number, (name, called) in enumerate(pairwise(names)):
        source = f"from {called} import get as below\n\n\ndef get(value):\n    return below(value or {number})\n"
        (tmp_path / f"{name}.py").write_text(source, encoding="utf-8")
    (tmp_path / f"{names[-1]}.py").write_text("def get(value):\n    return value\n", encoding="utf-8")
    asks = 'import torch.distributed as dist\nfrom hand0 import get\n\ndist.init_process_group(get("nccl"))\n'
    monkeypatch.setattr(tracer, "MAX_STEPS", 10)
    (cut,) = surveyed(tmp_path, asks).skipped
    assert cut.name == "m.py"
