"""Trees that bite: links out of the project, pipes, devices, files without end."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.discover.files import content, read, read_text, walk_files
from ddp_codemod.model import Reason, Skipped, Survey
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

CALL = b'import torch.distributed as dist\n\ndist.init_process_group("nccl")\n'
posix = pytest.mark.skipif(os.name == "nt", reason="Windows has neither")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def surveyed(root: Path, *paths: str) -> Survey:
    rules = load()
    return survey(Options(tuple(root / path for path in paths or [""]), rules.platforms["rocm"], rules, root=root))


def reasons(found: Survey) -> dict[str, str]:
    return {skipped.name: skipped.reason.key for skipped in found.skipped}


def test_a_link_out_of_the_project_is_not_read_and_named(root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside.py").write_bytes(CALL)
    (root / "train.py").symlink_to(tmp_path / "outside.py")
    (root / "up.py").symlink_to("../outside.py")
    (root / "config.yaml").symlink_to(tmp_path / "outside.py")
    assert list(walk_files(root, [root], (".py", ".yaml"))) == []
    found = surveyed(root)
    assert found.edits == found.decisions == ()
    assert reasons(found) == {"train.py": "skipped-outside", "up.py": "skipped-outside"}
    assert not any(skipped.candidate for skipped in found.skipped)
    assert reasons(surveyed(root, "train.py")) == {"train.py": "skipped-outside"}
    for reader in (read, read_text):
        assert isinstance(made := reader(root / "train.py", root), Skipped)
        assert made.reason == Reason.of("skipped-outside")


def test_a_file_in_a_linked_folder_is_outside(root: Path, tmp_path: Path) -> None:
    (tmp_path / "away").mkdir()
    (tmp_path / "away" / "requirements.txt").write_text("torch\n")
    (root / "requirements").symlink_to(tmp_path / "away")
    assert content(root / "requirements" / "requirements.txt", root) == Reason.of("skipped-outside")


def test_a_link_inside_is_read(root: Path) -> None:
    (root / "real.py").write_bytes(CALL)
    (root / "link.py").symlink_to("real.py")
    assert {edit.name for edit in surveyed(root).edits} == {"real.py", "link.py"}


def test_a_link_to_a_file_that_was_not_given_is_not_written(root: Path) -> None:
    (root / "other").mkdir()
    (root / "mine").mkdir()
    (root / "other" / "real.py").write_bytes(CALL)
    (root / "mine" / "link.py").symlink_to("../other/real.py")
    assert surveyed(root, "mine").edits == ()
    assert {edit.name for edit in surveyed(root, "other").edits} == {"other/real.py"}


def test_links_in_a_circle(root: Path) -> None:
    (root / "a.py").symlink_to("b.py")
    (root / "b.py").symlink_to("a.py")
    (root / "loop").symlink_to(".")
    (root / "train.py").write_bytes(CALL)
    assert {edit.name for edit in surveyed(root).edits} == {"train.py"}


@posix
def test_pipes_and_devices_are_not_opened(root: Path) -> None:
    os.mkfifo(root / "pipe.py")
    os.mkfifo(root / "pyproject.toml")
    os.mkfifo(root / "requirements.txt")
    (root / "zero.py").symlink_to("/dev/zero")
    assert surveyed(root).edits == ()
    assert content(root / "pipe.py", root) == Reason.of("skipped-no-file")


def test_a_file_that_is_too_large_is_named_and_not_held(root: Path) -> None:
    with (root / "huge.py").open("wb") as file:
        file.write(b"# nothing here\n")
        file.truncate(100_000_000)
    with (root / "train.py").open("wb") as file:
        file.write(CALL)
        file.truncate(100_000_000)
    found = surveyed(root)
    assert reasons(found) == {"huge.py": "skipped-too-large", "train.py": "skipped-too-large"}
    assert [skipped.candidate for skipped in found.skipped] == [False, True]
