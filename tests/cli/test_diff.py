"""``diff``: the patch alone on standard output, for git and for every console."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

TRAIN = 'import torch.distributed as dist\n\n# 初始化\ndist.init_process_group("nccl")  # 进程组\n'


def git_apply(patch: str, root: Path) -> None:
    subprocess.run(["git", "apply", "-"], cwd=root, input=patch.encode(), check=True)


def test_git_apply_gives_what_apply_gives(project, run) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN, sub__other=TRAIN)
    done = run("diff", ".", "--platform", "rocm")
    assert done.code == 0
    assert (root / "train.py").read_text("utf-8") == TRAIN
    assert done.out.startswith("diff --git ")
    assert "Platform" not in done.out
    assert "2 safe fixes in 2 files for rocm, nothing written: nccl becomes gloo." in done.err
    run("apply", ".", "--platform", "rocm")
    applied = [(root / name).read_bytes() for name in ("train.py", "sub/other.py")]
    run("undo")
    git_apply(done.out, root)
    assert [(root / name).read_bytes() for name in ("train.py", "sub/other.py")] == applied


def test_nothing_to_do_is_an_empty_patch(project, run) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN)
    done = run("diff", ".", "--platform", "cuda")
    assert (done.code, done.out) == (0, "")
    assert "Nothing to change" in done.err


def test_quiet_is_the_patch_alone(project, run) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN)
    done = run("diff", ".", "--platform", "rocm", "-q")
    assert done.err == ""
    assert done.out.startswith("diff --git ")


def test_colour_only_where_it_is_asked_for(project, run) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN)
    plain = run("diff", ".", "--platform", "rocm").out
    coloured = run("diff", ".", "--platform", "rocm", "--color", "always").out
    assert "\x1b" not in plain
    assert "\x1b[32m+dist.init_process_group" in coloured


@pytest.mark.parametrize("encoding", ["cp936", "ascii", "cp1252", "utf-8"])
@pytest.mark.parametrize("lang", ["zh_CN", "en_US"])
def test_the_patch_is_the_same_bytes_on_every_console(project, process, encoding: str, lang: str) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN.replace("\n", "\r\n"))
    done = process("diff", ".", "--platform", "rocm", cwd=root, environ={"PYTHONIOENCODING": encoding, "LANG": lang})
    assert done.returncode == 0
    assert '+dist.init_process_group("gloo")  # 进程组\r\n'.encode() in done.stdout
    assert b"Traceback" not in done.stderr
    said = done.stderr.decode(encoding)
    if lang == "zh_CN":
        assert ("未写入" in said) == (encoding in ("cp936", "utf-8"))
    else:
        assert "nothing written" in said
