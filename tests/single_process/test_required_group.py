"""What needs a group in one of a program's ways only is for a person: the other ways may be all that one process takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.messages import render as sentence
from ddp_codemod.model import Action
from tests.single_process.test_entry_survey import found, start

HEAD = (
    "import argparse\nimport torch.distributed as dist\nfrom torch.distributed.fsdp import FullStateDictConfig\n"
    "from torch.distributed.fsdp import FullyShardedDataParallel as FSDP, MixedPrecision\n\n"
    "policy = FullStateDictConfig(offload_to_cpu=True)\n\n\n"
)
SAVE = "def save(model):\n    with FSDP.state_dict_type(model, 1, policy):\n        model.state_dict()\n\n\n"
TRAIN = (
    "def main(args, model):\n"
    '    dist.init_process_group("nccl")\n'
    "    for batch in data():\n"
    "        model(batch).backward()\n"
    "    {more}\n"
    "\n\nmain(None, None)\n"
)


@pytest.mark.parametrize(
    "more",
    [
        'if args.engine == "fsdp":\n        save(model)',
        'if args.engine == "ddp":\n        pass\n    elif args.engine == "fsdp":\n        model = FSDP(model)\n        save(model)',
        "if args.shards:\n        save(model)\n    if args.shards and batch:\n        save(model)",
    ],
)
def test_a_call_under_a_condition_is_a_way(tmp_path: Path, more: str) -> None:
    of = found(tmp_path, train=HEAD + SAVE + TRAIN.replace("{more}", more))
    assert start(of).action is Action.REVIEW
    assert "FullyShardedDataParallel" in sentence(start(of).reason)
    assert "torchrun --nproc_per_node=1" in sentence(start(of).reason)
    assert not of.edits


@pytest.mark.parametrize(
    "more",
    [
        "save(model)",
        'if args.engine == "fsdp":\n        save(model)\n    save(model)',  # without one, too
        "if batch == 3:\n        save(model)",  # a number chooses no way for a whole run
        'if args.engine == "fsdp":\n        save(model)\n    FSDP(model)',
    ],
)
def test_what_is_done_in_any_case_stays(tmp_path: Path, more: str) -> None:
    of = found(tmp_path, train=HEAD + SAVE + TRAIN.replace("{more}", more))
    assert start(of).action is Action.KEEP
    assert "requires a process group" in sentence(start(of).reason)


def test_the_condition_of_the_start_itself_is_none(tmp_path: Path) -> None:
    both = TRAIN.replace("    dist.init", "    if args.many:\n        dist.init").replace(
        "{more}", "if args.many:\n        save(model)"
    )
    of = found(tmp_path, train=HEAD + SAVE + both)
    assert start(of).action is Action.KEEP


def test_settings_of_fsdp_ask_no_group(tmp_path: Path) -> None:
    of = found(tmp_path, train=HEAD + TRAIN.replace("{more}", "print(MixedPrecision())"))
    assert start(of).action is Action.EDIT
