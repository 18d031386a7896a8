"""The JSON document of real runs, held against its schema and against the design's promises."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import ddp_codemod.report
from ddp_codemod.catalog.load import load
from ddp_codemod.cli import main
from tests.outside import FIXTURES

CASES = sorted(path.parent.name for path in FIXTURES.glob("*/project"))
SCHEMA = json.loads((Path(ddp_codemod.report.__file__).parent / "schema.json").read_text("utf-8"))
Document = Callable[..., dict[str, Any]]


@pytest.fixture
def document(
    capfd: pytest.CaptureFixture[str], tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Document:
    for name in ("XDG_STATE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path_factory.mktemp("state")))

    def run(*words: str) -> dict[str, Any]:
        capfd.readouterr()
        main([*words, "--format", "json"])
        out, err = capfd.readouterr()
        assert err == ""
        assert out.isascii()
        found: dict[str, Any] = json.loads(out)
        jsonschema.validate(found, SCHEMA, cls=jsonschema.Draft202012Validator)
        return found

    return run


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("platform", sorted(load().platforms))
def test_scan_meets_the_schema(document: Document, case: str, platform: str) -> None:
    found = document("scan", str(FIXTURES / case / "project"), "--platform", platform)
    assert found["version"] == 3
    assert found["platform"] == platform
    assert found["sites"]
    for table in ("sites", "edits", "advisories", "skipped"):
        places = [(entry["path"], entry.get("line", 0)) for entry in found[table]]
        assert places == sorted(places)
    assert not any(edit["applied"] for edit in found["edits"])


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("words", [("diff",), ("diff", "--unsafe"), ("check",), ("apply", "--dry-run")], ids=" ".join)
def test_commands_meet_the_schema(document: Document, case: str, words: tuple[str, ...]) -> None:
    found = document(*words, str(FIXTURES / case / "project"), "--platform", "mixed-gpu")
    assert not any(edit["applied"] for edit in found["edits"])


def test_the_schema_can_refuse() -> None:
    whole = {
        "version": 3,
        "platform": "p",
        "sites": [],
        "edits": [],
        "advisories": [],
        "uncovered": [],
        "unfollowed": [],
        "skipped": [],
    }
    jsonschema.validate(whole, SCHEMA)
    for change in ({"version": 2}, {"more": 1}, {"sites": [{}]}, {"skipped": [{"path": "a"}]}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**whole, **change}, SCHEMA)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "a.py").write_bytes(
        'import torch.distributed as dist\r\n\r\ns = "é"; dist.init_process_group("nccl")\r\n'.encode()
    )
    (tmp_path / "b.py").write_text('import torch.distributed as dist\nprint "2"\ndist.init_process_group("nccl")\n')
    return tmp_path


def test_places_are_lines_from_1_and_code_points_from_0(document: Document, small: Path) -> None:
    found = document("check", str(small), "--platform", "rocm")
    (site,) = found["sites"]
    assert (site["path"], site["line"], site["column"], site["end_line"], site["end_column"]) == ("a.py", 3, 33, 3, 39)
    assert (site["surface"], site["parameter"], site["value"]) == ("torch.init_process_group", "backend", '"nccl"')
    assert (site["resolves_to"], site["action"], site["applicability"]) == (["nccl"], "edit", "safe")
    assert site["rule"] == "unsupported-backend"
    assert site["origins"] == [{"path": "a.py", "line": 3, "column": 33, "kind": "literal", "value": '"nccl"'}]
    assert site["reason"].startswith("nccl does not work on rocm")


def test_edits_are_whole_lines(document: Document, small: Path) -> None:
    (edit,) = document("check", str(small), "--platform", "rocm")["edits"]
    assert (edit["path"], edit["line"], edit["end_line"]) == ("a.py", 3, 3)
    assert edit["before"] == 's = "é"; dist.init_process_group("nccl")'
    assert edit["after"] == 's = "é"; dist.init_process_group("gloo")'


def test_files_that_were_not_read_are_named(document: Document, small: Path) -> None:
    (skipped,) = document("check", str(small), "--platform", "rocm")["skipped"]
    assert skipped["path"] == "b.py"
    assert "Python 2" in skipped["reason"]


def test_a_parameter_that_is_left_out_has_no_value(document: Document, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "a.py").write_text("import torch.distributed as dist\n\n\ndist.init_process_group()\n")
    found = document("scan", str(tmp_path), "--platform", "rocm")
    (site,) = [site for site in found["sites"] if site["parameter"] == "backend"]
    assert site["value"] is None
    assert (site["line"], site["column"], site["end_column"]) == (4, 0, 25)


def test_apply_says_what_it_wrote(document: Document, small: Path) -> None:
    (edit,) = document("apply", str(small), "--platform", "rocm")["edits"]
    assert edit["applied"]
    assert b'"gloo"' in (small / "a.py").read_bytes()


def test_the_reader_s_locale_does_not_matter_but_the_option_does(
    document: Document, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("scan", str(small), "--platform", "rocm")
    english = document(*words)
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert document(*words) == english
    assert document(*words, "--lang", "zh") != english


def test_a_structural_edit_is_not_rendered_by_scan_and_is_by_diff(document: Document) -> None:
    words = (str(FIXTURES / "vocoder-accelerate/project"), "--platform", "mixed-gpu")
    assert any(edit["after"] is None for edit in document("scan", *words)["edits"])
    assert all(edit["after"] is not None for edit in document("diff", *words, "--unsafe")["edits"])
