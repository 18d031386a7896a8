"""Notes that somebody has to act on: a program of another library picks what does not work."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ddp_codemod.cli import main

MAIN = 'from fairseq_cli.train import cli_main\n\nif __name__ == "__main__":\n    cli_main()\n'


def checked(folder: Path, capsys: pytest.CaptureFixture[str], platform: str, **files: str) -> str:
    (folder / "pyproject.toml").touch()
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text, "utf-8")
    main(["check", str(folder), "--platform", platform])
    said = capsys.readouterr()
    return said.out + said.err


def test_the_project_is_not_finished_while_one_is_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = checked(tmp_path, capsys, "rocm", train_py=MAIN, run_sh="fairseq-train data\n")
    assert re.search(r"Left to do by hand: 1 note to act on \(\S*train\.py:4\)\.", " ".join(said.split()))
    assert "no code was found" not in said
    assert "train.py:4: fairseq-main" in said
    assert "run.sh:1: unsupported-backend (safe): Without --distributed-backend, fairseq-train defaults to nccl" in said


def test_nothing_is_left_where_the_choice_works(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "Left to do" not in checked(tmp_path, capsys, "cuda", train_py=MAIN, run_sh="fairseq-train data\n")


def test_nothing_is_left_where_the_command_says_what_works(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = checked(tmp_path, capsys, "rocm", a_py="import fairseq\n", run_sh="fairseq-train data --distributed-backend gloo\n")
    assert "Left to do" not in said


PARALLEL = "import torch\n\nmodel = torch.nn.DataParallel(torch.nn.Linear(2, 2))\n"


def test_where_nothing_has_to_change_the_first_lines_point_to_the_notes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = checked(tmp_path, capsys, "rocm", train_py=PARALLEL)
    first, notes = said.split("Notes (1)")
    assert "Nothing to change for rocm" in first
    assert "1 note below says what to watch for" in first
    assert "Left to do" not in first  # one GPU is enough
    assert "train.py:3: data-parallel-takes-nccl" in notes


def test_without_notes_nothing_is_said_of_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "watch for" not in checked(tmp_path, capsys, "windows", train_py=PARALLEL)


@pytest.mark.parametrize(
    ("comment", "quiet"),
    [
        ("  # ddp-codemod: ignore", True),
        ("  # ddp-codemod: ignore[fairseq-main]", True),
        ("  # ddp-codemod: ignore[unsupported-backend]", False),
        ("\n# ddp-codemod: ignore", False),  # another line
    ],
)
def test_a_comment_on_its_line_quiets_a_note(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], comment: str, quiet: bool
) -> None:
    said = checked(tmp_path, capsys, "rocm", train_py=MAIN.rstrip() + comment + "\n", run_sh="fairseq-train data\n")
    assert ("train.py:4: fairseq-main" in said) is not quiet
