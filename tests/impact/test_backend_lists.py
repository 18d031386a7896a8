"""Assertions on the backend of a group: they take the new name where they would end the program with it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.model import TIED, Applicability
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import Survey, survey

CHECK = """import torch.distributed as dist


def kind(group):
    backend = dist.get_backend(group)
    assert {check}
    return backend


dist.init_process_group({group})
print(kind(dist.group.WORLD))
"""


def look(folder: Path, platform: str, check: str, group: str = '"nccl"') -> Survey:
    (folder / "train.py").write_text(CHECK.format(check=check, group=group), "utf-8")
    rules = load()
    return survey(Options((folder,), rules.platforms[platform], rules))


def rewritten(found: Survey, folder: Path) -> str:
    """The text of the check behind the edits of its line."""
    text = (folder / "train.py").read_text("utf-8")
    for edit in sorted((one for one in found.edits if text.count("\n", 0, one.start) == 5), key=lambda one: -one.start):
        text = text[: edit.start] + (edit.after or "") + text[edit.end :]
    return text.splitlines()[5].strip().removeprefix("assert ")


@pytest.mark.parametrize(
    ("check", "expected"),
    [
        ('backend in ["gloo", "nccl"]', 'backend in ["gloo", "nccl", "hccl"]'),
        ("backend in ('nccl', 'gloo')", "backend in ('nccl', 'gloo', 'hccl')"),
        ('backend == "nccl"', 'backend in ("nccl", "hccl")'),
        ('backend == "nccl", "no NCCL"', 'backend in ("nccl", "hccl"), "no NCCL"'),
        ('group and backend in {"nccl", "gloo"}', 'group and backend in {"nccl", "gloo", "hccl"}'),
    ],
)
def test_a_check_that_fails_for_the_new_name_takes_it(tmp_path: Path, check: str, expected: str) -> None:
    found = look(tmp_path, "ascend", check)
    assert rewritten(found, tmp_path) == expected
    assert not [note for note in found.advisories if note.rule == TIED]


@pytest.mark.parametrize(
    ("platform", "check", "group"),
    [
        ("ascend", 'backend in ["gloo", "nccl", "hccl"]', '"nccl"'),
        ("cpu", 'backend in ["gloo", "nccl"]', '"nccl"'),
        ("ascend", 'backend in ["gloo", "nccl"]', '"hccl"'),  # nothing switches
        ("ascend", 'backend in ["gloo", "mpi"]', '"nccl"'),  # it fails already
        ("ascend", 'backend != "gloo"', '"nccl"'),
        ("ascend", "backend in dist.Backend.backend_list", '"nccl"'),
        ("ascend", 'backend in ["nccl", name]', '"nccl"'),
        ("cuda", 'backend == "nccl"', '"nccl"'),
        ("cpu", 'backend == "nccl"', '"nccl"'),  # the code may need NCCL
    ],
)
def test_any_other_check_stays(tmp_path: Path, platform: str, check: str, group: str) -> None:
    assert rewritten(look(tmp_path, platform, check, group), tmp_path) == check


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        ('"nccl"', {Applicability.SAFE}),
        ('"nccl")\ndist.init_process_group = print\nprint("again"', {Applicability.UNSAFE}),  # nor is the edit of the group safe
    ],
)
def test_a_check_is_as_safe_as_the_group_that_it_is_about(tmp_path: Path, group: str, expected: set[Applicability]) -> None:
    found = look(tmp_path, "ascend", 'backend in ["gloo", "nccl"]', group)
    assert {edit.applicability for edit in found.edits if "hccl" in (edit.after or "")} == expected
    assert rewritten(found, tmp_path) == 'backend in ["gloo", "nccl", "hccl"]'


def test_a_check_of_what_somebody_chose_stays(tmp_path: Path) -> None:
    text = 'import torch.distributed as dist\n\n\ndef setup(backend="nccl"):\n    assert backend == "nccl"\n    dist.init_process_group(backend)\n'
    (tmp_path / "train.py").write_text(text, "utf-8")
    rules = load()
    found = survey(Options((tmp_path,), rules.platforms["ascend"], rules))
    assert not [edit for edit in found.edits if text.count("\n", 0, edit.start) == 4]


def test_the_program_goes_past_the_check(tmp_path: Path) -> None:
    text = CHECK.format(check='backend in ["nccl", "mpi"]', group='"nccl", rank=0, world_size=1, store=dist.HashStore()')
    (tmp_path / "train.py").write_text(text, "utf-8")
    run = [sys.executable, "-m", "ddp_codemod", "apply", str(tmp_path), "--platform", "cpu", "--no-cache", "-q"]
    subprocess.run(run, check=True, capture_output=True)
    assert 'assert backend in ["nccl", "mpi", "gloo"]' in (tmp_path / "train.py").read_text("utf-8")
