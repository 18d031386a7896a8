"""``-o FILE``: what is printed, as bytes of UTF-8 in a file, whole or not at all; and standard streams that take nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TRAIN = 'import torch.distributed as dist\n\n# 初始化进程组\ndist.init_process_group("nccl")\n'
COMMANDS = [
    ("diff", ".", "--platform", "rocm"),
    ("diff", ".", "--platform", "rocm", "--format", "json"),
    ("check", ".", "--platform", "rocm", "--lang", "zh"),
    ("check", ".", "--platform", "rocm", "--format", "sarif"),
    ("scan", ".", "--platform", "rocm"),
    ("explain", "train.py:4", "--platform", "rocm"),
    ("rules", "list"),
    ("rules", "show", "rocm", "--lang", "zh"),
    ("platforms",),
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_the_file_holds_what_standard_output_would(project, process, words: tuple[str, ...]) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN)
    plain = process(*words, cwd=root, environ={"PYTHONIOENCODING": "utf-8"})
    done = process(*words, "-o", "out.txt", cwd=root, environ={"PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stdout) == (plain.returncode, b"")
    assert (root / "out.txt").read_bytes() == plain.stdout.replace(b"\r\n", b"\n") != b""
    assert (root / "out.txt").read_bytes().decode("utf-8").isprintable() is False  # lines, and no byte order mark
    assert not (root / "out.txt").read_bytes().startswith((b"\xef\xbb\xbf", b"\xff\xfe"))


def test_git_takes_the_patch(project, process) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN)
    assert process("diff", ".", "--platform", "rocm", "--output", "port.patch", cwd=root).returncode == 0
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    subprocess.run(["git", "apply", "port.patch"], cwd=root, check=True)
    assert (root / "train.py").read_text("utf-8") == TRAIN.replace("nccl", "gloo")


def test_what_powershell_makes_of_the_same_patch_git_refuses(project, process) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN)
    process("diff", ".", "--platform", "rocm", "-q", "-o", "port.patch", cwd=root)
    patch = (root / "port.patch").read_bytes()
    (root / "redirected.patch").write_bytes(b"\xff\xfe" + patch.decode("utf-8").replace("\n", "\r\n").encode("utf-16-le"))
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    assert subprocess.run(["git", "apply", "--check", "redirected.patch"], cwd=root, capture_output=True).returncode != 0
    assert subprocess.run(["git", "apply", "--check", "port.patch"], cwd=root, capture_output=True).returncode == 0


def test_a_command_that_fails_leaves_the_file_as_it_was(project, run) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN)
    (root / "out.txt").write_text("mine")
    assert run("check", ".", "--platform", "rocmm", "-o", "out.txt").code == 2
    assert (root / "out.txt").read_text() == "mine"
    assert sorted(path.name for path in root.iterdir()) == ["out.txt", "pyproject.toml", "train.py"]


def test_a_folder_that_is_not_there_is_told_before_anything_is_written(project, run) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN)
    done = run("apply", ".", "--platform", "rocm", "-o", "no/where.txt")
    assert done.code == 2
    assert "no/where.txt" in done.err
    assert (root / "train.py").read_text("utf-8") == TRAIN


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_a_report_that_is_refused_does_not_hide_what_was_written(project, process) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN)
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        line = [sys.executable, "-m", "ddp_codemod", "apply", ".", "--platform", "rocm"]
        done = subprocess.run(line, cwd=root, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert b"the changes are written (1 file)" in done.stderr
    assert b"ddp-codemod undo ." in done.stderr
    assert (root / "train.py").read_text("utf-8") == TRAIN.replace("nccl", "gloo")
    assert process("undo", cwd=root).returncode == 0
    assert (root / "train.py").read_text("utf-8") == TRAIN


@pytest.mark.skipif(os.name == "nt", reason="the shell is sh")
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&-"])
def test_a_closed_stream_is_no_trouble(project, closed: str) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN)
    for words, code in ((["check", ".", "--platform", "rocm"], 1), (["--help"], 0), (["undo"], 2)):
        line = f'"$@" {closed}'
        done = subprocess.run(
            ["sh", "-c", line, "sh", sys.executable, "-m", "ddp_codemod", *words], cwd=root, capture_output=True, check=False
        )
        assert done.returncode == code, done.stderr
        assert b"Traceback" not in done.stderr


def test_gitlab_gets_findings_with_marks_that_outlive_a_move(project, run) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN)
    subprocess.run(["git", "init", "-q", str(root.parent)], check=True)
    (root / "pyproject.toml").write_text("")
    done = run("check", ".", "--platform", "rocm", "--format", "gitlab", "-o", "quality.json")
    assert done.code == 1
    (first,) = json.loads((root / "quality.json").read_bytes())
    assert first["location"] == {"path": "project/train.py", "lines": {"begin": 4}}
    assert (first["check_name"], first["severity"]) == ("unsupported-backend", "major")
    assert first["description"].startswith("nccl does not work on rocm")
    (root / "train.py").write_text("import os\n" + TRAIN, "utf-8")
    run("check", ".", "--platform", "rocm", "--format", "gitlab", "-o", "quality.json")
    (moved,) = json.loads((root / "quality.json").read_bytes())
    assert (moved["fingerprint"], moved["location"]["lines"]["begin"]) == (first["fingerprint"], 5)
