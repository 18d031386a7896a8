"""Every command on the consoles that people have: code pages without the characters that are to be shown."""

from __future__ import annotations

import json

import pytest

TRAIN = 'import torch.distributed as dist\n\n# 初始化 \U0001f600\ndist.init_process_group("nccl")  # 进程组 \U0001f600\n'
COMMANDS = [
    ("apply", ".", "--dry-run", "--platform", "rocm"),
    ("check", ".", "--platform", "rocm"),
    ("scan", ".", "--platform", "rocm", "-v"),
    ("explain", "train.py:4", "--platform", "rocm"),
    ("rules", "list"),
    ("rules", "show", "rocm"),
    ("platforms",),
    ("apply", "--help"),
    ("apply", "."),
    ("apply", "nowhere"),
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("encoding", ["cp936", "ascii"])
def test_output_survives(project, process, words: tuple[str, ...], encoding: str) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN)
    done = process(*words, cwd=root, environ={"PYTHONIOENCODING": encoding, "LANG": "zh_CN", "CI": "1"})
    assert done.returncode in (0, 1, 2)
    assert b"Traceback" not in done.stderr
    said = (done.stdout + done.stderr).decode(encoding)
    assert said.strip()
    # where the code page lacks Chinese the talk is English, not escapes
    assert any("\u4e00" <= character <= "\u9fff" for character in said) == (encoding == "cp936")


def test_chinese_that_is_asked_for_comes_as_escapes(process) -> None:  # type: ignore[no-untyped-def]
    done = process("platforms", "--lang", "zh", environ={"PYTHONIOENCODING": "ascii"})
    assert b"\\u534e" in done.stdout


@pytest.mark.parametrize("command", ["scan", "check", "diff"])
def test_json_is_the_same_bytes_everywhere(project, process, command: str) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN)
    words = (command, ".", "--platform", "rocm", "--format", "json")
    outputs = {
        process(*words, cwd=root, environ={"PYTHONIOENCODING": encoding, "LANG": "zh_CN"}).stdout
        for encoding in ("cp936", "utf-8")
    }
    outputs.add(process(*words, cwd=root, environ={"LANG": "en_US.UTF-8"}).stdout)
    (output,) = outputs
    assert "\U0001f600" in json.loads(output)["edits"][0]["before"]
