"""Reasons are said once, above their places, and lines fit the reader's terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.model import Advisory, Reason, Survey
from ddp_codemod.report.finding_groups import Finding, format_findings
from ddp_codemod.report.ink import Ink
from ddp_codemod.report.table import count_cells
from ddp_codemod.report.text import format_advisories
from ddp_codemod.report.view import View

WHY = "on ROCm the name nccl means RCCL, which fails on WSL2 and many consumer cards; gloo works on CPU and GPU tensors"
WHY_ZH = "在 ROCm 上 nccl 即 RCCL，它在 WSL2 和许多消费级显卡上无法工作；gloo 支持 CPU 和 GPU 张量"


def view(width: int = 0, lang: str = "en", verbose: bool = False) -> View:
    return View(Survey(Path("/p"), "rocm", (), (), (), ()), lang, Ink(False), Path("/p"), verbose, width)


def wrong(name: str, line: int, *here: str, **args: str) -> Finding:
    said = {"value": "nccl", "platform": "rocm", "why": WHY, "why_zh": WHY_ZH, "wanted": "gloo", **args}
    key = "edit-origin" if "origin" in args else "edit-backend"
    return Finding("unsupported-backend", Reason.of(key, **said), name, line, here)


def test_a_reason_is_said_once_above_its_places() -> None:
    lines = format_findings(view(), [wrong("a.py", 3), wrong("b.py", 9), wrong("a.py", 7)])
    assert lines[0].startswith("  unsupported-backend: nccl does not work on rocm: on ROCm")
    assert lines[1:] == ["    a.py:3, 7", "    b.py:9"]


def test_a_line_with_two_places_stands_once() -> None:
    assert format_findings(view(), [wrong("a.py", 3), wrong("a.py", 3), wrong("b.py", 9)])[1:] == ["    a.py:3", "    b.py:9"]


def test_one_place_stands_before_its_reason() -> None:
    assert format_findings(view(), [wrong("a.py", 3)])[0].startswith("  a.py:3: unsupported-backend: nccl does not work")


def test_what_differs_is_said_at_the_place() -> None:
    lines = format_findings(view(), [wrong("a.py", 3, origin="run.sh:2"), wrong("b.py", 9, origin="Makefile:5")])
    assert WHY in lines[0]
    assert "run.sh" not in lines[0]
    assert lines[1:] == [
        "    a.py:3  The value comes from run.sh:2",
        "    b.py:9  The value comes from Makefile:5",
    ]
    assert "changing the source to gloo" in lines[0]


def test_sentences_that_share_nothing_long_stay_apart() -> None:
    found = [Finding("", Reason.of("why-call", text=text), "a.py", 1) for text in ("f", "g")]
    assert format_findings(view(), found) == [
        "  a.py:1: ddp-codemod does not trace what f() returns",
        "  a.py:1: ddp-codemod does not trace what g() returns",
    ]


def test_half_a_sentence_is_not_shared() -> None:
    found = [Finding("", Reason.of("edit-import", name=name), "a.py", 1) for name in ("os", "torch_npu")]
    assert [line.rpartition(": ")[2] for line in format_findings(view(), found)] == [
        "imports os, which the new code needs",
        "imports torch_npu, which the new code needs",
    ]


def left_out(why: str = WHY, why_zh: str = WHY_ZH) -> Finding:
    said = {"parameter": "backend", "who": "torch", "value": "nccl", "platform": "rocm", "why": why, "why_zh": why_zh}
    return Finding("unsupported-backend", Reason.of("edit-omitted", wanted="gloo", **said), "b.py", 5)


@pytest.mark.parametrize(
    ("lang", "above"),
    [("en", 'on rocm, which fails: (as above). Passing backend="gloo".'), ("zh", "nccl：（同上）；这里明确写出 gloo")],
)
def test_why_a_backend_fails_is_said_once_where_several_sentences_say_it(lang: str, above: str) -> None:
    first, second = format_findings(view(lang=lang), [wrong("a.py", 3), left_out()])
    assert {"en": WHY, "zh": WHY_ZH}[lang] in first
    assert second.endswith(above)


def test_what_a_later_sentence_adds_is_said() -> None:
    lines = format_findings(view(), [wrong("a.py", 3), left_out(f"{WHY}; and more of it")])
    assert lines[1].endswith('on rocm, which fails: (as above); and more of it. Passing backend="gloo".')
    lines = format_findings(view(), [left_out(f"{WHY}; and more of it"), wrong("a.py", 3)])
    assert lines[1].endswith("on rocm: (as above). Changing nccl to gloo.")


def test_what_is_short_or_another_reason_is_said_again() -> None:
    for why in ("it is slow", "no torch for Windows has NCCL built in"):
        lines = format_findings(view(), [wrong("a.py", 3, why="it is slow"), left_out(why)])
        assert f'on rocm, which fails: {why}. Passing backend="gloo".' in lines[1]


def test_a_note_is_said_once_and_its_further_places_beside_the_first() -> None:
    args = {"text": "gloo has no such call (RuntimeError), so use another, or none.", "source": "https://example.org"}
    lines = format_advisories(
        view(),
        [
            Advisory("a.py", 3, "gloo-none", Reason.of("advice-lines", lines="7, 9", **args)),
            Advisory("b.py", 5, "gloo-none", Reason.of("advice", **args)),
            Advisory("c.py", 1, "gloo-none", Reason.of("advice-lines", lines="2", **args)),
        ],
    )
    assert lines[2:] == [
        "  gloo-none: gloo has no such call (RuntimeError), so use another, or none. (https://example.org)",
        "    a.py:3  also at: 7, 9",
        "    b.py:5",
        "    c.py:1  also at: 2",
    ]


def test_one_that_differs_does_not_take_the_others_sentence_apart() -> None:
    found = [wrong("a.py", 3), wrong("b.py", 9), wrong("c.py", 1, value="cuda:nccl,cpu:gloo")]
    lines = format_findings(view(), found)
    assert lines[0].endswith("Changing nccl to gloo.")
    assert lines[1:3] == ["    a.py:3", "    b.py:9"]
    assert lines[3].startswith("  c.py:1: unsupported-backend: cuda:nccl,cpu:gloo does not work on rocm")


def test_a_long_list_is_counted_and_shown_whole_when_asked() -> None:
    found = [wrong(f"{number}.py", line) for number in range(30) for line in (1, 2)]
    lines = format_findings(view(), found)
    assert lines[1] == "    60 lines in 30 files:"
    assert lines[2:] == [*(f"    {number}.py:1, 2" for number in range(5)), "    and 50 more; list all with -v"]
    assert len(format_findings(view(verbose=True), found)) == len(format_findings(view(), found, shown=0)) == 31


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("width", [60, 80, 100])
def test_lines_fit_and_words_stay_whole(lang: str, width: int) -> None:
    found = [wrong("a.py", 3, '"nccl" → "gloo"'), wrong("b.py", 9, '"nccl" if one else "gloo" → "gloo"')]
    lines = format_findings(view(width, lang), found)
    assert len(lines) > 3
    assert all(count_cells(line) < width for line in lines)
    whole = "".join(format_findings(view(0, lang), found)).replace(" ", "")
    assert "".join(lines).replace(" ", "") == whole
    words = {word for line in format_findings(view(0, lang), found) for word in line.split()}
    if lang == "en":
        assert {word for line in lines for word in line.split()} <= words


def test_marks_that_take_no_cell_and_wide_signs_are_counted() -> None:
    assert count_cells("e\u0301") == 1
    assert count_cells("👍中a") == 5


def test_what_is_shown_and_what_is_left_add_up() -> None:
    """Two places of one line are one to look at, in the count of all and in that of the rest."""
    found = [wrong(f"{name}.py", line) for name in "abcdefgh" for line in (3, 3, 7)]
    lines = format_findings(view(), found)
    assert lines[1] == "    16 lines in 8 files:"
    assert lines[2:-1] == [f"    {name}.py:3, 7" for name in "abcde"]
    assert lines[-1].startswith("    and 6 more")
