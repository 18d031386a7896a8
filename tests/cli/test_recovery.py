"""After an apply that was cut off, the next command puts the project right or says what does."""

from __future__ import annotations

from pathlib import Path

from ddp_codemod.model import FileChange
from ddp_codemod.write import journal
from ddp_codemod.write.apply import apply_changes

TRAIN = 'import torch.distributed as dist\n\ndist.init_process_group("nccl")\n'


def cut_off(root: Path, whole: bool) -> None:
    """The state that a process leaves which ends after some of its files, or after the last."""
    names = ["one.py", "two.py"]
    for name in names:
        (root / name).write_text("old\n")
    apply_changes(root, [FileChange(name, b"old\n", b"new\n") for name in names], allow_dirty=True)
    journal.reopen_entry(journal.read_entries(root)[-1])
    if not whole:
        (root / "two.py").write_text("old\n")


def test_apply_puts_it_right_first_and_says_so(project, run) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN)
    cut_off(root, whole=False)
    done = run("apply", ".", "--platform", "rocm")
    assert done.code == 0
    assert (root / "one.py").read_text() == "old\n"
    assert "gloo" in (root / "train.py").read_text()
    assert [line for line in done.err.splitlines() if "interrupted" in line] == [
        "The last apply was interrupted: restored the old text of its 2 files."
    ]


def test_undo_takes_it_back_and_nothing_else(project, run) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN)
    assert run("apply", ".", "--platform", "rocm").code == 0
    cut_off(root, whole=False)
    assert run("undo").code == 0
    assert (root / "one.py").read_text() == "old\n"
    assert "gloo" in (root / "train.py").read_text()
    assert run("undo").code == 0
    assert (root / "train.py").read_text() == TRAIN


def test_one_that_had_come_to_its_end_counts_as_done(project, run) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN)
    cut_off(root, whole=True)
    done = run("undo")
    assert "counts as done" in done.err
    assert (root / "one.py").read_text() == "old\n"


def test_a_command_that_only_looks_writes_nothing(project, run) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN)
    cut_off(root, whole=False)
    for words in (("check", "."), ("apply", ".", "--dry-run"), ("diff", ".")):
        assert "the next apply or undo repairs its 2 files" in run(*words, "--platform", "rocm").err
        assert (root / "one.py").read_text() == "new\n"
