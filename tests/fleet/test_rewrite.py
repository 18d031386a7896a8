"""A repository of a list is ported as its own command would port it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from conftest import NCCL

from ddp_codemod.cli import main
from ddp_codemod.fleet.model import Entry, Work
from ddp_codemod.fleet.rewrite import PATCH, TEXT, Known, format_command, rewrite_project

STORE = b'import torch.distributed as dist\ndist.init_process_group("gloo", init_method="env://")\n'
CHOSEN = b"""\
import sys
import torch.distributed as dist


def start(backend="nccl"):
    print({"nccl": 8, "gloo": 2}[backend])
    devices = "cpu:gloo,cuda:%s" % backend
    dist.init_process_group(devices)


if sys.argv[2:]:
    start()
"""
USUAL = Entry("x", "rocm")


@pytest.fixture(scope="module")
def known() -> Known:
    return Known.of(())


def project(folder: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


@pytest.mark.parametrize(
    ("entry", "files"),
    [
        (Entry("x", "rocm", style="portable"), {"train.py": NCCL}),
        (Entry("x", "cuda", rules=("nccl-debug",), env_in="shell"), {"train.py": NCCL, "run.sh": b"torchrun train.py\n"}),
        (Entry("x", "windows", torch_version="2.3.1"), {"train.py": STORE}),
        (Entry("x", "windows", torch_version="2.4.0"), {"train.py": STORE, "requirements.txt": b"torch==2.3.1\n"}),
        (Entry("x", "rocm", unsafe=True), {"train.py": CHOSEN}),
    ],
    ids=lambda value: value.platform if isinstance(value, Entry) else "+".join(value),
)
def test_what_a_line_asks_for_is_what_the_command_of_the_pull_request_does(
    entry: Entry, files: dict[str, bytes], work: Work, known: Known, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    root = project(tmp_path / "x", files)
    outcome, made = rewrite_project(root, entry, work, known)
    usual, other = rewrite_project(root, Entry("x", entry.platform), work, known)
    assert (made.get(PATCH), outcome.edits, outcome.not_applied) != (other.get(PATCH), usual.edits, usual.not_applied)
    assert format_command(entry) in made[TEXT].decode() or not made.get(PATCH)
    monkeypatch.chdir(root)
    main(["diff", *shlex.split(format_command(entry))[2:], "--quiet"])
    assert capsysbinary.readouterr().out == made.get(PATCH, b"")


def test_the_command_of_the_pull_request_says_no_more_than_it_has_to(work: Work, known: Known, tmp_path: Path) -> None:
    _, made = rewrite_project(project(tmp_path, {"train.py": NCCL}), USUAL, work, known)
    assert re.findall(r"ddp-codemod apply \. [^`\n]*", made[TEXT].decode()) == ["ddp-codemod apply . --platform rocm"]


def test_what_a_framework_reads_from_a_file_counts_too(work: Work, known: Known, tmp_path: Path) -> None:
    files = {"train.py": b"from mmengine.runner import Runner\n", "config.py": b'env_cfg = dict(dist_cfg=dict(backend="nccl"))\n'}
    outcome, _ = rewrite_project(project(tmp_path, files), USUAL, work, known)
    assert (outcome.edits, sum(count.sites for count in outcome.sites)) == (1, 1)
