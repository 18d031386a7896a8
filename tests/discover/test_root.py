"""The root of a project is the nearest folder that says so, else the folder itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.discover.root import find_root


@pytest.mark.parametrize("marker", [".git", "pyproject.toml"])
def test_the_nearest_marker_above(tmp_path: Path, marker: str) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / marker).mkdir()
    assert find_root([tmp_path / "a" / "b"]) == tmp_path
    (tmp_path / "a" / marker).mkdir()
    assert find_root([tmp_path / "a" / "b"]) == tmp_path / "a"


def test_a_git_file_of_a_worktree_counts(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / ".git").write_text("gitdir: elsewhere\n")
    assert find_root([tmp_path / "a"]) == tmp_path


def test_without_a_marker_the_folder_itself(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    (folder / "train.py").write_text("")
    assert find_root([folder]) == folder
    assert find_root([folder / "train.py"]) == folder


def test_several_paths_of_one_project(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    (tmp_path / "pyproject.toml").write_text("")
    assert find_root([tmp_path / "a", tmp_path / "b"]) == tmp_path


def test_a_folder_around_the_first_path(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    assert find_root([tmp_path / "a", tmp_path]) == tmp_path


def test_paths_of_different_projects_are_an_error(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "pyproject.toml").write_text("")
    with pytest.raises(ValueError, match="once for each project"):
        find_root([tmp_path / "a", tmp_path / "b"])


def test_relative_paths_and_dots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text("")
    monkeypatch.chdir(tmp_path / "a")
    assert find_root([Path()]) == tmp_path
    assert find_root([Path("b", "..", "..")]) == tmp_path


def test_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "pyproject.toml").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "real", target_is_directory=True)
    assert find_root([tmp_path / "link"]) == tmp_path / "link"


def test_a_file_of_an_unpacked_project_belongs_to_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / "a" / "pkg" / "bin"
    deep.mkdir(parents=True)
    (deep / "train.py").touch()
    monkeypatch.chdir(tmp_path / "a")
    assert find_root([Path("pkg/bin/train.py")]) == deep  # nothing says that this is a project
    (tmp_path / "a" / "README.md").touch()
    assert find_root([Path("pkg/bin/train.py")]) == tmp_path / "a"
    assert find_root([Path("pkg/bin")]) == deep  # a folder speaks for itself
    (tmp_path / "a" / "pkg" / "README.md").touch()
    assert find_root([Path("pkg/bin/train.py")]) == tmp_path / "a"  # a part of it has one too
    monkeypatch.chdir(tmp_path)
    assert find_root([deep / "train.py"]) == find_root([deep / "train.py"], tmp_path) == tmp_path / "a"
    monkeypatch.chdir(deep)
    assert find_root([Path("train.py")]) == deep  # what lies above is not looked at
    assert find_root([Path("train.py")], tmp_path) == tmp_path / "a"
    (tmp_path / "a" / "pkg" / "pyproject.toml").touch()
    monkeypatch.chdir(tmp_path / "a")
    assert find_root([Path("pkg/bin/train.py")]) == tmp_path / "a" / "pkg"
