"""``--env-in shell`` on scripts that bash really runs: every start of the program finds the variable, and nothing else changes."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ddp_codemod.catalog.load import load
from ddp_codemod.edits.render import render
from ddp_codemod.model import Action
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

RULES = load()
VARIABLE = "NCCL_P2P_DISABLE"
TRAIN = 'import torch.distributed as dist\n\ndist.init_process_group("nccl")\n'
pytestmark = pytest.mark.skipif(shutil.which("bash") is None or os.name == "nt", reason="needs bash")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project, and beside it a "python" that tells what it was given."""
    made = tmp_path_factory.mktemp("launch")
    (made / "bin").mkdir()
    python = made / "bin" / "python"
    python.write_text(f'#!/bin/bash\necho "$* ${{{VARIABLE}-unset}}"\n')
    python.chmod(0o755)
    (made / "project").mkdir()
    (made / "project" / "train.py").write_text(TRAIN)
    return made


def edited(folder: Path, script: str) -> str | None:
    """The script as the tool leaves it; a second run changes nothing. None where it leaves a line to a person."""
    path = folder / "project" / "run.sh"
    path.write_bytes(script.encode())
    options = Options(
        (folder / "project",), RULES.platforms["cuda"], RULES, ("nccl-p2p-off",), root=folder / "project", env_in="shell"
    )
    found = survey(options)
    if any(decision.action is Action.REVIEW for decision in found.decisions):
        return None
    rendered = render(found, unsafe=False)
    assert not rendered.failed
    assert [change.name for change in rendered.changes] in (["run.sh"], [])
    for change in rendered.changes:
        path.write_bytes(change.after)
    assert not render(survey(options), unsafe=False).changes
    return path.read_bytes().decode()


def ran(folder: Path, script: str, **environment: str) -> list[str]:
    """What the program was given, start by start."""
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", script], env={"PATH": path, **environment}, capture_output=True, text=True, cwd=folder / "project"
    )
    assert done.stderr == ""
    return [line for line in done.stdout.splitlines() if line.startswith("train.py")]


STARTS = st.sampled_from([
    "python train.py", "LR=1 python train.py --lr $LR", "python train.py \\\n    --long \\\n    nccl", "echo a && python train.py | cat",
    "true ||\n  echo b; python train.py &\nwait", "python train.py # again", "out=$(python train.py); echo \"$out\"",
    "if true; then python train.py; fi", "if false; then\n  x=3\nelif python train.py; then\n  x=4\nfi", "! python train.py && x=5 || true",
    "for i in 1; do python train.py >/dev/stdout; done", "{ x=1; python train.py; }", "x=7; python train.py", "while python train.py; do break; done",
    "bash -c 'python train.py'", "cd . && \\\n  python train.py",
])  # fmt: skip
OTHERS = st.sampled_from(["echo python train.py is next >/dev/null", "# python train.py", "x=1", "python plot.py", ""])


def indented(text: str) -> str:
    return "".join(f"  {line}" if line.strip() else line for line in text.splitlines(keepends=True))


def around(body: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    inner = st.lists(body, min_size=1, max_size=3).map(lambda parts: "\n".join(["x=2", *parts]))
    return st.one_of(
        inner.map(lambda text: f"if true; then\n{indented(text)}\nelse\n  python train.py\nfi"),
        inner.map(lambda text: f"for seed in 1 2; do\n{indented(text)}\ndone"),
        inner.map(lambda text: f"f() {{\n{indented(text)}\n}}\nf"),
        inner.map(lambda text: f"(\n{indented(text)}\n)"),
        inner.map(lambda text: f"case a in\n  a)\n{indented(indented(text))}\n    ;;\nesac"),
        inner.map(lambda text: f"while true; do\n{indented(text)}\n  break\ndone"),
    )


SCRIPTS = st.lists(st.recursive(STARTS | OTHERS, around, max_leaves=4), min_size=1, max_size=4).map("\n".join)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(SCRIPTS, st.sampled_from(["\n", ""]), st.booleans())
def test_every_start_finds_the_variable_and_what_a_user_exports_stays(folder: Path, script: str, end: str, strict: bool) -> None:
    before = f"{'set -e' if strict else ':'}\n{script}{end}"
    after = edited(folder, before)
    if after is None:
        assert "||" in before or not ran(folder, before)  # in the middle of a statement that began lines above
        return
    added = f'export {VARIABLE}="${{{VARIABLE}:-1}}"'
    assert [line for line in after.split("\n") if line.strip() != added] == before.split("\n")
    given_before = ran(folder, before)
    assert all(line.endswith(" unset") for line in given_before)
    assert ran(folder, after) == [line.removesuffix("unset") + "1" for line in given_before]
    assert ran(folder, after, **{VARIABLE: "0"}) == [line.removesuffix("unset") + "0" for line in given_before]
