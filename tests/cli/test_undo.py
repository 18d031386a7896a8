"""``undo`` and ``explain`` after an apply, as they are typed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

TRAIN = 'import torch.distributed as dist\n\n\ndef main():\n    dist.init_process_group("nccl")\n\n\nmain()\n'


@pytest.fixture
def applied(project, run) -> Path:  # type: ignore[no-untyped-def]
    root: Path = project(a=TRAIN, b=TRAIN, c=TRAIN)
    assert run("apply", ".", "--platform", "rocm").code == 0
    return root


def test_an_edited_file_does_not_block_the_rest(applied: Path, run) -> None:  # type: ignore[no-untyped-def]
    (applied / "b.py").write_text((applied / "b.py").read_text() + "# mine\n")
    (applied / "c.py").write_text((applied / "c.py").read_text().replace("gloo", "mpi"))
    done = run("undo")
    assert done.code == 1
    assert "restored a.py\n" in done.out
    assert "undid the changes in b.py; your later edits stay" in done.out
    assert "c.py is unchanged: you edited what apply changed there (line 5)" in done.err
    assert (applied / "a.py").read_text() == TRAIN
    assert (applied / "b.py").read_text() == TRAIN + "# mine\n"
    assert "mpi" in (applied / "c.py").read_text()
    old = Path(done.err.split(", copy ")[1].split(" over it")[0])
    assert old.read_text() == TRAIN


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="no such names there")
def test_a_name_that_is_no_utf8_is_changed_explained_and_given_back(project, run) -> None:  # type: ignore[no-untyped-def]
    root = project(a=TRAIN)
    name = os.fsdecode(b"\xff\xfe.py")
    (root / "a.py").rename(root / name)
    assert run("apply", ".", "--platform", "rocm").code == 0
    assert "gloo" in (root / name).read_text()
    assert "nccl does not work on rocm" in run("explain", f"{name}:5", "--platform", "rocm").out
    assert run("undo").code == 0
    assert (root / name).read_text() == TRAIN


def test_a_file_is_kept(applied: Path, run) -> None:  # type: ignore[no-untyped-def]
    done = run("undo", "--keep", "b.py")
    assert done.code == 0
    assert "b.py keeps its changes" in done.out
    assert [(applied / f"{name}.py").read_text() == TRAIN for name in "abc"] == [True, False, True]


def test_a_file_that_was_not_changed_cannot_be_kept(applied: Path, run) -> None:  # type: ignore[no-untyped-def]
    done = run("undo", "--keep", "d.py")
    assert done.code == 2
    assert "\n  a.py\n  b.py\n  c.py\n" in done.err
    assert (applied / "a.py").read_text() != TRAIN


def test_nothing_is_kept_where_nothing_is_to_be_undone(applied: Path, run) -> None:  # type: ignore[no-untyped-def]
    run("undo", ".")
    done = run("undo", ".", "--keep", "a.py")
    assert (done.code, done.err) == (
        2,
        "ddp-codemod: error: Nothing to undo: no apply is recorded for this project here. The record is kept where apply ran: on that machine, for that user and path.\n",
    )


def test_quietly(applied: Path, run) -> None:  # type: ignore[no-untyped-def]
    done = run("undo", "-q")
    assert (done.code, done.said) == (0, "")
    assert (applied / "a.py").read_text() == TRAIN


def test_explain_tells_why_a_line_was_changed(applied: Path, run) -> None:  # type: ignore[no-untyped-def]
    done = run("explain", "a.py:5", "--platform", "rocm")
    assert done.code == 0
    assert "apply changed a.py:5 for rocm (unsupported-backend):\n    nccl does not work on rocm" in done.out
    assert '    -     dist.init_process_group("nccl")\n    +     dist.init_process_group("gloo")\n' in done.out
    (applied / "a.py").write_text("import os\n" + (applied / "a.py").read_text())
    assert "a.py:6 已由 apply 针对 rocm 修改" in run("explain", "a.py:6", "--platform", "rocm", "--lang", "zh").out
    assert "apply changed" not in run("explain", "a.py:2", "--platform", "rocm").out


def test_the_command_that_apply_prints_answers(project, run) -> None:  # type: ignore[no-untyped-def]
    project(a=TRAIN)
    for command in ("check", "apply"):
        done = run(command, ".", "--platform", "rocm")
        (line,) = [line for line in done.said.splitlines() if line.startswith("Why a line changes:")]
        answer = run(*line.split("ddp-codemod ")[1].split())
        assert "nccl does not work on rocm" in answer.out


def test_a_changed_line_is_explained_for_the_platform_it_was_changed_for(applied: Path, run) -> None:  # type: ignore[no-untyped-def]
    done = run("explain", "a.py:5")
    assert (done.code, done.err.splitlines()[0].split(":")[0]) == (0, "Platform rocm")
    assert "from the apply that changed this line; to choose another: --platform ID" in done.err
    assert "apply changed a.py:5 for rocm" in done.out
    assert "a.py:5 was changed" not in run("explain", "a.py:1", "--platform", "rocm").out
    assert "Platform windows" in run("explain", "a.py:5", "--platform", "windows").err
    (applied / "pyproject.toml").write_text('[tool.ddp-codemod]\nplatform = "cpu"\n')
    assert "Platform cpu" in run("explain", "a.py:5").err


def test_what_no_apply_changed_is_explained_for_no_guessed_platform(applied: Path, run, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("CI", "1")  # where a machine decides nothing
    assert (run("explain", "a.py:5").code, run("explain", "a.py:1").code) == (0, 2)


def test_an_apply_in_a_folder_below_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "pyproject.toml").touch()
        (tmp_path / name / "train.py").write_text(TRAIN, "utf-8")
    (tmp_path / "three").mkdir()
    assert run("apply", "one", "--platform", "rocm").code == 0
    done = run("undo")
    assert (done.code, done.said.count("Undo with that folder as the path")) == (2, 1)
    assert "one" in done.err.splitlines()[-1]
    assert "two" not in done.err
    assert run("undo", "one").code == 0
    assert "Nothing to undo: no apply" in run("undo").err
