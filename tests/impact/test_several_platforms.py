"""Portable patches for several platforms, one after the other: each leaves those before it as they are."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from ddp_codemod import plan
from ddp_codemod.cli import main

START = "import json\nimport os\n\nimport torch\nimport torch.distributed as dist\n\n\n"
READ = 'def read():\n    with open("settings.json") as file:\n        return json.load(file)\n\n\n'
GROUP = START + READ + 'dist.init_process_group(read()["backend"], init_method="file:///tmp/x", rank=0, world_size=1)\n'
NAMED = (
    START + READ + 'cfg = read()\ndist.init_process_group(cfg["backend"], init_method="file:///tmp/x", rank=0, world_size=1)\n'
)

LAUNCHED = """
import argparse
import torch
import torch.distributed as dist
import yaml


def init_dist(launcher, backend="nccl", **options):
    dist.init_process_group(backend=backend, **options)


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("-opt", type=str, required=True)
    args = parser.parse_args()
    with open(args.opt) as file:
        opt = yaml.safe_load(file)
    if args.launcher == "slurm" and "dist_params" in opt:
        init_dist("slurm", **opt["dist_params"])
    else:
        init_dist("pytorch")


parse()
"""


def port(root: Path, platform: str, style: str = "portable") -> str:
    main(["apply", str(root), "--platform", platform, "--style", style, "--unsafe", "--no-cache"])
    return (root / "train.py").read_text("utf-8")


def start(root: Path, text: str = NAMED) -> None:
    (root / "train.py").write_text(text, "utf-8")
    (root / "settings.json").write_text('{"backend": "nccl"}\n', "utf-8")


def arriving(root: Path, platform: str) -> set[str]:
    return {text for site in plan(root, platform=platform).sites if site.parameter == "backend" for text in site.resolves_to}


def test_a_patch_for_one_machine_does_not_port_to_another(tmp_path: Path) -> None:
    start(tmp_path)
    port(tmp_path, "rocm")
    assert arriving(tmp_path, "windows") == {"gloo", "nccl"}
    assert plan(tmp_path, platform="windows").edits


@pytest.mark.parametrize("order", [*permutations(["rocm", "windows"])])
def test_the_condition_grows(tmp_path: Path, order: tuple[str, str]) -> None:
    start(tmp_path)
    for platform in order:
        text = port(tmp_path, platform)
    conditions = {"rocm": "torch.version.hip", "windows": "not dist.is_nccl_available()"}
    asked = " or ".join(conditions[platform] for platform in order)
    assert f'("gloo" if ({asked}) and cfg["backend"] == "nccl" else cfg["backend"], ' in text
    assert [arriving(tmp_path, one) for one in ("rocm", "windows", "cuda")] == [{"gloo"}, {"gloo"}, {"nccl"}]
    assert [port(tmp_path, platform) for platform in order] == [text, text]


def test_another_name_is_chosen_around_the_first_choice(tmp_path: Path) -> None:
    start(tmp_path)
    port(tmp_path, "rocm")
    text = port(tmp_path, "ascend")
    assert "torch.version.hip and" in text
    assert [arriving(tmp_path, one) for one in ("rocm", "ascend", "cuda")] == [{"gloo"}, {"hccl"}, {"nccl"}]
    assert port(tmp_path, "rocm") == text


def test_a_call_in_the_argument_is_made_once(tmp_path: Path) -> None:
    start(tmp_path, GROUP)
    port(tmp_path, "rocm")
    text = port(tmp_path, "windows")
    assert text.count("read()[") == 1
    assert [arriving(tmp_path, one) for one in ("rocm", "windows", "cuda")] == [{"gloo"}, {"gloo"}, {"nccl"}]


def test_a_pinned_name_drops_the_condition(tmp_path: Path) -> None:
    start(tmp_path, NAMED + 'print({"nccl": 1, "gloo": 2}[cfg["backend"]])\n')
    port(tmp_path, "rocm")
    assert '"gloo" if cfg["backend"] == "nccl" else cfg["backend"]' in port(tmp_path, "windows", "pin")


def test_every_file_whose_name_a_call_changes_is_traced(tmp_path: Path) -> None:
    start(tmp_path, LAUNCHED)
    for name in ("one", "two", "three"):
        (tmp_path / f"{name}.yaml").write_text(f"name: {name}\ndist_params:\n  backend: nccl\n", "utf-8")
    port(tmp_path, "rocm")
    assert [one.path for one in plan(tmp_path, platform="rocm").uncovered] == []
