"""What a gloo group cannot do, said of a class that no code imports: a file of settings names it, and a program loads it by that."""

from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

RULES = load()
PROGRAM = """\
import torch.distributed as dist
from lib.loading import make

dist.init_process_group("nccl")
make({})
"""
LOADER = """\
import importlib


def make(config):
    module, name = config["target"].rsplit(".", 1)
    return getattr(importlib.import_module(module), name)(**config.get("params", {}))
"""
LAYERS = """\
import torch.distributed as dist


class Layers:
    def forward(self, tensor):
        dist.isend(tensor, 1)
"""


@pytest.mark.parametrize(
    ("settings", "loader", "noted"),
    [
        ("model:\n  target: layers.Layers\n", LOADER, ["layers.py"]),
        (
            "model:\n  _target_: layers.Layers\n",
            "import hydra\n\n\ndef make(config):\n    return hydra.utils.instantiate(config)\n",
            ["layers.py"],
        ),
        ("model:\n  class_path: layers.Layers\n", LOADER, ["layers.py"]),
        ("model:\n  target: others.Layers\n", LOADER, []),
        ("model:\n  target: layers.Layers\n", "def make(config):\n    return config\n", []),
    ],
)
def test_named_in_settings(tmp_path: Path, settings: str, loader: str, noted: list[str]) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/loading.py").write_text(loader, "utf-8")
    (tmp_path / "lib/__init__.py").write_text("", "utf-8")
    (tmp_path / "train.py").write_text(PROGRAM, "utf-8")
    (tmp_path / "layers.py").write_text(LAYERS, "utf-8")
    (tmp_path / "model.yaml").write_text(settings, "utf-8")
    found = survey(Options((tmp_path,), RULES.platforms["rocm"], RULES, root=tmp_path))
    assert [note.name for note in found.advisories if note.rule == "gloo-point-to-point"] == noted


@pytest.mark.parametrize(
    ("argument", "noted"),
    [
        ('"cpu:gloo,cuda:nccl"', []),
        ('f"cpu:gloo,cuda:{name}"', []),
        ("name", ["train.py"]),
        ('f"cpu:gloo,cuda:{name}" if len(sys.argv) > 1 else name', ["train.py"]),
    ],
)
def test_a_mesh_beside_a_group_with_a_backend_for_each_device(tmp_path: Path, argument: str, noted: list[str]) -> None:
    program = f"""\
import sys
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh

name = "nccl"
dist.init_process_group({argument})
mesh = init_device_mesh("cuda", (dist.get_world_size(),))
"""
    (tmp_path / "train.py").write_text(program, "utf-8")
    found = survey(Options((tmp_path,), RULES.platforms["rocm"], RULES, root=tmp_path))
    assert [note.name for note in found.advisories if note.rule == "gloo-device-mesh"] == noted
