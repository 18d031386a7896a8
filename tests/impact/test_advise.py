"""Notes that no edit cures."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.model import Advisory
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
