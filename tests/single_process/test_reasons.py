"""What is said of an entry: the true reason, and each thing once."""

from __future__ import annotations

from pathlib import Path

from ddp_codemod.messages import render as sentence
from ddp_codemod.model import Action
from tests.single_process.test_entry_survey import HEAD, found, start

SETUP = "import torch.distributed as dist\n\n\ndef setup(**options):\n    dist.init_process_group('nccl', **options)\n"


def test_a_line_that_is_the_start_itself_is_said_once(tmp_path: Path) -> None:
    of = found(tmp_path, train=SETUP + "\n\nsetup(store=store())\nnet(1).backward()\n")
    assert [one.action for one in of.decisions].count(Action.REVIEW) == 1
    assert "**" in sentence(start(of).reason)


def test_where_only_tests_lead_to_it_they_are_named(tmp_path: Path) -> None:
    of = found(tmp_path, trainer=SETUP, test_trainer="from trainer import setup\n\n\ndef test_setup():\n    setup()\n")
    said = sentence(start(of).reason)
    assert "test_trainer.py" in said
    assert "setup" in said


def test_where_nothing_leads_to_it_the_name_that_was_looked_for_is_said(tmp_path: Path) -> None:
    said = sentence(start(found(tmp_path, trainer=SETUP, run="import trainer\n\nprint(trainer)\n")).reason)
    assert "setup" in said
    assert "tests" not in said


def test_a_choice_of_launcher_is_not_given_as_the_condition(tmp_path: Path) -> None:
    utils = "import torch.distributed as dist\n\n\ndef setup(launcher):\n    if launcher == 'pytorch':\n        dist.init_process_group('nccl')\n"
    train = "from utils import setup\n\nif options().distributed:\n    setup('pytorch')\nnet(1).backward()\n"
    said = sentence(start(found(tmp_path, utils=utils, train=train)).reason)
    assert "pytorch" not in said
    assert "distributed" in said


def test_a_condition_is_told_the_way_round_that_it_is(tmp_path: Path) -> None:
    setup = "import torch.distributed as dist\n\nargs = options()\n"
    branches = "if args.launcher == 'none':\n    args.distributed = False\nelse:\n    dist.init_process_group('nccl')\n"
    said = sentence(start(found(tmp_path, train=setup + branches + "net(1).backward()\n")).reason)
    assert said == "runs only where args.launcher == 'none' is false (train.py:4)"
    plain = "if args.distributed:\n    dist.init_process_group('nccl')\n"
    said = sentence(start(found(tmp_path, train=setup + plain + "net(1).backward()\n")).reason)
    assert said == "runs only where args.distributed is true (train.py:4)"


def test_what_needs_the_group_by_its_name_is_named_with_its_line(tmp_path: Path) -> None:
    train = HEAD + "import graphs\n\n\ndist.init_process_group('nccl')\nnet(graphs.DistributedItems(1)).backward()\n"
    of = found(tmp_path, train=train)
    assert not of.edits
    assert "graphs.DistributedItems (train.py:9)" in sentence(start(of).reason)
