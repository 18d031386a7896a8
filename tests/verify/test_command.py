"""``verify`` on projects: before and after a patch, with and without libuv, by spawn and by torchrun, and on commands."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from ddp_codemod.cli import main
from ddp_codemod.report.trials import SCHEMA

REPOSITORY = Path(__file__).resolve().parents[2]
MACHINES = REPOSITORY / "tests/truth/machines"
FIXTURES = [("tts-spawn", "s2_train.py"), ("speaker-torchrun", "speakerlab"), ("vocoder-accelerate", "models")]
ROCM = {"gpus": 4, "hip": True}
LIBRARY = """
import os
import sys

import torch.distributed as dist


def main(argument):
    dist.init_process_group("gloo", init_method="env://?use_libuv=0")
    dist.new_group(backend=argument)
"""
COMMAND = """
import os

import torch.distributed as dist
import torch.multiprocessing as mp


def run(rank, url):
    dist.init_process_group("gloo", init_method=url, rank=rank, world_size=2)
    print("trained on", dist.get_backend(), flush=True)
    os._exit(0)  # torch's own threads abort a rank at its exit once in some hundred runs


if __name__ == "__main__":
    mp.spawn(run, args=("tcp://127.0.0.1:{port}?use_libuv=0",), nprocs=2)
"""


def verify(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    capfd.readouterr()
    code = main(["verify", "--python", sys.executable, *words])
    return (code, *capfd.readouterr())


def copied(case: str, tmp_path: Path, *options: str) -> Path:
    root = tmp_path / f"{case}-{len(options)}"
    shutil.copytree(REPOSITORY / "fixtures" / case / "project", root)
    if options:
        line = [sys.executable, "-m", "ddp_codemod", "apply", str(root), *options]
        subprocess.run(line, check=True, capture_output=True, env=None)
    return root


def on(monkeypatch: pytest.MonkeyPatch, root: Path, **machine: Any) -> None:
    """Imitate a machine in every process that is started from here on."""
    monkeypatch.setenv("IMITATED_MACHINE", json.dumps({"root": str(root), **machine}))
    monkeypatch.setenv("PYTHONPATH", str(MACHINES))


@pytest.mark.parametrize(("case", "name"), [FIXTURES[0], *(pytest.param(*one, marks=pytest.mark.long) for one in FIXTURES[1:])])
def test_on_rocm_it_tells_before_from_after(
    case: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    before, after = copied(case, tmp_path), copied(case, tmp_path, "--platform", "rocm", "--unsafe")
    on(monkeypatch, tmp_path, **ROCM)
    code, out, _ = verify(capfd, str(before / name), "--platform", "rocm", "--launch", "spawn")
    assert code == 1
    assert "[nccl-not-built-in]" in out
    assert f"ddp-codemod apply {before / name} --platform rocm" in out
    code, out, _ = verify(capfd, str(after / name), "--platform", "rocm", "--launch", "spawn")
    assert code == 0, out
    assert "passed" in out


def test_four_ranks_and_torchrun_and_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    root = copied("tts-spawn", tmp_path, "--platform", "rocm")
    code, out, _ = verify(
        capfd, str(root / "s2_train.py"), "--platform", "rocm", "-n", "4", "--launch", "torchrun", "--format", "json"
    )
    assert code == 0, out
    document = json.loads(out)
    jsonschema.validate(document, json.loads(SCHEMA.read_text("utf-8")))
    (trial,) = document["sites"][0]["trials"]
    assert (trial["state"], trial["ranks"], trial["launch"]) == ("passed", 4, "torchrun")


@pytest.mark.long
def test_without_libuv_the_patch_cures_spawn_and_nothing_cures_torchrun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    before = copied("tts-spawn-before-libuv", tmp_path)
    after = copied("tts-spawn-before-libuv", tmp_path, "--platform", "windows")
    on(monkeypatch, tmp_path, libuv=False)
    code, out, _ = verify(capfd, str(before / "s2_train.py"), "--platform", "windows", "--format", "json")
    states = [(trial["launch"], trial["state"], trial["diagnosis"]) for trial in json.loads(out)["sites"][0]["trials"]]
    assert states == [("spawn", "failed", "libuv-missing"), ("torchrun", "failed", "libuv-missing-launcher")]
    code, out, _ = verify(capfd, str(after / "s2_train.py"), "--platform", "windows", "--format", "json")
    states = [(trial["launch"], trial["state"], trial["diagnosis"]) for trial in json.loads(out)["sites"][0]["trials"]]
    assert states == [("spawn", "passed", None), ("torchrun", "failed", "libuv-missing-launcher")]
    assert code == 1


def test_the_environment_that_the_code_sets_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    after = copied("tts-spawn-before-libuv", tmp_path, "--platform", "windows")
    on(monkeypatch, tmp_path, libuv=False)
    code, out, _ = verify(capfd, str(after / "prosody_train.py"), "--platform", "windows", "--launch", "spawn")
    assert code == 0, out
    assert "USE_LIBUV=0" in out


def test_what_is_not_known_or_not_run_is_said(project, capfd: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    project(LIBRARY.replace('"gloo", init', "os.environ['X'], init"))
    code, out, err = verify(capfd, ".", "--platform", "cpu")
    assert code == 1
    assert "not run: backend is known only at run time" in out
    assert "No call site could be run" in err


def test_the_ladder_climbs(project, capfd: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    project('import torch.distributed as dist\n\ndist.init_process_group("gloo")\n')
    _, out, _ = verify(capfd, ".", "--platform", "cpu", "-n", "1..2", "--launch", "spawn", "--format", "json")
    assert [trial["ranks"] for trial in json.loads(out)["sites"][0]["trials"]] == [1, 2]


@pytest.mark.parametrize("words", [("-n", "0"), ("-n", "x"), ("-n", "3..1"), ("--platform", "nowhere"), ("--steps", "3")])
def test_what_cannot_be_asked(project, capfd: pytest.CaptureFixture[str], words: tuple[str, ...]) -> None:  # type: ignore[no-untyped-def]
    project("import torch.distributed as dist\n\ndist.init_process_group()\n")
    assert verify(capfd, ".", *words)[0] == 2


def test_without_torch_it_says_what_to_install(
    project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:  # type: ignore[no-untyped-def]
    project('import torch.distributed as dist\n\ndist.init_process_group("gloo")\n')
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "torch.py").write_text("raise ModuleNotFoundError(\"No module named 'torch'\")\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "hidden"))
    for words in ((), ("--platform", "cpu", "--launch", "spawn")):
        code, _, err = verify(capfd, ".", *words)
        assert code == 2
        assert "ddp-codemod[torch]" in err


def find_free_port() -> int:
    from ddp_codemod.machine.processes import find_free_port

    return find_free_port()


@pytest.mark.parametrize("stop", [pytest.param(True, marks=pytest.mark.long), False])
def test_a_command_of_the_user_s_is_watched(project, capfd: pytest.CaptureFixture[str], stop: bool) -> None:  # type: ignore[no-untyped-def]
    project(COMMAND.replace("{port}", str(find_free_port())))
    code, out, err = verify(capfd, "--run", f"{sys.executable} train.py", *(["--steps", "0"] if stop else []))
    assert code == 0, out + err
    assert "backend='gloo', init_method='tcp://127.0.0.1:" in out
    assert "of 2: group formed over gloo" in out
    assert ("trained on" in out) == (not stop)  # the ranks write at once, into each other's lines
    assert "2 ranks formed a group" in err


def test_variables_in_front_of_a_command_are_its_own(project, capfd: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    project("import os\n\nprint([os.environ.get(name) for name in ('KIND', 'PATHS')], os.environ['PYTHONPATH'].split(':')[-1])\n")
    _, out, err = verify(capfd, "--run", f"KIND='a b' PATHS=x=y PYTHONPATH=own {sys.executable} train.py KIND=c")
    assert "['a b', 'x=y'] own\n" in out, err
    assert verify(capfd, "--run", "KIND=a")[0] == 2


@pytest.mark.long
def test_a_command_that_hangs_shows_its_stacks(project, capfd: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    text = COMMAND.replace("{port}", str(find_free_port())).replace("world_size=2", "world_size=3")
    project(text)
    code, out, err = verify(capfd, "--run", f"{sys.executable} train.py", "--steps", "0", "--timeout", "20")
    assert code == 1
    assert "in init_process_group" in out
    assert "Stopped after" in err


def test_a_limit_that_is_given_ends_a_command_that_hangs_after_its_group(project, capfd: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    project("import threading\n\nprint('waiting', flush=True)\nthreading.Event().wait()\n")
    code, out, err = verify(capfd, "--run", f"{sys.executable} train.py", "--timeout", "5")
    assert code == 1
    assert "waiting" in out
    assert "Stopped after 5 s" in err


def test_nothing_of_the_user_s_code_is_run_unasked(project, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    root = project('import torch.distributed as dist\n\nopen("ran", "w").close()\ndist.init_process_group("gloo")\n')
    code, _, _ = verify(capfd, ".", "--platform", "cpu", "--launch", "spawn")
    assert code == 0
    assert not (root / "ran").exists()
