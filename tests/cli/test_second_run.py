"""``check --after-apply`` and ``check --add-ignore``: what a second run would say, and how it is told to say no more."""

from __future__ import annotations

import pytest

FOUND = """import sys
import torch.distributed as dist

dist.init_process_group("nccl")
dist.new_group(
    [0],
    backend='ours',  # ours
)
OTHER = {"kind": "nccl"}
"""
TEXT = '''import torch.distributed as dist

NOTE = """ nccl
"""; dist.init_process_group("nccl")
dist.new_group([0], backend= \\
    "nccl" \\
    )
x = dict(kind="nccl"
         "", b=1)
'''


def test_a_second_run_is_told_of_without_a_first(project, run) -> None:  # type: ignore[no-untyped-def]
    root = project(train=FOUND)
    words = (".", "--platform", "rocm", "--strict")
    done = run("check", *words, "--after-apply")
    assert "As apply would leave the project, with 1 edit in 1 file" in done.err
    assert (root / "train.py").read_text() == FOUND
    run("apply", ".", "--platform", "rocm")
    again = run("check", *words)
    assert (done.code, done.out) == (again.code, again.out)
    assert done.err.partition("):\n")[2].replace(" --after-apply", "") in again.err


def test_after_apply_counts_unsafe_edits_where_they_are_asked_for(project, run) -> None:  # type: ignore[no-untyped-def]
    project(train='import torch.distributed as dist\n\ndist.init_process_group("nccl")\n')
    assert run("check", ".", "--platform", "rocm").code == 1
    assert run("check", ".", "--platform", "rocm", "--after-apply").code == 0


def test_each_line_with_a_finding_gets_a_comment_that_is_heeded(project, run) -> None:  # type: ignore[no-untyped-def]
    root = project(train=FOUND, right='import torch.distributed as dist\n\ndist.init_process_group("gloo")\n')
    right = (root / "right.py").read_bytes()
    done = run("check", ".", "--platform", "rocm", "--add-ignore")
    assert done.code == 0, done.out + done.err
    assert "3 comments written in 1 file" in done.out
    lines = (root / "train.py").read_text().splitlines()
    assert lines[3] == 'dist.init_process_group("nccl")  # ddp-codemod: ignore[unsupported-backend] TODO: say why'
    assert lines[6].endswith(",  # ours  # ddp-codemod: ignore[unsupported-backend] TODO: say why")
    assert (root / "right.py").read_bytes() == right
    assert run("check", ".", "--platform", "rocm", "--strict").code == 0
    assert run("check", ".", "--platform", "rocm", "--add-ignore").out == "Nothing is found, so no comment is needed.\n"
    assert run("undo", ".").code == 0
    assert (root / "train.py").read_text() == FOUND


def test_line_ends_that_take_no_comment_are_left_and_named(project, run) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TEXT)
    done = run("check", ".", "--platform", "rocm", "--add-ignore")
    assert done.code == 1
    assert "No comment can quiet 2 findings." in done.out
    assert "  train.py:6: unsupported-backend: " in done.out
    assert "  train.py:8: uncovered: " in done.out
    end = '"""; dist.init_process_group("nccl")'
    assert (root / "train.py").read_text() == TEXT.replace(
        end, f"{end}  # ddp-codemod: ignore[unsupported-backend] TODO: say why"
    )


def test_an_entry_of_yaml_gets_one_and_of_json_none(project, run) -> None:  # type: ignore[no-untyped-def]
    root = project(train="print('nothing')\n")
    (root / "a.yaml").write_text("dist:\n  backend: nccl\n  other: 1\n")
    (root / "b.json").write_text('{"dist": {"backend": "nccl"}}\n')
    (root / "train.py").write_text(
        "import json\nimport yaml\nimport torch.distributed as dist\n\n"
        "config = yaml.safe_load(open('a.yaml'))\ndist.init_process_group(config['dist']['backend'])\n"
        "config = json.load(open('b.json'))\ndist.new_group(backend=config['dist']['backend'])\n"
    )
    before = (root / "b.json").read_bytes()
    run("check", ".", "--platform", "rocm", "--add-ignore")
    assert (root / "b.json").read_bytes() == before
    assert (root / "a.yaml").read_text() == (
        "dist:\n  backend: nccl  # ddp-codemod: ignore[unsupported-backend] TODO: say why\n  other: 1\n"
    )


@pytest.mark.parametrize("words", [("--after-apply",), ("--format", "json")])
def test_comments_are_written_by_themselves(project, run, words: tuple[str, ...]) -> None:  # type: ignore[no-untyped-def]
    project(train=FOUND)
    assert run("check", ".", "--platform", "rocm", "--add-ignore", *words).code == 2


TWO_RULES = """import torch


def train(net, x):
    device = "cuda"
    net.to(device)(torch.ones(1, device=device)).sum().backward()
    torch.load("a.pt", map_location=torch.device(device))


train(torch.nn.Linear(1, 1), 0)
"""
ASKED = """import torch


def describe(net, x):
    if torch.cuda.is_available():
        print(torch.cuda.get_device_capability())
    net.cuda()(x).sum().backward()


describe(torch.nn.Linear(1, 1), torch.ones(1))
"""


def test_a_comment_names_each_rule_that_a_line_is_about(project, run) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TWO_RULES)
    done = run("check", ".", "--platform", "ascend", "--add-ignore")
    assert "1 comment written in 1 file" in done.out
    assert "No comment can quiet" not in done.said
    line = (root / "train.py").read_text().splitlines()[4]
    assert line.startswith('    device = "cuda"  # ddp-codemod: ignore[device-')
    assert line.count("device-") >= 2
    assert run("check", ".", "--platform", "ascend", "--strict").code == 0
    run("undo")
    assert (root / "train.py").read_text() == TWO_RULES


def test_what_needs_review_is_said_of_the_second_run_too(project, run) -> None:  # type: ignore[no-untyped-def]
    project(train=ASKED)
    said = run("check", ".", "--platform", "ascend", "--unsafe", "--after-apply").said
    assert "Left to do by hand: 1 place needs review" in said
    assert "train.py:" in said
