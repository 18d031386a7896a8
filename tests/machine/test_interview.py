"""Real Pythons asked by the probe."""

from __future__ import annotations

import ast
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ddp_codemod.machine import interview as module
from ddp_codemod.machine.interview import (
    PROBE,
    default_python,
    find_environment_python,
    find_script_starter,
    has_torch,
    interview_python,
)
from ddp_codemod.machine.probe import SECTIONS
from ddp_codemod.machine.verify import WORKER
from ddp_codemod.machine.watch import RECORDER


def runs(python: str | None) -> bool:
    """Whether it is a Python, not a shim that says that there is none."""
    return python is not None and subprocess.run([python, "-V"], capture_output=True, check=False).returncode == 0


OLDEST = next((path for name in ("python3.8", "python3.9", "python3.10") if runs(path := shutil.which(name))), None)


@pytest.mark.parametrize("path", [PROBE, WORKER, *sorted(RECORDER.glob("*.py"))], ids=lambda path: path.name)
def test_what_other_pythons_run_is_python_3_8_and_needs_nothing_of_ours(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"), feature_version=(3, 8))
    named = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    named |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in named} <= sys.stdlib_module_names | {
        "torch",
        *(path.stem for path in RECORDER.glob("*.py")),
    }


def test_every_question_is_answered() -> None:
    asked: list[str] = []
    facts = interview_python(sys.executable, asked.append)
    assert list(facts) == asked == list(SECTIONS)
    assert facts["system"]["python"] == ".".join(map(str, sys.version_info[:3]))
    assert facts["network"]["loopback"] is True
    if importlib.util.find_spec("torch") is not None:
        assert "gloo" in facts["torch"]["backends"]


@pytest.mark.skipif(OLDEST is None, reason="no older Python here")
def test_an_older_python_without_torch(tmp_path: Path) -> None:
    environment = tmp_path / "env"
    subprocess.run([str(OLDEST), "-m", "venv", "--without-pip", str(environment)], check=True)
    facts = interview_python(default_python({"VIRTUAL_ENV": str(environment)}))
    assert set(facts) == set(SECTIONS)
    assert facts["torch"]["missing"] is True


def test_the_accelerators_that_are_named_are_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = ("version:\n    cuda = None", "backends:\n    pass", "cuda:\n    device_count = staticmethod(lambda: 0)")
    mqu = "mqu:\n    is_available = staticmethod(lambda: True)"
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch/__init__.py").write_text("__version__ = '2.8.0'\n" + "".join(f"class {part}\n" for part in (*parts, mqu)))
    (tmp_path / "torch/distributed.py").write_text("def is_available():\n    return False\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    facts = interview_python(sys.executable, words={"accelerators": ["mqu", "mlu"], "packages": ["msgspec", "torch-mqu"]})
    assert facts["torch"].get("accelerators") == ["mqu"], facts["torch"]
    assert list(facts["packages"]["versions"])[-1] == "msgspec"


def test_a_torch_that_breaks_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('libcudart.so.11: cannot open shared object file')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    facts = interview_python(sys.executable)
    assert "libcudart" in facts["torch"]["error"]
    assert facts["torch"]["missing"] is False


def test_a_torch_that_ends_the_process_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "torch.py").write_text("import os\nos._exit(9)\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    facts = interview_python(sys.executable)
    assert facts["torch"]["error"]
    assert "found" not in facts["drivers"]


def test_a_torch_that_never_comes_back_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "torch.py").write_text("import threading\nthreading.Event().wait()\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    facts = interview_python(sys.executable, seconds=3)
    assert "3 s" in facts["torch"]["error"]


def test_a_torch_in_the_folder_is_not_taken_for_the_installed_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "torch.py").write_text("raise RuntimeError('mine')\n")
    monkeypatch.chdir(tmp_path)
    assert "mine" not in str(interview_python(sys.executable)["torch"])


@pytest.mark.parametrize("program", ["no-such-python", sys.executable + "-missing"])
def test_no_python_at_all(program: str) -> None:
    with pytest.raises(OSError, match=r"No such file|cannot find"):
        interview_python(program)


def test_a_program_that_is_no_python() -> None:
    program = shutil.which("true")
    if program is None:
        pytest.skip("no program that says nothing")
    with pytest.raises(OSError, match="no answer"):
        interview_python(program)


def test_which_python_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = ("Scripts", "python.exe") if sys.platform == "win32" else ("bin", "python")
    for name in ("active", "conda", "project/.venv"):
        python = tmp_path.joinpath(name, *inside)
        python.parent.mkdir(parents=True)
        python.touch()
    environ = {"VIRTUAL_ENV": str(tmp_path / "active"), "CONDA_PREFIX": str(tmp_path / "conda")}
    assert default_python(environ) == str(tmp_path.joinpath("active", *inside))
    assert default_python({"CONDA_PREFIX": environ["CONDA_PREFIX"]}) == str(tmp_path.joinpath("conda", *inside))
    monkeypatch.chdir(tmp_path / "project")
    own = str(tmp_path.joinpath("project/.venv", *inside))
    assert default_python({}) != own == find_environment_python(tmp_path / "project")
    monkeypatch.setattr(module.shutil, "which", lambda name, path: None)
    assert default_python({}) == sys.executable


@pytest.mark.skipif(sys.platform == "win32", reason="a script is no program there")
def test_a_python_of_the_folder_on_a_relative_path_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "python").write_text("#!/bin/sh\n")
    (tmp_path / "python").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.pathsep.join([".", "", os.environ["PATH"]]))
    assert Path(default_python({})).is_absolute()


@pytest.mark.parametrize("name", ["json", "platform", "contextlib", "encodings", "sitecustomize"])
def test_nothing_of_the_folder_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'was-run')!r}, 'w')\n")
    monkeypatch.chdir(tmp_path)
    interview_python(sys.executable)
    has_torch(sys.executable)
    assert not (tmp_path / "was-run").exists()


def test_whether_a_python_has_torch_is_asked_without_importing_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "torch.py").write_text("raise SystemExit('imported')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert has_torch(sys.executable)
    monkeypatch.setenv("PYTHONPATH", "")
    assert has_torch(sys.executable) == (importlib.util.find_spec("torch") is not None)
    assert not has_torch("no-such-python")


def test_a_step_that_does_not_end_is_named_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # a torch whose import waits for ever, in a process of its own beside it
    (tmp_path / "torch.py").write_text(
        "import os, subprocess, sys\n"
        f"child = subprocess.Popen([sys.executable, '-c', 'import sys; sys.stdin.read()'], stdin=subprocess.PIPE)\n"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(child.pid))\nchild.wait()\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(module, "PATIENCE", 0.2)
    waited: list[str] = []
    facts = interview_python(sys.executable, seconds=8.0, waiting=waited.append)
    assert waited[-1] == "torch"  # on a loaded machine an earlier step may have taken longer, too
    assert facts["torch"]["late"] == 8.0
    assert "store" not in facts
    child = int((tmp_path / "pid").read_text())
    assert not Path(f"/proc/{child}").exists() or "Z" in Path(f"/proc/{child}/stat").read_text().split()[2]


@pytest.mark.skipif(sys.platform == "win32", reason="a script is no program there")
def test_a_script_in_the_place_of_python_is_told_by_what_runs_it(tmp_path: Path) -> None:
    shim = tmp_path / "python"
    shim.write_text('#!/usr/bin/env bash\nexec python "$@"\n')
    assert find_script_starter(str(shim)) == "/usr/bin/env bash"
    assert find_script_starter(sys.executable) is None
    assert find_script_starter(str(tmp_path / "none")) is None
