"""A section in few lines: what is named and what is counted make up the whole at each level."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ddp_codemod.model import Reason, Survey
from ddp_codemod.report.brief import CHANGED, COUNT, GONE, KINDS, REASONS, WHOLE, condense_section, cut_lines, list_places
from ddp_codemod.report.finding_groups import Finding
from ddp_codemod.report.ink import Ink
from ddp_codemod.report.sections import Section
from ddp_codemod.report.table import count_cells
from ddp_codemod.report.view import View

LEVELS = (WHOLE, REASONS, KINDS, COUNT)
LONG = "a_folder_with_a_name_that_goes_on/and_on"


def view(width: int = 100, lang: str = "en") -> View:
    return View(Survey(Path("/p"), "rocm", (), (), (), ()), lang, Ink(False), Path("/p"), width=width)


def found(kinds: int, each: int, folder: str = "d", **words: object) -> tuple[Finding, ...]:
    reason = Reason.of(
        "advice", text="it fails there, so do something else.", source="https://example.org/a, https://example.org/b"
    )
    return tuple(
        Finding(f"kind{kind}", reason, f"{folder}/k{kind}f{number}.py", 7, **words)  # type: ignore[arg-type]
        for kind in range(kinds)
        for number in range(each)
    )


def named(lines: list[str]) -> set[str]:
    return set(re.findall(r"k\d+f\d+\.py:\d+", "\n".join(lines)))


@pytest.mark.parametrize("folder", ["d", LONG])
@pytest.mark.parametrize("heading", ["left-review", "left-advisories", CHANGED])
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("kinds", "each"), [(1, 1), (1, 3), (1, 4), (1, 50), (2, 2), (4, 1), (5, 5), (9, 3)])
def test_what_is_named_and_what_is_left_are_all(kinds: int, each: int, level: int, heading: str, folder: str) -> None:
    made = condense_section(view(), Section(heading, kinds * each, found(kinds, each, folder)), level)
    assert len(named(made.lines)) + made.left == kinds * each
    counts = [int(n) for n in re.findall(r"and (\d+) more", " ".join(made.lines))]
    if level != COUNT:  # which counts each kind
        assert sum(counts) == made.left


@pytest.mark.parametrize("level", LEVELS)
def test_three_places_of_a_kind_at_most(level: int) -> None:
    lines = condense_section(view(), Section("left-review", 45, found(5, 9)), level).lines
    for kind in range(5):
        assert len([one for one in named(lines) if one.startswith(f"k{kind}f")]) <= 3


def test_each_level_is_shorter_than_the_one_before() -> None:
    section = Section("left-review", 45, found(5, 9))
    lengths = [len(condense_section(view(), section, level).lines) for level in (*LEVELS, GONE)]
    assert lengths == sorted(lengths, reverse=True)
    assert len(set(lengths)) == 5
    assert lengths[-1] == 0


def test_a_level_without_lines_leaves_all() -> None:
    assert condense_section(view(), Section("left-review", 6, found(2, 3)), GONE).left == 6


def test_the_kinds_are_counted_where_no_place_is_named() -> None:
    said = " ".join(condense_section(view(), Section("left-review", 30, found(6, 5)), COUNT).lines)
    assert "Needs review (30): kind0 ×5, kind1 ×5, kind2 ×5, and 15 more, of 3 other kinds" in said
    assert said.split(". ")[1].split() == ["First:", "d/k0f0.py:7"]


def test_a_kind_counts_what_its_heading_counts_not_lines() -> None:
    twice = tuple(one for one in found(2, 5) for _ in range(2))
    assert "kind0 (10): d/k0f0.py:7, d/k0f1.py:7, d/k0f2.py:7 and 2 more lines" in " ".join(
        line.strip() for line in condense_section(view(), Section("left-review", 20, twice), KINDS).lines
    )


def test_what_stops_a_program_is_the_first_kind_and_then_the_most_frequent() -> None:
    some = (*found(1, 2), *(Finding("often", one.reason, f"o{one.name[2:]}", 1) for one in found(1, 9)))
    last = Finding("stops", some[0].reason, "s.py", 1, urgent=True)
    lines = condense_section(view(), Section("left-advisories", 12, (*some, last)), KINDS).lines
    assert [line.split()[0] for line in lines if " (" in line and line.startswith("  ")] == ["stops", "often", "kind0"]


def test_a_reason_is_told_of_its_own_places_only() -> None:
    one = Finding("kind", Reason.of("single-strategy-right", text="auto"), "d/k0f0.py", 1)
    other = Finding("kind", Reason.of("single-alone", why="x"), "d/k0f1.py", 2)
    section = Section("left-review", 2, (one, other))
    assert condense_section(view(), section, REASONS).lines[1:] == [
        "  kind (1): d/k0f0.py:1",
        "      auto creates no group for a single process",
        "  kind (1): d/k0f1.py:2",
        "      x",
    ]
    assert condense_section(view(), section, KINDS).lines[1:] == ["  kind: d/k0f0.py:1, d/k0f1.py:2"]


def test_sources_are_not_said_where_reasons_are_cut() -> None:
    section = Section("left-review", 2, found(2, 1))
    assert "https" in " ".join(condense_section(view(), section, WHOLE).lines)
    said = " ".join(condense_section(view(), section, REASONS).lines)
    assert "it fails there" in said
    assert "https" not in said


def test_further_places_of_a_note_count() -> None:
    also = tuple(("b.py", line) for line in range(1, 21))
    one = Finding("note", found(1, 1)[0].reason, "a.py", 3, ("also in: many",), also)
    for level in (REASONS, KINDS):
        said = " ".join(condense_section(view(), Section("left-advisories", 1, (one,)), level).lines)
        assert "a.py:3, b.py:1, 2 and 18 more" in said
    said = " ".join(condense_section(view(), Section("left-advisories", 1, (one,)), WHOLE).lines)
    assert "also at: b.py:1, 2, 3 and 17 more" in said
    assert "many" not in said


def test_a_list_whose_end_is_not_known_says_so() -> None:
    where = [("a.py", line) for line in range(1, 10)]
    assert list_places(view(), where).lines == ["a.py:1, 2, 3 and 6 more lines"]
    assert list_places(view(), where, endless=True).lines == ["a.py:1, 2, 3 and more than 6 other lines"]
    assert list_places(view(), where[:3]).lines == ["a.py:1, 2, 3"]
    assert list_places(view(), []).lines == []
    assert list_places(view(), [(f"{name}.py", 0) for name in "abcde"]).lines == ["a.py, b.py, c.py and 2 more files"]


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("width", [60, 100])
def test_a_paragraph_is_cut_behind_a_word(lang: str, width: int) -> None:
    text = {"en": "one word after the other and yet another " * 9, "zh": "这句话很长很长，而且还没有说完" * 30}[lang]
    lines = cut_lines(view(width, lang), text.strip(), 4).lines
    assert len(lines) == 2
    assert lines[1].endswith(" …")
    assert all(count_cells(line) <= width for line in lines)
    assert lang == "zh" or set(" ".join(lines).split()) <= {*text.split(), "…"}
    assert cut_lines(view(width, lang), "short", 4).lines == ["    short"]


@pytest.mark.parametrize("level", LEVELS)
def test_a_note_about_the_whole_project_has_no_place_and_counts_as_one(level: int) -> None:
    note = Finding("whole", found(1, 1)[0].reason, "", 0)
    made = condense_section(view(), Section("left-advisories", 4, (*found(1, 3), note)), level)
    said = "\n".join(made.lines)
    assert "whole" in said
    assert "(0)" not in said
    assert len(named(made.lines)) + made.left == 3


def test_one_note_with_several_lines_is_not_counted_as_one() -> None:
    alone = Finding("note", Reason.of("single-alone", why="x"), "a.sh", 1, also=(("b.sh", 2), ("c.sh", 3)))
    other = Finding("other", Reason.of("single-alone", why="y"), "d.sh", 4)
    lines = condense_section(view(), Section("left-advisories", 2, (alone, other)), KINDS).lines
    assert any(line.strip() == "note: a.sh:1, b.sh:2, c.sh:3" for line in lines)
