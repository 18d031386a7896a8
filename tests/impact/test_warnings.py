"""Warnings of a platform: said where models on a device go through a group that takes tensors of the CPU only."""

from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

GLOO = 'import torch.distributed as dist\n\n\ndef setup():\n    dist.init_process_group("gloo")\n'
WRAP = "from torch.nn.parallel import DistributedDataParallel as DDP\n\n\n"
KEYWORD = WRAP + "def train(model, rank):\n    return DDP(model, device_ids=[rank])\n"
MOVED = WRAP + "def train(model):\n    return DDP(model.cuda())\n"
PLAIN = WRAP + "def train(model):\n    return DDP(model)\n"


def places(folder: Path, files: dict[str, str], platform: str = "ascend") -> list[tuple[str, int]]:
    for name, text in files.items():
        (folder / name).write_text(text)
    rules = load()
    found = survey(Options((folder,), rules.platforms[platform], rules, root=folder))
    return [(note.name, note.line) for note in found.advisories if note.rule == "gloo-is-for-cpu-tensors"]


@pytest.mark.parametrize("wrap", [KEYWORD, MOVED])
def test_the_file_that_makes_the_group_wraps_elsewhere(tmp_path: Path, wrap: str) -> None:
    assert places(tmp_path, {"train.py": GLOO + "\n\n" + wrap}) == [("", 0)]


@pytest.mark.parametrize("line", ["from group import setup\n\n", "import group\n\n"])
def test_a_file_that_imports_the_group_wraps(tmp_path: Path, line: str) -> None:
    assert places(tmp_path, {"group.py": GLOO, "train.py": line + KEYWORD}) == [("", 0)]


def test_the_function_that_makes_the_group_wraps(tmp_path: Path) -> None:
    text = GLOO.replace("import torch", WRAP.split("\n")[0] + "\nimport torch") + "    DDP(None, device_ids=[0])\n"
    assert places(tmp_path, {"train.py": text}) == [("train.py", 6)]


@pytest.mark.parametrize(
    "files",
    [
        {"test_steps.py": GLOO + "\n\n" + PLAIN},
        {"test_steps.py": GLOO, "train.py": KEYWORD},
        {"group.py": GLOO, "train.py": "from other.group import setup\n\n" + KEYWORD},
        {"group.py": GLOO.replace("init_process_group", "new_group"), "train.py": "import group\n\n" + KEYWORD},
        {
            "train.py": "import sys\n"
            + GLOO.replace("    dist", "    if sys.platform == 'win32':\n        dist")
            + "\n\n"
            + KEYWORD
        },
    ],
)
def test_nothing_is_said_where_nothing_leads_from_one_to_the_other(tmp_path: Path, files: dict[str, str]) -> None:
    assert places(tmp_path, files) == []


def test_nothing_is_said_where_gloo_takes_tensors_of_the_device(tmp_path: Path) -> None:
    assert places(tmp_path, {"train.py": GLOO + "\n\n" + KEYWORD}, "rocm") == []
