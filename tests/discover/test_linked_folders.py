"""Links to folders: what they lead to is named where a run of its own would find something to do, and never changed by the link's name."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.model import Skipped
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

RULES = load()
GROUP = "import torch.distributed as dist\n\ndist.init_process_group('nccl')\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a recipe, and a library beside it that the recipe has a link to."""
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    (root / "recipes/one").mkdir(parents=True)
    (root / "recipes/one/prepare.py").write_text("print('data')\n")
    (root / "lib").mkdir()
    (root / "lib/train.py").write_text(GROUP)
    return root


def look(path: Path) -> tuple[int, list[Skipped]]:
    """How many edits there are, and what is named as not read."""
    found = survey(Options((path,), RULES.platforms["rocm"], RULES))
    return len(found.edits), list(found.skipped)


def test_a_folder_that_a_link_leads_to_is_named_with_what_is_to_do_there(project: Path) -> None:
    (project / "recipes/one/lib").symlink_to("../../lib")
    edits, (one,) = look(project / "recipes/one")
    assert (edits, one.name, one.candidate) == (0, "recipes/one/lib", True)
    assert dict(one.reason.args) == {"folder": "lib", "edits": "1", "review": "0"}


def test_a_run_on_both_or_on_the_whole_project_names_no_link(project: Path) -> None:
    (project / "recipes/one/lib").symlink_to("../../lib")
    assert look(project) == (1, [])
    found = survey(Options((project / "recipes/one", project / "lib"), RULES.platforms["rocm"], RULES))
    assert (len(found.edits), found.skipped) == (1, ())


def test_a_folder_in_which_nothing_is_to_do_is_not_named(project: Path) -> None:
    (project / "recipes/one/lib").symlink_to("../../lib")
    (project / "lib/train.py").write_text(GROUP.replace("nccl", "gloo"))
    assert look(project / "recipes/one") == (0, [])


def test_links_to_what_is_around_and_to_nothing_end(project: Path) -> None:
    (project / "recipes/one/up").symlink_to("..")
    (project / "recipes/one/self").symlink_to(".")
    (project / "recipes/one/gone").symlink_to("../../nowhere")
    assert look(project / "recipes/one") == (0, [])


def test_a_folder_outside_of_the_project_is_not_looked_at(project: Path) -> None:
    (project.parent / "package").mkdir()
    (project.parent / "package/train.py").write_text(GROUP)
    (project / "recipes/one/package").symlink_to(project.parent / "package")
    assert look(project / "recipes/one") == (0, [])


def test_links_to_one_folder_are_named_once(project: Path) -> None:
    for recipe in ("one", "two"):
        (project / "recipes" / recipe).mkdir(exist_ok=True)
        (project / "recipes" / recipe / "lib").symlink_to("../../lib")
    edits, (one,) = look(project / "recipes")
    assert (edits, one.name) == (0, "recipes/one/lib")
