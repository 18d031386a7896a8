"""Every example of the rule data comes out as it says; and one that does not is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.catalog.model import Example
from ddp_codemod.run import examples
from ddp_codemod.run.examples import Case, Result, find_cases, run_case, run_cases

RULES = load()


@pytest.mark.parametrize("case", list(find_cases(RULES)), ids=lambda case: f"{case.id}-{case.example.title}")
def test_an_example_comes_out_as_it_says(case: Case) -> None:
    result = run_case(case, RULES)
    assert result.ok, f"{result.fault}: {case.id} ({result.title})\n{result.diff}"


NCCL = 'import torch.distributed as dist\n\ndist.init_process_group("nccl")\n'
GLOO = NCCL.replace("nccl", "gloo")


def result(before: str, after: str | None, platform: str = "rocm") -> Result:
    """What an example comes to."""
    return run_case(Case("x", platform, Example(title="t", before=before, after=after)), RULES)


def test_a_change_where_none_was_wanted_is_noisy() -> None:
    found = result(NCCL, None)
    assert (found.ok, found.fault) == (False, "noisy")
    assert '-dist.init_process_group("nccl")\n+dist.init_process_group("gloo")\n' in found.diff


def test_no_change_where_one_was_wanted_is_missing() -> None:
    assert result(GLOO, NCCL).fault == "missing"


def test_another_change_is_wrong() -> None:
    assert result(NCCL, NCCL.replace("nccl", "mpi")).fault == "wrong"


def test_a_file_that_cannot_be_read_proves_nothing() -> None:
    found = result(NCCL + "print 'nccl'\n", None)
    assert found.fault == "wrong"
    assert examples.FILE in found.diff


def test_a_change_of_the_second_run_is_noisy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examples, "_port", lambda text, *_: (text + "again = 1\n", ""))
    found = result("", "again = 1\n")
    assert found.fault == "noisy"
    assert "second run" in found.diff


def test_a_result_that_does_not_parse_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examples, "_port", lambda *_: ("dist.(\n", ""))
    assert result("", "dist.(\n").fault == "wrong"


def test_the_first_newline_of_a_program_is_none_of_it() -> None:
    assert result("\n" + NCCL, "\n" + GLOO).ok


def test_an_example_without_a_platform_is_refused() -> None:
    surface = RULES.surfaces["torch.new_group"]
    with pytest.raises(ValueError, match="has no platform"):
        examples._find_platform(surface, Example(title="t", before="pass\n"))


def test_an_example_for_a_platform_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="'nowhere'"):
        result(NCCL, None, "nowhere")


def test_a_users_folder_can_be_run_alone(tmp_path: Path) -> None:
    (tmp_path / "platforms").mkdir()
    text = (
        'id = "mine"\ntitle = "t"\ntitle_zh = "t"\nwhy = "w"\nwhy_zh = "w"\nsource = ["https://example.com/"]\n'
        'rules = ["unsupported-backend"]\n[facts]\n[backend]\nwanted = "gloo"\nworks = ["gloo"]\ndefault = "gloo"\n'
        f"[[examples]]\ntitle = \"good\"\nbefore = '''\n{NCCL}'''\nafter = '''\n{GLOO}'''\n"
        f"[[examples]]\ntitle = \"bad\"\nbefore = '''\n{NCCL}'''\n"
    )
    (tmp_path / "platforms/mine.toml").write_text(text, encoding="utf-8")
    found = run_cases(load((tmp_path,)), without=load())
    assert [(one.id, one.title, one.fault) for one in found] == [
        ("platform:mine:1", "good", None),
        ("platform:mine:2", "bad", "noisy"),
    ]


def test_ids_of_cases_are_distinct() -> None:
    ids = [case.id for case in find_cases(RULES)]
    assert len(ids) == len(set(ids))
