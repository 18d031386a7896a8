"""Addresses in files of settings: each is edited, but for one line in the program where there are more than anybody wants changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod import plan

PROGRAM = """\
import os
import sys

import torch.distributed as dist
import yaml

config = yaml.safe_load(open(sys.argv[1]))
dist.init_process_group("gloo", init_method=config["run"]["dist_url"])
"""


def project(folder: Path, number: int, url: str = "env://") -> Path:
    (folder / "train.py").write_text(PROGRAM, "utf-8")
    (folder / "configs").mkdir()
    for one in range(number):
        (folder / "configs" / f"{one}.yaml").write_text(f'run:\n  epochs: {one}\n  dist_url: "{url}"\n', "utf-8")
    return folder


@pytest.mark.parametrize("url", ["env://", "tcp://127.0.0.1:29500"])
def test_one_line_takes_the_place_of_hundreds(tmp_path: Path, url: str) -> None:
    made = plan(project(tmp_path, 60, url), platform="windows", torch_version="2.5.1")
    assert [(edit.path, edit.line, edit.after, edit.applicability) for edit in made.edits] == [
        ("train.py", 8, f'os.environ["USE_LIBUV"] = "0"\n{PROGRAM.splitlines()[-1]}', "safe")
    ]


def test_a_few_are_edited_where_they_stand(tmp_path: Path) -> None:
    made = plan(project(tmp_path, 12), platform="windows", torch_version="2.5.1")
    assert [(edit.path.partition("/")[0], edit.after) for edit in made.edits] == [
        ("configs", '  dist_url: "env://?use_libuv=0"')
    ] * 12


@pytest.mark.parametrize(("platform", "version"), [("windows", "2.3.1"), ("rocm", "2.5.1")])
def test_nothing_is_where_libuv_does_not_matter(tmp_path: Path, platform: str, version: str) -> None:
    assert plan(project(tmp_path, 60), platform=platform, torch_version=version).edits == ()


def test_nothing_is_where_the_addresses_have_the_query(tmp_path: Path) -> None:
    assert plan(project(tmp_path, 60, "env://?use_libuv=0"), platform="windows", torch_version="2.5.1").edits == ()
