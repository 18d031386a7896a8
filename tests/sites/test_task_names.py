"""What names and commands say of their task."""

from __future__ import annotations

import pytest

from ddp_codemod.sites.task_names import is_other_task, is_training_name


@pytest.mark.parametrize(
    ("path", "trains"),
    [
        ("train.py", True),
        ("s2_train_v3_lora.py", True),
        ("tools/finetuning.py", True),
        ("scripts/train/a.sh", True),
        ("training/run.py", True),
        ("main.py", True),
        ("main_moco.py", True),
        ("train_and_eval.py", True),
        ("training/eval.py", False),
        ("main_sampling_fid.py", False),
        ("pretrained/convert.py", False),
        ("constrain.sh", False),
        ("mainly.py", False),
        ("run.py", False),
    ],
)
def test_a_name_says_whether_it_trains(path: str, trains: bool) -> None:
    assert is_training_name(path) is trains


@pytest.mark.parametrize(
    ("words", "other"),
    [
        ("main.py --dist-eval --eval-crop-ratio 1.0", False),
        ("train.py --evaluation_strategy steps --do_eval", False),
        ("train.py --test_file data/test.txt --valid-data=valid.json", False),
        ("main.py --eval", True),
        ("main.py --eval_only", True),
        ("main.py --resume last.pt", True),
        ("main.py --mode test", True),
        ("main.py --mode=test", True),
        ("run.py args/gsm_eval.yaml", True),
        ("eval.py", True),
    ],
)
def test_a_command_says_whether_it_trains(words: str, other: bool) -> None:
    assert is_other_task(words.split()) is other
