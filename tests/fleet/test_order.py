"""Large repositories are given out before small ones."""

from __future__ import annotations

import subprocess
from pathlib import Path

from ddp_codemod.fleet.model import Entry
from ddp_codemod.fleet.order import sort_largest_first


def test_clones_come_by_the_number_of_their_files_and_the_rest_as_listed(tmp_path: Path) -> None:
    small, large, middle = (clone(tmp_path / name, files) for name, files in (("s", 1), ("l", 30), ("m", 9)))
    bare, folder = tmp_path / "bare.git", tmp_path / "empty"
    subprocess.run(["git", "clone", "--quiet", "--bare", large, bare], check=True)
    folder.mkdir()
    listed = ["https://example.invalid/z.git", small, str(bare), large, str(folder), middle, "git@example.invalid:a.git", "\0"]
    entries = [Entry(place, "rocm", line=number) for number, place in enumerate(listed)]
    found = [entry.repository for entry in sort_largest_first(entries)]
    assert found == [large, middle, small, *(place for place in listed if place not in (large, middle, small))]


def test_two_entries_for_one_clone_keep_their_order(tmp_path: Path) -> None:
    place = clone(tmp_path / "one", 3)
    entries = [Entry(place, platform) for platform in ("windows", "rocm", "ascend")]
    assert sort_largest_first(entries) == entries


def clone(folder: Path, files: int) -> str:
    subprocess.run(["git", "init", "--quiet", folder], check=True)
    for number in range(files):
        (folder / f"{number}.py").write_text(f"{number}\n")
    subprocess.run(["git", "-C", folder, "add", "."], check=True)
    return str(folder)
