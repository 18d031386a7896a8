"""Notes that no edit cures."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.model import TIED, Advisory
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

IMPORT = "from torch.distributed import ProcessGroupNCCL\n"


def notes(folder: Path, platform: str, text: str) -> list[Advisory]:
    (folder / "train.py").write_text(text, "utf-8")
    rules = load()
    return list(survey(Options((folder,), rules.platforms[platform], rules)).advisories)


@pytest.mark.parametrize("platform", ["windows", "cpu", "ascend"])
def test_an_import_of_a_name_that_the_platform_lacks_is_named(tmp_path: Path, platform: str) -> None:
    (note,) = notes(tmp_path, platform, "import torch\n" + IMPORT)
    assert (note.name, note.line, note.message.key) == ("train.py", 2, "advise-missing-import")


@pytest.mark.parametrize("platform", ["rocm", "cuda", "mixed-gpu"])
def test_it_is_there_where_nccl_is_built_in(tmp_path: Path, platform: str) -> None:
    assert notes(tmp_path, platform, IMPORT) == []


@pytest.mark.parametrize(
    "guarded",
    [
        f"try:\n    {IMPORT}except ImportError:\n    pass\n",
        f"import torch.distributed as dist\nif dist.is_nccl_available():\n    {IMPORT}",
        "from mine.distributed import ProcessGroupNCCL\n",
    ],
)
def test_an_import_behind_a_check_and_a_namesake_are_left_alone(tmp_path: Path, guarded: str) -> None:
    assert notes(tmp_path, "windows", guarded) == []


SIDE = """import torch.distributed as dist


def cpu_group():
    if dist.get_backend() == "nccl":
        return dist.new_group(backend="{beside}")
    return dist.group.WORLD


dist.init_process_group("nccl")
"""


@pytest.mark.parametrize(
    ("platform", "beside", "expected"),
    [
        ("ascend", "gloo", ["tied-group"]),
        ("mlu", "gloo", ["tied-group"]),
        ("rocm", "gloo", []),
        ("ascend", "mpi", ["tied-group"]),
    ],
)
def test_a_side_group_that_only_the_old_name_gets_is_named(
    tmp_path: Path, platform: str, beside: str, expected: list[str]
) -> None:
    found = [note for note in notes(tmp_path, platform, SIDE.replace("{beside}", beside)) if note.rule == TIED]
    assert [note.message.key for note in found] == expected
    assert all(note.line == 5 for note in found)


def test_a_side_group_that_every_name_gets_is_not(tmp_path: Path) -> None:
    text = SIDE.replace("{beside}", "gloo").replace("    return dist.group.WORLD", '    return dist.new_group(backend="gloo")')
    assert not [note for note in notes(tmp_path, "ascend", text) if note.message.key == "tied-group"]


@pytest.mark.parametrize(("asked", "expected"), [("dist.get_backend()", ["tied-group-name"]), ("dist.get_backend(group)", [])])
def test_a_device_by_the_backend_is_named_unless_the_group_is_handed_over(
    tmp_path: Path, asked: str, expected: list[str]
) -> None:
    text = (
        "import torch.distributed as dist\n\n\ndef place(group):\n"
        f'    return "cuda" if {asked} == "nccl" else "cpu"\n\n\ndist.init_process_group("nccl")\n'
    )
    assert [note.message.key for note in notes(tmp_path, "rocm", text) if note.rule == TIED] == expected
