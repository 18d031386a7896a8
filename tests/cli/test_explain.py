"""``explain FILE:LINE``: the way to a decision, step by step."""

from __future__ import annotations

OPTIONS = """import argparse


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dist-backend", default="nccl")
    return parser.parse_args()
"""
TRAIN = """import torch.distributed as dist

from options import parse

args = parse()
dist.init_process_group(backend=args.dist_backend)
"""
FOLDED = """import os

import torch.distributed as dist

backend = "gloo" if os.name == "nt" else "nccl"
dist.init_process_group(backend)
"""


def test_the_steps_to_an_option_in_another_file(project, run) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN, options=OPTIONS)
    done = run("explain", "train.py:6", "--platform", "rocm")
    assert done.code == 0
    call, value, *steps = done.out.splitlines()[1:]
    assert call.split() == ["call", "train.py:6", "dist.init_process_group(backend=args.dist_backend)"]
    assert value.split() == ["value", "backend", "=", "args.dist_backend"]
    assert any(line.startswith("    options.py:6 ") for line in steps)
    assert '  starts at options.py:6  the default of a command-line option  "nccl"' in steps
    assert "  on rocm it gives nccl" in steps
    assert any(line.startswith("  so it is changed: nccl does not work on rocm") for line in steps)


def test_the_line_of_the_origin_explains_the_same(project, run) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN, options=OPTIONS)
    at_the_call = run("explain", "train.py:6", "--platform", "rocm").out
    assert run("explain", "options.py:6", "--platform", "rocm").out == at_the_call


def test_a_folded_condition_is_a_step_and_is_told_once(project, run) -> None:  # type: ignore[no-untyped-def]
    project(train=FOLDED)
    for platform, says in (("rocm", "is false on this platform"), ("windows", "is true on this platform")):
        said = run("explain", "train.py:6", "--platform", platform).out
        assert said.count(f'the condition os.name == "nt" {says}') == 1


def test_a_line_without_a_site(project, run) -> None:  # type: ignore[no-untyped-def]
    project(train=FOLDED)
    done = run("explain", "train.py:1", "--platform", "rocm")
    assert done.code == 0
    assert done.out.startswith("train.py:1: no site")
    assert "ddp-codemod scan train.py --platform rocm" in done.out


def test_json(project, run) -> None:  # type: ignore[no-untyped-def]
    import json

    project(train=FOLDED + "dist.new_group([0], backend='gloo')\n")
    found = json.loads(run("explain", "train.py:6", "--platform", "rocm", "--format", "json").out)
    assert [site["surface"] for site in found["sites"]] == ["torch.init_process_group"]


def test_a_line_of_a_batch_file_is_told_what_it_would_have_to_be(project, run) -> None:  # type: ignore[no-untyped-def]
    folder = project(train=TRAIN, options=OPTIONS.replace("nccl", "gloo"))
    (folder / "run.bat").write_text("@echo off\npython train.py --dist-backend nccl\n")
    done = run("explain", "run.bat:2", "--platform", "rocm")
    assert done.code == 0
    assert "  starts at run.bat:2  an argument on a command line  nccl" in done.out
    assert "the line would have to be: python train.py --dist-backend gloo" in done.out
    assert (folder / "run.bat").read_text() == "@echo off\npython train.py --dist-backend nccl\n"
