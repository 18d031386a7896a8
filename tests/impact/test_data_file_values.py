"""Portable code changes what a file of settings says where the program passes it on, and leaves the file alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.cli import main

READ = 'import json\nimport torch\nimport torch.distributed as dist\n\nwith open("settings.json") as file:\n    cfg = json.load(file)\n'
SETTINGS = '{"backend": "nccl", "lr": 0.1}\n'


def ported(root: Path, text: str, platform: str = "rocm", style: str = "portable") -> tuple[str, str]:
    (root / "train.py").write_text(text, "utf-8")
    (root / "settings.json").write_text(SETTINGS, "utf-8")
    main(["apply", str(root), "--platform", platform, "--style", style, "--unsafe", "--no-cache"])
    return (root / "train.py").read_text("utf-8"), (root / "settings.json").read_text("utf-8")


@pytest.mark.parametrize(
    ("call", "after"),
    [
        (
            'dist.init_process_group(cfg["backend"])',
            '"gloo" if torch.version.hip and cfg["backend"] == "nccl" else cfg["backend"]',
        ),
        (
            'dist.init_process_group(backend=cfg["backend"], rank=0, world_size=1)',
            'backend="gloo" if torch.version.hip and cfg["backend"] == "nccl" else cfg["backend"]',
        ),
    ],
)
def test_the_call_chooses(tmp_path: Path, call: str, after: str) -> None:
    train, settings = ported(tmp_path, f"{READ}{call}\n")
    assert after in train
    assert settings == SETTINGS


def test_once(tmp_path: Path) -> None:
    first, _ = ported(tmp_path, f'{READ}dist.init_process_group(cfg["backend"])\n')
    assert ported(tmp_path, first)[0] == first


def test_pinned_code_changes_the_file(tmp_path: Path) -> None:
    text = f'{READ}dist.init_process_group(cfg["backend"])\n'
    assert ported(tmp_path, text, style="pin") == (text, SETTINGS.replace("nccl", "gloo"))


def test_a_library_that_reads_the_file_itself_leaves_it_for_review(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "import sys\nimport transformers\n\nparser = transformers.HfArgumentParser(transformers.TrainingArguments)\nargs, = parser.parse_json_file('settings.json')\n"
    (tmp_path / "train.py").write_text(text, "utf-8")
    (tmp_path / "settings.json").write_text('{"output_dir": "x", "ddp_backend": "nccl"}\n', "utf-8")
    main(["scan", str(tmp_path), "--platform", "rocm", "--style", "portable", "--no-cache"])
    said = capsys.readouterr().out
    assert "settings.json:1" in said
    assert "cannot hold a condition" in said


def test_a_list_of_choices_does_not_grow(tmp_path: Path) -> None:
    text = (
        "import argparse\nimport torch\nimport torch.distributed as dist\n\nparser = argparse.ArgumentParser()\n"
        'parser.add_argument("--backend", default="nccl", choices=["nccl", "gloo"])\nargs = parser.parse_args()\n'
        "dist.init_process_group(args.backend)\n"
    )
    train, _ = ported(tmp_path, text, "ascend")
    assert 'default="nccl", choices=["nccl", "gloo"]' in train
    assert '"hccl" if hasattr(torch, "npu") and torch.npu.is_available() and args.backend == "nccl" else args.backend' in train


def test_a_list_that_has_the_name_leaves_the_choice_to_the_default(tmp_path: Path) -> None:
    text = (
        "import argparse\nimport torch\nimport torch.distributed as dist\n\nparser = argparse.ArgumentParser()\n"
        'parser.add_argument("--backend", default="nccl", choices=["nccl", "gloo"])\nargs = parser.parse_args()\n'
        "dist.init_process_group(args.backend)\n"
    )
    assert 'default="gloo" if torch.version.hip else "nccl"' in ported(tmp_path, text)[0]
