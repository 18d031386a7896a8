"""What an entry comes to: one edit or none, what was seen of it, and what a person is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.edits.render import render
from ddp_codemod.messages import render as sentence
from ddp_codemod.model import Action, Applicability, Decision, Survey
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

RULES = load()
HEAD = "import torch.distributed as dist\nfrom torch.nn.parallel import DistributedDataParallel as DDP\n\n\n"
RUN = HEAD + (
    "def run(rank, world_size, net):\n"
    '    dist.init_process_group("nccl", rank=rank, world_size=world_size)\n'
    "    net = DDP(net, device_ids=[rank])\n"
    "    for batch in data():\n"
    "        net({batch}).backward()\n"
    "    {more}\n"
    "\n\nrun(0, 1, None)\n"
)


def found(root: Path, paths: tuple[str, ...] = (".",), **files: str) -> Survey:
    for name, text in files.items():
        (root / f"{name}.py").write_text(text, "utf-8")
    return survey(Options(tuple(root / path for path in paths), RULES.platforms["single-gpu"], RULES, root=root))


def start(of: Survey) -> Decision:
    return next(
        one for one in of.decisions if one.surface.endswith("init_process_group") and one.reason.key.startswith("single-")
    )


def program(batch: str = "batch.cuda()", more: str = "dist.barrier()") -> str:
    return RUN.replace("{batch}", batch).replace("{more}", more)


def test_an_entry_whose_every_use_was_seen_is_safe(tmp_path: Path) -> None:
    of = found(tmp_path, train=program())
    assert start(of).action is Action.EDIT
    assert {edit.applicability for edit in of.edits} == {Applicability.SAFE}
    assert "every use is accounted for" in sentence(start(of).reason)


def test_all_edits_of_an_entry_are_one_group(tmp_path: Path) -> None:
    of = found(tmp_path, train=program())
    assert len(of.edits) > 1
    assert len({edit.group for edit in of.edits}) == 1


def test_where_one_edit_cannot_be_made_none_is(tmp_path: Path) -> None:
    of = found(tmp_path, train=program(more="dist.all_to_all(a, b)"))
    assert not of.edits
    assert start(of).action is Action.REVIEW
    lines = {of.sources[one.place.name].position(one.place.start)[0] for one in of.decisions if one.action is Action.REVIEW}
    assert lines == {6, 10}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (program(batch="batch"), "net"),  # DistributedDataParallel alone moves the batch to the device
        (program(more="__import__(name())"), "__import__"),
        ("import importlib\n" + program(more="importlib.import_module(name())"), "importlib.import_module"),
    ],
)
def test_what_was_not_seen_makes_it_unsafe_and_is_told(tmp_path: Path, text: str, said: str) -> None:
    of = found(tmp_path, train=text)
    assert {edit.applicability for edit in of.edits} == {Applicability.UNSAFE}
    assert said in sentence(start(of).reason)
    assert not render(of, unsafe=False).changes
    assert render(of, unsafe=True).changes


def test_a_file_outside_the_paths_stops_the_edit(tmp_path: Path) -> None:
    helper = HEAD + "def rank():\n    return dist.get_rank()\n"
    of = found(tmp_path, ("train.py",), helper=helper, train="from helper import rank\n" + program(more="print(rank())"))
    assert not of.edits
    assert start(of).action is Action.REVIEW


def test_two_entries_share_what_both_need(tmp_path: Path) -> None:
    helper = HEAD + "def rank():\n    return dist.get_rank()\n"
    one = "from helper import rank\n" + program(more="print(rank())")
    of = found(tmp_path, helper=helper, one=one, two=one)
    shared = [edit for edit in of.edits if edit.name == "helper.py"]
    assert len(shared) == 1
    assert len(shared[0].groups) == 2
    assert len(render(of, unsafe=False).changes) == 3


def test_what_no_program_reaches_is_not_asked_about(tmp_path: Path) -> None:
    other = HEAD + "def unused(parts, value):\n    dist.all_to_all(parts, value)\n\n\ndef used():\n    dist.barrier()\n"
    of = found(tmp_path, other=other, train="from other import used\n" + program(more="used()"))
    assert start(of).action is Action.EDIT
    text = next(change.after.decode() for change in render(of, unsafe=False).changes if change.name == "other.py")
    assert "    dist.all_to_all(parts, value)\n" in text
    assert "    if dist.is_initialized():\n        dist.barrier()\n" in text


def test_what_runs_only_with_a_group_stays(tmp_path: Path) -> None:
    other = HEAD + (
        "def is_on():\n    return dist.is_available() and dist.is_initialized()\n\n\n"
        "class Gather:\n    @staticmethod\n    def apply(x):\n        dist.all_to_all(x, x)\n\n\n"
        "def used(x):\n    if not is_on():\n        return x\n    return Gather.apply(x)\n"
    )
    of = found(tmp_path, other=other, train="from other import used\n" + program(more="used(1)"))
    assert start(of).action is Action.EDIT
    assert {edit.name for edit in of.edits} == {"train.py"}
