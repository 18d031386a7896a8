"""The summary in its three forms."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace

import pytest

from ddp_codemod.fleet.estimate import estimate_run
from ddp_codemod.fleet.model import Count, Outcome, Trouble
from ddp_codemod.fleet.overview import render_overview
from ddp_codemod.fleet.summary import COLUMNS, encode_summary, encode_table
from ddp_codemod.fleet.totals import sort_by_effort

A = Outcome(
    "https://me:secret@e.org/a", "rocm", commit="a" * 40, folder="repositories/a/x", edits=3, files=2, review=1, not_applied=2, page=True,
    sites=(Count("torch", "backend", "edit", 3), Count("torch", "backend", "review", 1)),
)  # fmt: skip
B = Outcome("https://e.org/b", "rocm", folder="repositories/b/x", sites=(Count("accelerate", "backend", "keep", 1),))
C = Outcome("https://e.org/c", "rocm", trouble=Trouble.CRASHED, detail="</script><b>=1+1")
D = Outcome("https://e.org/d", "rocm", folder="repositories/d/x", review=9)
ALL = (B, A, C, D)


def test_what_takes_most_comes_first() -> None:
    assert list(sort_by_effort(ALL)) == [C, D, A, B]
    assert list(sort_by_effort(tuple(reversed(ALL)))) == [C, D, A, B]


def test_json_adds_up() -> None:
    made = json.loads(encode_summary(ALL, planned=9))
    assert made["totals"] | {"seconds": 0} == {
        "repositories": 4, "edited": 1, "review": 2, "failed": 1, "edits": 3, "files": 2, "review_sites": 10, "not_applied": 2, "skipped": 0,
        "python_files": 0, "seconds": 0,
    }  # fmt: skip
    assert made["planned"] == 9
    assert made["troubles"] == {"crashed": 1}
    assert [row["state"] for row in made["repositories"]] == ["crashed", "review", "edited", "nothing"]
    assert {"framework": "torch", "kind": "backend", "action": "edit", "sites": 3} in made["sites"]


def test_the_same_outcomes_give_the_same_bytes() -> None:
    assert encode_summary(ALL) == encode_summary(tuple(reversed(ALL)))
    assert encode_table(ALL) == encode_table(tuple(reversed(ALL)))
    assert render_overview(ALL, "en") == render_overview(tuple(reversed(ALL)), "en")


@pytest.mark.parametrize("form", [encode_summary, encode_table, lambda outcomes: render_overview(outcomes, "en")])
def test_no_password_of_a_list_gets_out(form: object) -> None:
    assert callable(form)
    assert b"secret" not in form(ALL)


def test_a_spreadsheet_takes_no_cell_for_a_formula() -> None:
    rows = list(
        csv.DictReader(io.StringIO(encode_table((replace(C, detail="=cmd()"), replace(B, repository="@x"))).decode("utf-8-sig")))
    )
    assert list(rows[0]) == list(COLUMNS)
    assert rows[0]["detail"] == "'=cmd()"
    assert rows[1]["repository"] == "'@x"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_page_is_one_file_in_which_data_stays_data(lang: str) -> None:
    said = render_overview(ALL, lang).decode("utf-8")
    assert said.count("</script>") == 2
    assert "<b>" not in said
    assert not re.findall(r"(?:src|href)=", said)
    data = json.loads(re.findall(r'id="data">(.*?)</script>', said, re.S)[0])
    assert data["repositories"][0]["repository"] == "https://e.org/c"
    assert [sorted(row["links"]) for row in data["repositories"]] == [
        [],
        ["json", "text"],
        ["json", "page", "patch", "text"],
        ["json", "text"],
    ]
    script = said.split("<script>")[1]
    words = (
        set(re.findall(r'word\("([\w-]+)"', script))
        | {f"tile-{key}" for key, _ in data["tiles"]}
        | {f"state-{one}" for one in data["states"]}
    )
    assert words <= set(data["words"])


def test_the_page_tells_what_a_sample_says() -> None:
    guess = estimate_run((A, B), 100, 2)
    said = render_overview((A, B), "en", ["about an hour"], guess).decode("utf-8")
    assert "about an hour" in said
    assert "about an hour" not in render_overview((A, B), "en", ["about an hour"]).decode("utf-8")
