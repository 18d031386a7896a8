"""``doctor`` as people call it, asking this very Python."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import jsonschema
import pytest

from ddp_codemod.report.checkup import SCHEMA


@pytest.fixture
def without_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python that is asked has no torch; quick, and the same everywhere."""
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "torch.py").write_text("raise ModuleNotFoundError(\"No module named 'torch'\")\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "hidden"))


@pytest.mark.usefixtures("without_torch")
def test_a_missing_torch_is_a_problem_and_the_rest_is_told(project, run) -> None:  # type: ignore[no-untyped-def]
    project()
    done = run("doctor", "--python", sys.executable)
    assert done.code == 1
    assert "torch is not installed" in done.out
    assert "127.0.0.1" in done.out


@pytest.mark.usefixtures("without_torch")
def test_json(project, run) -> None:  # type: ignore[no-untyped-def]
    project()
    document = json.loads(run("doctor", "--python", sys.executable, "--format", "json").out)
    jsonschema.validate(document, json.loads(SCHEMA.read_text("utf-8")))


@pytest.mark.usefixtures("without_torch")
@pytest.mark.parametrize("encoding", ["cp936", "ascii"])
def test_consoles(project, process, encoding: str) -> None:  # type: ignore[no-untyped-def]
    root = project()
    done = process("doctor", "--python", sys.executable, cwd=root, environ={"PYTHONIOENCODING": encoding, "LANG": "zh_CN"})
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr
    assert ("没有安装 torch" in done.stdout.decode(encoding)) == (encoding == "cp936")


@pytest.mark.usefixtures("without_torch")
def test_the_report(project, run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    project()
    run("doctor", "--python", sys.executable, "--report", str(tmp_path / "report.md"))
    text = (tmp_path / "report.md").read_text("utf-8")
    assert text.startswith("## ddp-codemod doctor")
    assert "**problem**" in text
    assert str(Path.home()) not in text


def test_a_report_that_cannot_be_written(project, run, without_torch, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    project()
    done = run("doctor", "--python", sys.executable, "--report", str(tmp_path / "nowhere" / "report.md"))
    assert done.code == 2
    assert "cannot write " in done.err


def test_no_such_python(project, run) -> None:  # type: ignore[no-untyped-def]
    project()
    done = run("doctor", "--python", "no-such-python")
    assert done.code == 2
    assert "no-such-python" in done.err


@pytest.mark.torch
def test_this_machine(project, run) -> None:  # type: ignore[no-untyped-def]
    pytest.importorskip("torch")
    project()
    done = run("doctor", "--python", sys.executable)
    assert "process group backends: " in done.out
    assert "Detected platform " in done.out
    assert "ddp-codemod apply . --platform " in done.out


@pytest.mark.usefixtures("without_torch")
@pytest.mark.skipif(sys.platform == "win32", reason="a script is no program there")
def test_a_script_that_chooses_the_python_is_said_before_it_runs(project, run, tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    project()
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    shims = tmp_path / "shims"
    shims.mkdir()
    (shims / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (shims / "python").chmod(0o755)
    monkeypatch.setenv("PATH", str(shims))
    done = run("doctor")
    assert f"{shims / 'python'} is a script that /bin/sh runs" in done.err
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    assert "is a script" not in run("doctor").err


@pytest.mark.usefixtures("without_torch")
def test_a_named_platform(project, run) -> None:  # type: ignore[no-untyped-def]
    project()
    done = run("doctor", "--python", sys.executable, "--platform", "ascend")
    assert done.code == 1
    assert "ddp-codemod apply . --platform ascend" in done.out
    assert "table" not in done.out
    wrong = run("doctor", "--python", sys.executable, "--platform", "asend")
    assert wrong.code == 2
    assert "ascend" in wrong.err


def asked_of(project, run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stated: str, installed: str):  # type: ignore[no-untyped-def]
    """doctor on a project, by a Python that has a torch of a version installed."""
    metadata = tmp_path / "site" / f"torch-{installed}.dist-info" / "METADATA"
    metadata.parent.mkdir(parents=True)
    metadata.write_text(f"Metadata-Version: 2.1\nName: torch\nVersion: {installed}\n", "utf-8")
    (tmp_path / "site" / "torch.py").write_text("raise ImportError\n", "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    root = project()
    (root / "app").mkdir()
    (root / "app" / "pyproject.toml").write_text('[tool.ddp-codemod]\nplatform = "ascend"\n', "utf-8")
    (root / "app" / "requirements.txt").write_text(f"numpy\ntorch{stated}\n", "utf-8")
    return json.loads(run("doctor", "app", "--python", sys.executable, "--format", "json").out)


@pytest.mark.parametrize(
    ("stated", "installed", "state"),
    [("==2.1.0", "2.5.1+cu121", "warning"), (">=2.0", "2.5.1+cu121", "ok"), ("==2.5.1", "2.5.1", "ok"), ("", "2.5.1", "ok")],
)
def test_a_folder_is_held_against_this_python(  # type: ignore[no-untyped-def]
    project, run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stated: str, installed: str, state: str
) -> None:
    document = asked_of(project, run, tmp_path, monkeypatch, stated, installed)
    jsonschema.validate(document, json.loads(SCHEMA.read_text("utf-8")))
    found = [one for one in document["checks"] if one["id"].startswith("project-")]
    assert [one["state"] for one in found] == [state]
    assert all(("requirements.txt:2" if stated else "states no version") in one["message"] for one in found)
    assert (document["asked"], document["command"]) == ("ascend", "ddp-codemod apply app --platform ascend --unsafe")


def test_a_log_is_no_folder(project, run) -> None:  # type: ignore[no-untyped-def]
    root = project()
    (root / "train.log").write_text("x\n", "utf-8")
    done = run("doctor", "train.log")
    assert done.code == 2
    assert "ddp-codemod diagnose train.log" in done.err
    assert run("doctor", "nowhere").code == 2


def test_a_project_that_states_nothing_and_both_ways_to_another_device(project, run) -> None:  # type: ignore[no-untyped-def]
    project(train="import torch\n")
    said = run("doctor", ".", "--platform", "ascend").out
    assert "the project states no version of torch" in said
    assert "ddp-codemod apply . --platform ascend --unsafe\n" in said
    assert "ddp-codemod apply . --platform ascend --rule transfer-to-npu --unsafe\n" in said
    assert "transfer-to-npu" not in run("doctor", ".", "--platform", "rocm").out
