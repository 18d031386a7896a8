"""``apply PATH`` and nothing else, as the people type it who have the trouble, on machines that are imitated."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ddp_codemod.machine import detect

TRAIN = """import os

import torch
import torch.distributed as dist

os.makedirs("logs", exist_ok=True)
dist.init_process_group(
    backend="gloo" if os.name == "nt" or not torch.cuda.is_available() else "nccl",
    init_method="env://?use_libuv=False",
)
"""
PINNED = TRAIN.replace('"gloo" if os.name == "nt" or not torch.cuda.is_available() else "nccl"', '"gloo"')
Machines = Callable[..., None]


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Machines:
    def imitate(system: str, *paths: str, **environ: str) -> None:
        root = tmp_path / "machine"
        for path in paths:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text("0x1002\n")
        real = detect.Machine
        monkeypatch.setattr(detect, "Machine", lambda: real(root, system, environ))

    return imitate


def test_windows_in_chinese_with_nothing_to_do(project, run, machine: Machines, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN)
    machine("win32")
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    done = run("apply", ".")
    assert done.code == 0
    assert done.err.startswith("平台 windows：")
    assert "根据本机选定" in done.err
    assert "没有需要修改的地方" in done.out
    assert "train.py:8: torch.init_process_group(backend): " in done.out  # with its reason, without asking for it
    assert "gloo-on-windows" in done.out
    assert (root / "train.py").read_text() == TRAIN


def test_wsl_with_rocm(project, run, machine: Machines) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN)
    machine("linux", "dev/dxg", "opt/rocm/bin/rocminfo")
    done = run("apply", ".")
    assert done.code == 0
    assert (root / "train.py").read_text() == PINNED
    assert "Platform rocm: " in done.err
    assert "WSL2" in done.err
    assert "or: ddp-codemod apply . --platform rocm-rccl" in done.err


def test_a_healthy_amd_machine_keeps_nccl(project, run, machine: Machines) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN)
    machine("linux", "dev/kfd", "dev/dri/renderD128", "sys/class/drm/renderD128/device/vendor")
    done = run("apply", ".")
    assert done.code == 0
    assert (root / "train.py").read_text() == TRAIN
    assert "or: ddp-codemod apply . --platform rocm  (" in done.err


def test_a_mac(project, run, machine: Machines) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN)
    machine("darwin")
    done = run("apply", ".")
    assert done.code == 0
    assert "Platform macos: " in done.err
    assert (root / "train.py").read_text() == TRAIN


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_laptop_is_asked_and_every_answer_works(project, run, machine: Machines, lang: str) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN)
    machine("linux")
    done = run("apply", ".", "--dry-run", "--lang", lang)
    assert (done.code, done.out) == (2, "")
    answers = [line.strip().split("  ")[0] for line in done.err.splitlines() if line.startswith("  ")]
    assert len(answers) == 24
    for answer in answers:
        program, *words = answer.split()
        assert program == "ddp-codemod"
        assert run(*words).code == 0
    assert (root / "train.py").read_text() == TRAIN


def test_the_machine_is_looked_at_only_when_it_matters(project, run, machine: Machines) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN)
    machine("linux")
    assert run("check", ".", "--platform", "rocm").code == 1
    assert run("check", ".", "--rule", "nccl-p2p-off").code == 1
