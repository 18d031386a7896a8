"""What a release and a fork need: links for an index page, an sdist with all that tests use, workflows and forms."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
import yaml

import hatch_build

TOP = Path(__file__).parents[1]
WORKFLOWS = TOP / ".github/workflows"
FORMS = TOP / ".github/ISSUE_TEMPLATE"


def test_links_lead_to_the_files_of_the_release() -> None:
    page = "[a](docs/a.md#b) ![c](docs/c.png) [d](https://example.org/d) [e](#f) `[x](y)`"
    assert hatch_build.absolute(page, "https://host/o/n", "1.0").split(" ")[:4] == [
        "[a](https://host/o/n/blob/v1.0/docs/a.md#b)",
        "![c](https://host/o/n/raw/v1.0/docs/c.png)",
        "[d](https://example.org/d)",
        "[e](#f)",
    ]


def test_the_index_page_has_no_relative_link(monkeypatch: pytest.MonkeyPatch) -> None:
    made: dict[str, object] = {"version": "1.0"}
    monkeypatch.delenv("DDP_CODEMOD_ADDRESS", raising=False)
    hatch_build.Address(str(TOP), {}).update(made)
    assert "urls" not in made
    assert "](docs/README.md)" in made["readme"]["text"]  # type: ignore[index]
    monkeypatch.setenv("DDP_CODEMOD_ADDRESS", "https://host/o/n")
    hatch_build.Address(str(TOP), {}).update(made)
    targets = re.findall(r"\]\(([^)\s]+)\)", made["readme"]["text"])  # type: ignore[index]
    assert [target for target in targets if not target.startswith("https://")] == []
    assert all(url.startswith("https://host/o/n") for url in made["urls"].values())  # type: ignore[attr-defined]


def test_the_sdist_holds_what_its_tests_use(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", str(tmp_path), str(TOP)]
    subprocess.run(words, check=True, capture_output=True, cwd=tmp_path)
    (built,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(built) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for needed in (
        ".ci/action",
        ".ci/run",
        ".github/workflows/release.yml",
        ".pre-commit-hooks.yaml",
        "Makefile",
        "README.zh-CN.md",
        "action.yml",
        "benchmarks/run.py",
        "docs/tools/build.py",
        "fixtures/tts-spawn/project/s1_train.py",
        "hatch_build.py",
        "mkdocs.yml",
        "proofs/__main__.py",
        "requirements-ci.txt",
        "rules/platforms/rocm.toml",
        "tests/traps/cases",
    ):
        assert any(name == needed or name.startswith(f"{needed}/") for name in names), needed


def test_publishing_needs_no_secret_and_may_do_nothing_else() -> None:
    release = yaml.safe_load((WORKFLOWS / "release.yml").read_text("utf-8"))
    assert release["permissions"] == {"contents": "read"}
    publish = release["jobs"]["publish"]
    assert publish["permissions"] == {"id-token": "write"}
    assert (publish["needs"], publish["environment"]) == ("build", "pypi")
    for workflow in WORKFLOWS.glob("*.yml"):
        assert "secrets." not in workflow.read_text("utf-8")


@pytest.mark.parametrize(
    ("head", "code"), [("## 0.1.0 (2026-11-30)", 0), ("## 0.1.0 (unreleased)", 1), ("## 0.0.1 (2026-11-30)", 1)]
)
def test_what_has_no_date_in_the_changelog_is_not_released(tmp_path: Path, head: str, code: int) -> None:
    steps = yaml.safe_load((WORKFLOWS / "release.yml").read_text("utf-8"))["jobs"]["build"]["steps"]
    (run,) = [step["run"] for step in steps if step.get("name") == "The changelog has its date"]
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n{head}\n", "utf-8")
    environ = {**os.environ, "GITHUB_REF_NAME": "v0.1.0"}
    assert subprocess.run(["bash", "-c", run], cwd=tmp_path, env=environ, check=False).returncode == code


def test_a_fork_runs_what_ci_runs() -> None:
    steps = yaml.safe_load((WORKFLOWS / "test.yml").read_text("utf-8"))["jobs"]["check"]["steps"]
    assert ".ci/run" in [step.get("run") for step in steps]


@pytest.mark.parametrize(("form", "command"), [("wrong", "scan PATH --platform ID --format json"), ("error", "doctor --report")])
def test_forms_ask_for_what_tells_most(form: str, command: str) -> None:
    body = yaml.safe_load((FORMS / f"{form}.yml").read_text("utf-8"))["body"]
    asked = [part["attributes"]["label"] for part in body if part.get("validations", {}).get("required")]
    assert any(command in label for label in asked)
