"""A fix that only some versions know names them, unless the project states that it has one of these."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.messages import render
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

RULES = load()
FIELDS = """from dataclasses import dataclass

import transformers
from transformers import HfArgumentParser, Trainer


@dataclass
class TrainingArguments(transformers.TrainingArguments):
    length: int = 1


(args,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()
Trainer(args=args).train()
"""
CALL = """from accelerate import Accelerator


def train(model, loader):
    accelerator = Accelerator()
    model, loader = accelerator.prepare(model, loader)
"""
TORCH = "import torch.distributed as dist\n\ndist.init_process_group('nccl')\n"


def told(root: Path, program: str, stated: str, lang: str = "en") -> str:
    (root / "train.py").write_text(program, "utf-8")
    (root / "requirements.txt").write_text(stated, "utf-8")
    found = survey(Options((root,), RULES.platforms["rocm"], RULES, root=root))
    assert found.edits
    return " | ".join(render(edit.reason, lang) for edit in found.edits)


@pytest.mark.parametrize(
    ("program", "package", "newer"),
    [(FIELDS, "transformers", "4.40.0"), (CALL, "accelerate", "0.30.0")],
)
def test_the_versions_are_named_once_where_none_is_stated(tmp_path: Path, program: str, package: str, newer: str) -> None:
    said = told(tmp_path, program, package)
    assert said.count(f"; this fix needs {package}>=") == said.count("fails: ") >= 1
    assert "此修改需要" in told(tmp_path, program, package, "zh")
    assert "this fix needs" not in told(tmp_path, program, f"{package}=={newer}")


def test_a_fix_that_every_version_knows_names_none(tmp_path: Path) -> None:
    assert "this fix needs" not in told(tmp_path, TORCH, "torch")
