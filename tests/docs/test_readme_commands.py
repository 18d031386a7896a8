"""The commands of the README, and of pages that name some in their text, do something on projects like those that they name."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import generated
import pytest
from session import TOP, Session, session

pytestmark = pytest.mark.skipif(sys.platform == "win32" or not shutil.which("git"), reason="some commands are a POSIX shell's")

PROJECTS = {
    "GPT-SoVITS": "tts-spawn-before-libuv",
    "TTS": "tts-spawn",
    "3D-Speaker": "speaker-torchrun",
    "Amphion": "vocoder-accelerate",
}
LOG = "RuntimeError: Distributed package doesn't have NCCL built in\n"
RULE = """\
framework = "x"
[[surface]]
id = "x.start"
names = ["x.start"]
source = ["x"]
"""
PAGES = ("README.md", "docs/changes.md", "docs/decisions.md", "docs/errors.md", "docs/formats.md")
# run on pages of their own: they hang on the machine, on torch, or on a list of repositories
ELSEWHERE = {"doctor", "verify", "fleet"}
SENDS = "--pull-request"  # to a server: tests/write/test_pull_request.py


def commands() -> list[str]:
    said = "\n".join((TOP / page).read_text("utf-8") for page in PAGES)
    said = re.sub(r"(?s)```console.*?```", "", said)  # which are run where they stand
    found = {line.strip() for line in re.findall(r"ddp-codemod ([a-z]+ [^`\n#|;]*)", said)}
    known = set(generated.known()) - ELSEWHERE  # "ddp-codemod reads ..." is a sentence
    return sorted(
        line for line in found if line.split()[0] in known and SENDS not in line and not re.search(r"[A-Z]{4}:|\bDIR\b", line)
    )


@pytest.fixture
def started(request: pytest.FixtureRequest) -> Iterator[Session]:
    with session() as made:
        for name, fixture in PROJECTS.items():
            made.bring(f"fixtures/{fixture}/project", name)
        made.bring("fixtures/tts-spawn/project", "third_party/x")
        if re.search(r" \.( |$)|train\.log|tools", request.node.callspec.params["typed"]):  # it stands in a repository
            made.root = made.root / "TTS"
            made.write("train.log", LOG)
            made.write("tools/ddp-rules/surfaces/x.toml", RULE)
            assert made.run("git init -q && git add -A && git commit -q -m start")[0] == 0
        yield made


@pytest.mark.parametrize("typed", commands())
def test_it_does_what_it_says(started: Session, typed: str) -> None:
    if typed.startswith("undo"):
        assert started.run(f"ddp-codemod apply {typed.split()[1]} --platform rocm")[0] == 0
    if "--diff-base" in typed:  # a patch that was applied
        started.write("late.py", 'import torch.distributed as dist\n\ndist.init_process_group("nccl")\n')
        assert started.run("git add late.py")[0] == 0
        if "--strict" in typed:  # one that takes nccl away
            assert started.run("git commit -q -m late && sed -i s/nccl/gloo/ late.py")[0] == 0
    line = f"ddp-codemod {typed}"
    if typed.startswith("review") and "--html" not in typed:
        line = (
            f"yes y | {line}"
            + ("" if "--answers" in typed else " --answers")
            + ("" if "--platform" in typed else " --platform rocm")
        )
    code, said = started.run(line)
    assert code == (1 if typed.split()[0] in ("check", "diagnose") else 0), said
    if typed.startswith("apply ./"):
        assert "written to" in said


def test_most_of_the_readme_is_run() -> None:
    assert len(commands()) >= 20
    assert {Path(line.split()[1]).name for line in commands() if line.startswith("apply ./")} == set(PROJECTS)
