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
    for name, line in (("python", "exit 0"), ("ddp-codemod", f'exec "{sys.executable}" -m ddp_codemod "$@"')):
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
