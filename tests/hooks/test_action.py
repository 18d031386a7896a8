"""The step of action.yml, run as a runner runs it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

TOP = Path(__file__).parents[2]
CALL = 'import torch.distributed as dist\ndist.init_process_group("nccl")\n'

pytestmark = pytest.mark.skipif(sys.platform == "win32" or not shutil.which("bash"), reason="the step is a script for bash")


def test_the_action_hands_every_input_on_as_a_variable() -> None:
    action = yaml.safe_load((TOP / "action.yml").read_text("utf-8"))
    steps = action["runs"]["steps"]
    assert action["runs"]["using"] == "composite"
    assert all("${{" not in step.get("run", "") for step in steps)
    (check,) = [step for step in steps if "run" in step]
    assert {f"${{{{ inputs.{name} }}}}" for name in ("platform", "paths", "args")} <= set(check["env"].values())
    assert (TOP / ".ci/action").stat().st_mode & 0o111


@pytest.fixture
def step(tmp_path: Path):  # type: ignore[no-untyped-def]
    """Run the step in a project. Instead of an installation it finds this checkout's command."""
    place = tmp_path / "temp/ddp-codemod/bin"
    place.mkdir(parents=True)
    for name, line in (
        ("python", f'[ "$1" = -m ] || exec "{sys.executable}" "$@"'),
        ("ddp-codemod", f'exec "{sys.executable}" -m ddp_codemod "$@"'),
    ):
        (place / name).write_text(f"#!/bin/sh\n{line}\n")
        (place / name).chmod(0o755)
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "python").write_text("#!/bin/sh\nexit 0\n")
    (tools / "python").chmod(0o755)
    root = tmp_path / "project"
    root.mkdir()
    (root / "pyproject.toml").touch()

    def run(code: str, **inputs: str) -> tuple[int, str, Path]:
        (root / "a.py").write_text(code)
        values = {
            "PLATFORM": "rocm",
            "PATHS": ".",
            "ARGS": "",
            "ACTION": str(TOP),
            "SARIF": str(tmp_path / "out.sarif"),
            **inputs,
        }
        environ = {
            **os.environ,
            **values,
            "RUNNER_TEMP": str(tmp_path / "temp"),
            "GITHUB_OUTPUT": str(tmp_path / "output"),
            "PATH": f"{tools}:{os.environ['PATH']}",
            "PYTHONPATH": str(TOP),
        }
        done = subprocess.run([TOP / ".ci/action"], cwd=root, env=environ, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, tmp_path

    return run


def test_findings(step) -> None:  # type: ignore[no-untyped-def]
    code, out, place = step(CALL)
    assert code == 1
    assert out.startswith("::warning file=a.py,line=2,")
    assert json.loads((place / "out.sarif").read_bytes())["version"] == "2.1.0"
    assert (place / "output").read_text() == f"sarif={place / 'out.sarif'}\n"


def test_nothing_found(step) -> None:  # type: ignore[no-untyped-def]
    code, out, place = step(CALL.replace("nccl", "gloo"), ARGS="--rule nccl-debug --unsafe")
    assert (code, "::warning" in out) == (0, False)
    assert (place / "output").exists()


def test_a_bad_platform_and_shell_text(step) -> None:  # type: ignore[no-untyped-def]
    code, _, place = step(CALL, PLATFORM="x; touch hacked; $(touch hacked)")
    assert code == 2
    assert not (place / "output").exists()
    assert not (place / "project/hacked").exists()


def test_the_page_of_the_job_says_what_would_change(step, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    page = tmp_path / "page.md"
    code, out, _ = step(CALL, GITHUB_STEP_SUMMARY=str(page), SUMMARY="false")
    assert (code, page.exists()) == (1, False)
    code, again, _ = step(CALL, GITHUB_STEP_SUMMARY=str(page), SUMMARY="true")
    assert (code, again) == (1, out)
    assert "| `a.py:2` |" in page.read_text()


def git(root: Path, *words: str) -> str:
    known = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main")
    return subprocess.run(["git", *known, *words], cwd=root, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def base(tmp_path: Path, step) -> str:  # type: ignore[no-untyped-def]
    """A commit of the project with one finding."""
    root = tmp_path / "project"
    (root / "a.py").write_text(CALL)
    git(root, "init")
    git(root, "add", ".")
    git(root, "commit", "-m", "x")
    return git(root, "rev-parse", "HEAD")


def states(place: Path) -> list[str]:
    return [one["baselineState"] for one in json.loads((place / "out.sarif").read_bytes())["runs"][0]["results"]]


def test_what_the_baseline_has_does_not_count(step, base: str) -> None:  # type: ignore[no-untyped-def]
    code, out, place = step("# moved\n" + CALL, BASELINE=base)
    assert (code, out, states(place)) == (0, "", ["unchanged"])


def test_what_the_baseline_does_not_have_counts(step, base: str) -> None:  # type: ignore[no-untyped-def]
    code, out, place = step(CALL + 'dist.new_group(backend="nccl")\n', BASELINE=base)
    assert (code, states(place)) == (1, ["unchanged", "new"])
    assert [line.split("::")[1] for line in out.splitlines()] == [
        "warning title=ddp-codemod%3A unsupported-backend,file=a.py,line=3"
    ]
    assert (place / "output").exists()


def test_a_file_that_can_no_longer_be_read_counts(step, base: str) -> None:  # type: ignore[no-untyped-def]
    code, out, _ = step(CALL + "def f(:\n", BASELINE=base)
    assert (code, out.startswith("::warning title=ddp-codemod::")) == (1, True)


def test_paths_that_the_baseline_does_not_have_are_new(step, base: str, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "project/new").mkdir()
    (tmp_path / "project/new/b.py").write_text(CALL)
    code, _, place = step(CALL, BASELINE=base, PATHS="new")
    assert (code, states(place)) == (1, ["new"])


def test_a_baseline_that_is_not_there_is_told(step, base: str) -> None:  # type: ignore[no-untyped-def]
    code, out, place = step(CALL, BASELINE="0" * 40)
    assert (code, "fetch-depth: 0" in out) == (2, True)
    assert not (place / "project/hacked").exists()
    for text in ("$(touch hacked); true", "--output=hacked", "--help", "-h"):
        assert step(CALL, BASELINE=text)[0] == 2
    assert not (place / "project/hacked").exists()


def test_the_baseline_is_whole_and_the_index_is_left_alone(step, base: str, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    root = tmp_path / "project"
    (root / ".gitattributes").write_text("*.py export-ignore\n")
    git(root, "add", ".")
    git(root, "commit", "-m", "y")
    (root / "staged.txt").write_text("x")
    git(root, "add", "staged.txt")
    before = git(root, "status", "--porcelain")
    code, _, place = step(CALL, BASELINE="HEAD")
    assert (code, states(place)) == (0, ["unchanged"])
    assert git(root, "status", "--porcelain") == before


def test_suggestions_go_to_reviewdog(step, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    tool = tmp_path / "tools/reviewdog"
    tool.write_text(f'#!/bin/sh\necho "$@" >{tmp_path}/words\ncat >{tmp_path}/rdjson\n')
    tool.chmod(0o755)
    assert step(CALL)[0] == 1
    assert not (tmp_path / "words").exists()
    assert step(CALL, SUGGEST="true")[0] == 1
    assert "-reporter=github-pr-review -filter-mode=added" in (tmp_path / "words").read_text()
    (found,) = json.loads((tmp_path / "rdjson").read_bytes())["diagnostics"]
    assert "gloo" in found["suggestions"][0]["text"]
    tool.write_text("#!/bin/sh\nexit 1\n")
    code, out, _ = step(CALL, SUGGEST="true")
    assert (code, "pull-requests: write" in out) == (1, True)
