"""reviewdog's format from real runs: its suggestions, made as a reviewer's click makes them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.outside import FIXTURES

CASES = sorted(path.parent.name for path in FIXTURES.glob("*/project"))
Document = Callable[..., dict[str, Any]]
Texts = Callable[..., dict[str, str]]


def patched(found: dict[str, Any], before: dict[str, str], prefix: str) -> dict[str, str]:
    """The files with every suggestion taken: lines of the range give way to those of the text."""
    wanted: dict[str, dict[tuple[int, int], str]] = {}
    for entry in found["diagnostics"]:
        for one in entry.get("suggestions", []):
            assert one["range"] == entry["location"]["range"], "reviewdog refuses it otherwise"
            place = one["range"]["start"]["line"], one["range"]["end"]["line"]
            assert (
                wanted.setdefault(entry["location"]["path"].removeprefix(prefix), {}).setdefault(place, one["text"])
                == one["text"]
            )
    after = {}
    for name, places in wanted.items():
        ending = "\r\n" if "\r\n" in before[name] else "\n"
        lines = before[name].split(ending)
        for (start, end), text in sorted(places.items(), reverse=True):
            lines[start - 1 : end] = text.split(ending) if text else []  # no text: the lines go
        after[name] = ending.join(lines)
    return after


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("platform", "fixes"), [("rocm", ()), ("mixed-gpu", ()), ("cuda", ("nccl-p2p-off",)), ("windows", ())])
def test_suggestions_make_what_apply_makes(
    document: Document, made: Texts, texts: Texts, case: str, platform: str, fixes: tuple[str, ...]
) -> None:
    root = FIXTURES / case / "project"
    rules = [word for rule in fixes for word in ("--rule", rule)]
    found = document("check", str(root), "--platform", platform, *rules, "--unsafe", "--format", "rdjson")
    expected = made(root, platform, *fixes)
    assert patched(found, texts(root, list(expected)), root.relative_to(FIXTURES.parent).as_posix() + "/") == expected


def test_odd_files(document: Document, made: Texts, texts: Texts, odd: Path) -> None:
    found = document("check", str(odd), "--platform", "rocm", "--format", "rdjson")
    expected = made(odd, "rocm")
    assert patched(found, texts(odd, list(expected)), "sub project/") == expected


def test_every_entry_has_a_place_a_rule_and_a_severity(document: Document, odd: Path) -> None:
    found = document("check", str(odd), "--platform", "rocm", "--format", "rdjson")
    assert found["source"]["name"] == "ddp-codemod"
    for entry in found["diagnostics"]:
        assert entry["location"]["path"].startswith("sub project/")
        assert entry["severity"] in ("WARNING", "INFO")
        assert entry["code"]["value"]
        assert entry["message"]


def test_columns_are_bytes(document: Document, odd: Path) -> None:
    (odd / "why.py").write_text(
        'import torch.distributed as dist\nx = "é𐐀"; dist.init_process_group("a_backend_of_no_one_here")\n', "utf-8"
    )
    found = document("check", str(odd / "why.py"), "--platform", "rocm", "--format", "rdjson")
    (entry,) = [one for one in found["diagnostics"] if one["location"]["path"].endswith("why.py")]
    assert entry["location"]["range"] == {"start": {"line": 2, "column": 39}, "end": {"line": 2, "column": 65}}


def test_the_parts_of_one_change_name_each_other(document: Document, unsure: str) -> None:
    found = document("check", unsure, "--platform", "mixed-gpu", "--format", "rdjson")
    messages = [entry["message"] for entry in found["diagnostics"] if "suggestions" in entry]
    assert len(messages) == 4
    assert all("Apply together with the change at" in message for message in messages)
