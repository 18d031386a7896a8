"""Shell completion, in the shells that are here."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = f'#!/bin/sh\nexec "{sys.executable}" -m ddp_codemod "$@"\n'
BASH = """
eval "$(_DDP_CODEMOD_COMPLETE=bash_source ddp-codemod)"
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
compopt() { echo "$@"; }
_ddp_codemod_completion ddp-codemod
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    tool = tmp_path / "bin/ddp-codemod"
    tool.parent.mkdir()
    tool.write_text(COMMAND)
    tool.chmod(0o755)
    return tool.parent


@pytest.mark.skipif(sys.platform == "win32" or not shutil.which("bash"), reason="no bash here")
@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (("ch",), ["check"]),
        (("rules", "s"), ["show", "schema"]),
        (("check", "--dif"), ["--diff-base"]),
        (("check", ".", "--platform", "ro"), ["rocm", "rocm-rccl"]),
        (("apply", ".", "--select", "no-l"), ["no-libuv"]),
        (("check", ".", "--format", "gi"), ["github", "gitlab"]),
    ],
)
def test_bash_offers(place: Path, typed: tuple[str, ...], offered: list[str]) -> None:
    environ = {**os.environ, "PATH": f"{place}{os.pathsep}{os.environ['PATH']}"}
    line = ["bash", "-c", BASH, "bash", "ddp-codemod", *typed]
    done = subprocess.run(line, env=environ, capture_output=True, text=True, check=True)
    assert done.stdout.split() == offered
    assert done.stderr == ""


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_are_told_with_help_in_the_readers_language(process, shell: str) -> None:  # type: ignore[no-untyped-def]
    asked = {"COMP_WORDS": "ddp-codemod und", "COMP_CWORD": "1" if shell == "zsh" else "und", "LANG": "zh_CN.UTF-8"}
    done = process(environ={**asked, "_DDP_CODEMOD_COMPLETE": f"{shell}_complete", "PYTHONIOENCODING": "utf-8"})
    assert "undo" in done.stdout.decode()
    assert "apply" in done.stdout.decode().split("undo")[1]
    assert "help-" not in done.stdout.decode()
    script = process(environ={"_DDP_CODEMOD_COMPLETE": f"{shell}_source"})
    assert b"ddp-codemod" in script.stdout
    if program := shutil.which(shell):
        subprocess.run([program, "-n"], input=script.stdout, check=True)


def test_an_unknown_shell_is_told_what_there_is(process) -> None:  # type: ignore[no-untyped-def]
    done = process(environ={"_DDP_CODEMOD_COMPLETE": "tcsh_source"})
    assert done.returncode == 1
    assert b"bash_source" in done.stderr
