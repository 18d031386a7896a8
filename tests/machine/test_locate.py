"""Files that a traceback names are looked for in a project, not in everything that lies below a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.health import Frame
from ddp_codemod.machine import locate


def project(root: Path) -> list[Frame]:
    for name in ("rvc/train/train.py", "other/train.py", "a.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("import torch\n")
    return [Frame("C:\\Applio\\rvc\\train\\train.py", 3)]


def test_the_file_whose_folders_agree_is_meant(tmp_path: Path) -> None:
    assert locate.locate_frames(project(tmp_path), tmp_path) == [(tmp_path / "rvc/train/train.py", 3)]


def test_a_folder_of_more_files_than_any_project_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locate, "MOST", 2)
    assert locate.locate_frames(project(tmp_path), tmp_path) == []
