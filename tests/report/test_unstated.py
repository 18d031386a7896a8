"""Versions that a project does not state: what to do is named only where it works."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.cli import main

ACCELERATE = "import torch\nfrom accelerate import Accelerator\n\naccelerator = Accelerator()\naccelerator.backward(torch.ones(1, requires_grad=True).sum())\n"
TORCH = 'import torch.distributed as dist\n\ndist.init_process_group("nccl")\n'


def checked(folder: Path, capsys: pytest.CaptureFixture[str], platform: str, text: str, *more: str) -> str:
    (folder / "pyproject.toml").touch()
    (folder / "train.py").write_text(text, "utf-8")
    main(["check", str(folder), "--platform", platform, "--no-cache", *more])
    said = capsys.readouterr()
    return " ".join((said.out + said.err).split())


def test_another_package_is_stated_in_a_file_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = checked(tmp_path, capsys, "rocm-windows", ACCELERATE)
    assert "does not state its accelerate version" in said
    assert "State it in requirements.txt, pyproject.toml or a lock file." in said
    assert "--torch-version" not in said


def test_the_option_is_named_for_torch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = checked(tmp_path, capsys, "windows", TORCH)
    assert "does not state its torch version" in said
    assert "State it in requirements.txt, pyproject.toml or a lock file, or pass --torch-version VERSION." in said
    assert "does not state" not in checked(tmp_path, capsys, "windows", TORCH, "--torch-version", "2.5.1")


def test_each_of_both_has_its_own_remedy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "README.md").write_text("```\ntorchrun train.py\n```\n", "utf-8")
    said = checked(tmp_path, capsys, "rocm-windows", TORCH + ACCELERATE)
    assert (
        "its torch version, so ddp-codemod assumes that any version may run it. State it in requirements.txt, pyproject.toml or a lock file, or pass"
        in said
    )
    assert (
        "its accelerate version, so ddp-codemod assumes that any version may run it. State it in requirements.txt, pyproject.toml or a lock file."
        in said
    )
