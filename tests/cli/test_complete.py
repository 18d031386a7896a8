"""Shell completion, in the shells that are here."""

from __future__ import annotations

import os
import re
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

# zsh's own compadd and _describe want a command line that is being typed; these two say what they are given
ZSH = """
compdef() { :; }
compadd() { shift $(($# - 1)); print -rl -- ${(P)1}; }
_describe() { print -rl -- ${(P)3}; }
eval "$(_DDP_CODEMOD_COMPLETE=zsh_source ddp-codemod)"
words=("$@") CURRENT=$#
_ddp_codemod_completion
"""
FISH = "_DDP_CODEMOD_COMPLETE=fish_source ddp-codemod | source; complete --do-complete (string join -- ' ' $argv)"
TYPED = [
    (("ch",), ["check"]),
    (("rules", "s"), ["show", "schema"]),
    (("check", ".", "--platform", "ro"), ["rocm", "rocm-rccl", "rocm-windows"]),
    (("apply", ".", "--select", "no-l"), ["no-libuv"]),
    (("check", ".", "--format", "gi"), ["github", "gitlab"]),
]


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
    [*TYPED, (("check", "--dif"), ["--diff-base"])],
)
def test_bash_offers(place: Path, typed: tuple[str, ...], offered: list[str]) -> None:
    environ = {**os.environ, "PATH": f"{place}{os.pathsep}{os.environ['PATH']}"}
    line = ["bash", "-c", BASH, "bash", "ddp-codemod", *typed]
    done = subprocess.run(line, env=environ, capture_output=True, text=True, check=True)
    assert done.stdout.split() == offered
    assert done.stderr == ""


@pytest.mark.parametrize(("typed", "offered"), TYPED)
@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_zsh_and_fish_offer_the_same(place: Path, tmp_path: Path, shell: str, typed: tuple[str, ...], offered: list[str]) -> None:
    if not shutil.which(shell):
        pytest.skip(f"no {shell} here")
    environ = {**os.environ, "PATH": f"{place}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path), "LANG": "C.UTF-8"}
    line = ["zsh", "-f", "-c", ZSH, "zsh"] if shell == "zsh" else ["fish", "--no-config", "-c", FISH]
    done = subprocess.run([*line, "ddp-codemod", *typed], env=environ, capture_output=True, text=True, check=True)
    assert sorted(re.split("[\t:]", said)[0] for said in done.stdout.splitlines()) == sorted(offered)
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
