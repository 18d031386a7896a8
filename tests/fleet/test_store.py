"""Results are there whole or not at all, and count for as long as nothing has changed."""

from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from ddp_codemod.fleet.keys import digest_contents, name_place, result_name
from ddp_codemod.fleet.model import Entry, Limits, Outcome, Trouble, Work
from ddp_codemod.fleet.store import Store
from ddp_codemod.write import results
from ddp_codemod.write.results import publish

ENTRY = Entry("https://e.org/a/b.git", "rocm")
COMMIT = "0123456789abcdef" * 2 + "01234567"


def test_what_is_put_is_found(tmp_path: Path, work: Work) -> None:
    store, name = Store(tmp_path), result_name(ENTRY, work, COMMIT)
    store.put(name, Outcome(ENTRY.repository, "rocm", commit=COMMIT, edits=2), {"changes.patch": b"x"})
    assert store.finished(name, work.limits) == Outcome(ENTRY.repository, "rocm", commit=COMMIT, edits=2, folder=name)
    assert (tmp_path / name / "changes.patch").read_bytes() == b"x"


@pytest.mark.parametrize(
    ("limits", "again", "counts"), [(Limits(), False, True), (Limits(), True, False), (Limits(seconds=5), False, False)]
)
def test_a_failure_counts_while_its_limits_are_the_same(tmp_path: Path, limits: Limits, again: bool, counts: bool) -> None:
    Store(tmp_path).put("a/b", Outcome("r", "rocm", trouble=Trouble.TIMED_OUT, limits=Limits()), {})
    assert (Store(tmp_path).finished("a/b", limits, again) is not None) == counts


def test_a_result_counts_whatever_the_limits(tmp_path: Path) -> None:
    Store(tmp_path).put("a/b", Outcome("r", "rocm"), {})
    assert Store(tmp_path).finished("a/b", Limits(seconds=5), again=True) is not None


@pytest.mark.parametrize("record", [b"", b"{", b"[]", b'{"repository": 1}'])
def test_a_record_that_is_none_does_not_count(tmp_path: Path, record: bytes) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "result.json").write_bytes(record)
    assert Store(tmp_path).finished("a", Limits()) is None


@pytest.mark.parametrize(
    "change",
    [{"rules": "x"}, {"version": "9"}, {"lang": "zh"}, {"page_lang": "zh"}],
)
def test_a_result_is_named_by_all_that_makes_it(work: Work, change: dict[str, object]) -> None:
    assert result_name(ENTRY, replace(work, **change), COMMIT) != result_name(ENTRY, work, COMMIT)


@pytest.mark.parametrize(
    "change",
    [
        {"platform": "windows"}, {"rules": ("nccl-debug",)}, {"repository": "https://e.org/c/b.git"}, {"style": "portable"},
        {"env_in": "shell"}, {"torch_version": "2.4"}, {"unsafe": True},
    ],
)  # fmt: skip
def test_and_by_what_is_asked_about_a_repository(work: Work, change: dict[str, object]) -> None:
    assert result_name(replace(ENTRY, **change), work, COMMIT) != result_name(ENTRY, work, COMMIT)


@pytest.mark.parametrize("change", [{"token": "u"}, {"out": "/x"}, {"limits": Limits(seconds=1)}, {"again": True}])
def test_but_not_by_what_does_not(work: Work, change: dict[str, object]) -> None:
    assert result_name(ENTRY, replace(work, **change), COMMIT) == result_name(ENTRY, work, COMMIT)


@pytest.mark.parametrize(
    "repository",
    ["https://e.org/../..", "/", "..", "https://e.org/\u4f60\u597d", "git@h:a/b", "/a/" + "x" * 300, "https://e.org/a?b=c&d"],
)
def test_a_repository_s_folder_stays_where_it_belongs(repository: str) -> None:
    first, second = name_place(Entry(repository, "rocm")).split("/")
    assert first == "repositories"
    assert second not in (".", "..")
    assert second.isascii()
    assert len(second) < 160


def test_the_digest_of_a_folder_is_that_of_what_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("1")
    before = digest_contents(tmp_path)
    (tmp_path / "weights.bin").write_text("1")
    assert digest_contents(tmp_path) == before
    (tmp_path / "a.py").write_text("2")
    assert digest_contents(tmp_path) != before
    (tmp_path / "a.py").write_text("1")
    (tmp_path / "b.py").write_text("")
    assert digest_contents(tmp_path) != before


def test_a_later_result_takes_the_place_of_an_earlier_one(tmp_path: Path) -> None:
    publish(tmp_path, "a/b", {"x": b"1", "y": b"1"})
    publish(tmp_path, "a/b", {"x": b"2"})
    assert {path.name: path.read_bytes() for path in (tmp_path / "a" / "b").iterdir()} == {"x": b"2"}
    assert list((tmp_path / ".staging").iterdir()) == []


def test_a_result_cut_off_at_any_file_is_not_there(tmp_path: Path) -> None:
    code = """
import os, signal, sys
from pathlib import Path
from ddp_codemod.write import results
left, real = [int(sys.argv[2])], results._write
def write(*args, **more):
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    left[0] -= 1
    real(*args, **more)
results._write = write
results.publish(Path(sys.argv[1]), "a/b", {"x": b"1", "y": b"1", "z": b"1"})
"""
    for files in (0, 2):
        done = subprocess.run([sys.executable, "-c", code, str(tmp_path), str(files)], check=False)
        assert done.returncode == -signal.SIGKILL
        assert not (tmp_path / "a").exists()
    assert (tmp_path / results.STAGING).is_dir()
