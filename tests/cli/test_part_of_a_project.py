"""A run about one file or folder of a project does not say that the project needs nothing."""

from pathlib import Path

import pytest

HELPER = "import torch.distributed as dist\n\ndist.init_process_group('nccl')\n"
PART = "This run covers only a part of the project."
WHOLE = "ddp-codemod {command} . --platform rocm\n"


@pytest.mark.parametrize("command", ["apply", "diff", "check", "scan"])
def test_nothing_in_one_file_is_not_nothing(project, run, command: str) -> None:  # type: ignore[no-untyped-def]
    project(helper=HELPER, train="import helper\n")
    said = run(command, "train.py", "--platform", "rocm").said
    assert PART in said
    assert WHOLE.format(command=command) in said


def test_a_file_with_a_fix_of_its_own(project, run) -> None:  # type: ignore[no-untyped-def]
    project(helper=HELPER, train="import helper\n")
    assert PART not in run("diff", "helper.py", "--platform", "rocm").said


def test_the_whole_project(project, run) -> None:  # type: ignore[no-untyped-def]
    root: Path = project(train="import os\n")
    assert PART not in run("diff", ".", "--platform", "rocm").said
    assert PART not in run("diff", str(root), "--platform", "rocm").said
    assert PART not in run("diff", "train.py", "--platform", "rocm").said


def test_files_that_are_none_of_the_project_are_no_other_part(project, run) -> None:  # type: ignore[no-untyped-def]
    root: Path = project(train="import os\n")
    (root / "src").mkdir()
    (root / "train.py").rename(root / "src" / "train.py")
    (root / ".venv" / "lib").mkdir(parents=True)
    (root / ".venv" / "pyvenv.cfg").write_text("home = /usr/bin\n", "utf-8")
    (root / ".venv" / "lib" / "package.py").write_text("import os\n", "utf-8")
    assert PART not in run("check", "src", "--platform", "rocm").said
