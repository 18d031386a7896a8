"""Frameworks that pick the backend themselves: what does work is an item at each call, and only where their choice does not work."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.messages import render
from ddp_codemod.model import Action
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

RULES = load()
COLOSSAL = 'import colossalai\n\ncolossalai.launch_from_torch(backend="nccl")\ncolossalai.launch_from_torch()\n'
DETECTRON = 'from detectron2.engine import launch\n\nlaunch(print, 2, dist_url="auto")\n'
COMPOSER = 'from composer import Trainer\n\ntrainer = Trainer(device="gpu")\n'
MMENGINE = 'from mmengine.dist import init_dist\n\ninit_dist("pytorch", backend="nccl")\n'


def said(tmp_path: Path, text: str, platform: str) -> list[str]:
    (tmp_path / "train.py").write_text(text, encoding="utf-8")
    found = survey(Options((tmp_path,), RULES.platforms[platform], RULES, root=tmp_path))
    assert not found.edits
    reviewed = [one for one in found.decisions if one.action is Action.REVIEW]
    assert all(text.splitlines()[found.sources["train.py"].position(one.place.start)[0] - 1].strip() for one in reviewed)
    return [dict(one.reason.args)["instead"] for one in reviewed]


@pytest.mark.parametrize(
    ("text", "platform", "word"),
    [
        (COLOSSAL, "rocm", "set_accelerator"),
        (COLOSSAL, "xpu", "set_accelerator"),
        (DETECTRON, "windows", "init_process_group"),
        (DETECTRON, "ascend", "init_process_group"),
        (COMPOSER, "mixed-gpu", "DeviceGPU"),
    ],
)
def test_what_does_work_is_said_where_the_call_stands(tmp_path: Path, text: str, platform: str, word: str) -> None:
    found = said(tmp_path, text, platform)
    assert len(found) == sum(text.count(call) for call in ("launch_from_torch(", "launch(", "Trainer("))
    assert all(word in instead for instead in found)


@pytest.mark.parametrize(
    ("text", "platform"),
    [(COLOSSAL, "ascend"), (COLOSSAL, "cuda"), (DETECTRON, "cpu"), (COMPOSER, "hpu"), (MMENGINE, "ascend"), (MMENGINE, "musa")],
)
def test_nothing_is_said_where_their_own_choice_works(tmp_path: Path, text: str, platform: str) -> None:
    assert said(tmp_path, text, platform) == []


HUGGING = """import transformers


def train():
    parser = transformers.HfArgumentParser(transformers.TrainingArguments)
    (training_args,) = parser.parse_args_into_dataclasses()
    transformers.Trainer(args=training_args).train()


train()
"""
SETTINGS = '{"zero_optimization": {"stage": 2}}\n'
START = "deepspeed train.py --deepspeed ds.json\n"


def items(tmp_path: Path, **files: str) -> list[str]:
    """What is said for a person on windows of a program that parses transformers' arguments, beside these files."""
    for name, text in {"train_py": HUGGING, **files}.items():
        (tmp_path / name.replace("_", ".")).write_text(text, "utf-8")
    found = survey(Options((tmp_path,), RULES.platforms["windows"], RULES, root=tmp_path))
    return [render(one.reason) for one in found.decisions if one.action is Action.REVIEW]


def test_files_of_settings_beside_which_nothing_heeds_it_are_named_in_one_sentence(tmp_path: Path) -> None:
    (one,) = items(tmp_path, a_json=SETTINGS)
    assert one.startswith("This file sets zero_optimization.stage: 2; runs that load this file (via --deepspeed")
    (one,) = items(tmp_path, a_json=SETTINGS, b_json=SETTINGS)
    assert one.startswith("This file sets zero_optimization.stage: 2 (so does b.json:1); runs that load one of them")


def test_starts_beside_which_nothing_heeds_it_are_named_in_one_sentence(tmp_path: Path) -> None:
    (one,) = items(tmp_path, a_sh=START)
    assert one.startswith(
        "--deepspeed makes Hugging Face Transformers ignore ddp_backend. To use gloo: before parsing the arguments"
    )
    (one,) = items(tmp_path, a_sh=START, b_sh=START, c_sh="python train.py\n")
    assert one.startswith("--deepspeed (also at b.sh:1) makes Hugging Face Transformers ignore ddp_backend.")
    assert one.endswith("under DeepSpeed deepspeed.init_distributed(dist_backend=...).")
