"""The table by which people find their platform holds every platform, in both languages and in one order."""

from __future__ import annotations

import re
from typing import Any

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.cli.main import main
from ddp_codemod.report.platform_table import column_titles, table_rows

KNOWN = load().platforms


def test_every_platform_is_in_it() -> None:
    assert {row[-1] for row in table_rows(KNOWN, "en")} == set(KNOWN)


def test_both_languages_have_the_same_rows_and_other_words() -> None:
    english, chinese = table_rows(KNOWN, "en"), table_rows(KNOWN, "zh")
    assert [row[-1] for row in english] == [row[-1] for row in chinese]
    assert not any(re.search("[\u4e00-\u9fff]", " ".join(row)) for row in english)
    assert (
        sum(bool(re.search("[\u4e00-\u9fff]", row[0])) for row in chinese) >= len(chinese) - 2
    )  # names of series are the same in both
    assert len(column_titles("en")) == len(column_titles("zh")) == len(english[0])


def test_no_two_rows_have_the_same_place() -> None:
    places = [cards.order for one in KNOWN.values() for cards in one.machine.cards]
    assert len(places) == len(set(places))


def test_the_systems_are_those_of_the_platform() -> None:
    told = {row[-1]: row[1] for row in table_rows(KNOWN, "en")}
    assert (told["rocm-windows"], told["rocm"], told["single-gpu"], told["macos"]) == (
        "Windows",
        "Linux",
        "Linux, Windows",
        "macOS",
    )


def test_doctor_shows_it_where_nothing_says_what_a_machine_is(monkeypatch: Any, capsys: pytest.CaptureFixture[str]) -> None:
    from ddp_codemod.machine import interview

    facts = {"system": {"sys_platform": "linux"}, "torch": {"error": "ModuleNotFoundError", "missing": True}}
    monkeypatch.setattr(interview, "interview_python", lambda *_, **__: facts)
    main(["doctor", "--lang", "en"])
    assert re.search("^Huawei Ascend .* ascend$", capsys.readouterr().out, re.M)
    facts["torch"] = {"accelerators": ["npu"], "backends": ["gloo"], "version": "2.7.0"}
    main(["doctor", "--lang", "en"])
    shown = capsys.readouterr().out
    assert "--platform ascend" in shown
    assert "Huawei" not in shown
