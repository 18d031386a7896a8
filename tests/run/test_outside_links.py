"""A link out of the named folder is named where code goes through it, and nothing behind it is opened."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.messages import render
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

RULES = load()
GROUP = 'import torch.distributed as dist\n\ndist.init_process_group("nccl")\n'


def named(folder: Path) -> dict[str, str]:
    found = survey(Options(paths=(folder,), platform=RULES.platforms["rocm"], rules=RULES, fixes=("unsupported-backend",)))
    assert not [edit for edit in found.edits if edit.name.startswith("lib")]
    return {one.name: render(one.reason, "en") for one in found.skipped}


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    """A folder without git, as a zip leaves it, with a link to a library beside it."""
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "train.py").write_text(GROUP, "utf-8")
    (tmp_path / "recipe").mkdir()
    (tmp_path / "recipe" / "lib").symlink_to(tmp_path / "library")
    return tmp_path / "recipe"


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege")
@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("run.sh", "torchrun --nproc_per_node=2 lib/train.py --epochs 3\n"),
        ("run.sh", "python ./lib/train.py\n"),
        ("run.sh", "python -m lib.train\n"),
        ("prepare.py", "from lib import train\n"),
        ("prepare.py", "def late():\n    import lib.train\n"),
    ],
)
def test_a_link_that_the_code_goes_through_is_named(recipe: Path, file: str, text: str) -> None:
    (recipe / file).write_text(text, "utf-8")
    said = named(recipe)
    assert list(said) == ["lib"]
    assert file in said["lib"]


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege")
@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("run.sh", "python train.py --data lib\n"),
        ("run.sh", "ls lib/\npython other/lib/train.py\n"),
        ("prepare.py", "lib = 3\nprint('from lib to here', lib)\nimport library\n"),
        ("prepare.py", "from .other.lib import train\n"),
    ],
)
def test_a_link_to_data_is_not(recipe: Path, file: str, text: str) -> None:
    (recipe / file).write_text(text, "utf-8")
    assert named(recipe) == {}


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege")
def test_nothing_behind_it_is_opened(recipe: Path) -> None:
    (recipe / "run.sh").write_text("python lib/train.py\n", "utf-8")
    opened: list[str] = []
    active = True

    def audit(event: str, words: tuple[object, ...]) -> None:
        if active and event in ("open", "os.listdir", "os.scandir"):
            opened.append(str(words[0]))

    sys.addaudithook(audit)
    named(recipe)
    active = False
    assert any("recipe" in path for path in opened)
    assert not any("library" in path or (f"lib{'/'}" in path and "recipe/lib/" in path) for path in opened)
