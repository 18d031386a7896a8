"""What the names of programs and scripts, and the words of a command, say of their task: training, or something else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import PurePosixPath

_TRAINING = re.compile(r"(?i)(?<!s)train(?!ed)|fine_?tun")  # not constrain, nor the folder "pretrained"
_MAIN = re.compile(r"(?i)main(?![a-z])")
_OTHER = re.compile(
    r"(?i)(?<![a-z])(?:demo|eval\w*|export\w*|help|infer\w*|predict\w*|resume\w*|sampl\w*|test\w*|valid\w*)(?![a-z])"
)
# an option that is all about another task; others only set something for it, as --eval-crop-ratio does
_OTHER_OPTION = re.compile(
    r"(?i)--?(?:run[_-])?(?:demo|eval[a-z]*|export|help|infer[a-z]*|predict|resume[a-z]*|sampl[a-z]*|test|valid[a-z]*)(?:[_-]only)?"
)


def is_training_name(path: str) -> bool:
    """Whether a program or script trains, by its own name, or by its folders where its own name says nothing else."""
    stem = PurePosixPath(path).stem
    if _TRAINING.search(stem):
        return True
    return not _OTHER.search(stem) and (_MAIN.match(stem) or _TRAINING.search(path)) is not None


def is_other_task_name(path: str) -> bool:
    """Whether a program or script does something else than train, by its path."""
    return _OTHER.search(path) is not None


def is_other_task(words: Sequence[str]) -> bool:
    """Whether a command does something else than train: what it runs, or a value that is no data for it, or a whole option."""
    for before, word in pairwise(("", *words)):
        option, _, value = word.partition("=")
        if not word.startswith("-"):
            option, value = before if before.startswith("-") and "=" not in before else "", word
        elif _OTHER_OPTION.fullmatch(option):
            return True
        if _OTHER.search(value) and not _OTHER.search(option):
            return True
    return False
