"""Reviews by a pipe of answers: what is written is what was taken."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ddp_codemod.cli import main

HEAD = "import torch.distributed as dist\n"
CALL = 'dist.init_process_group("nccl")\n'
TWO = HEAD + CALL + "\n" * 9 + CALL
Project = Callable[..., Path]
Review = Callable[..., Any]


def backends(root: Path) -> dict[str, list[str]]:
    return {path.stem: re.findall(r"nccl|gloo|mpi", path.read_text("utf-8")) for path in sorted(root.glob("*.py"))}


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ("yyyy", "gggg"),
        ("nnnn", "nnnn"),
        ("yn\nny\n", "gnng"),
        ("y q", "gnnn"),  # quitting keeps what was taken
        ("y", "gnnn"),  # so does the end of the answers
        ("", "nnnn"),
        ("a nn", "ggnn"),
        ("aa", "gggg"),
        ("dyy", "nngg"),
        ("yad", "ggnn"),
        ("ykn nnn", "nnnn"),  # back, and another answer
        ("nnkky q", "gnnn"),
        ("k yq", "gnnn"),
        ("?x yq", "gnnn"),
        ("YQ", "gnnn"),
    ],
)
def test_what_was_taken_is_written(project: Project, review: Review, answers: str, expected: str) -> None:
    root = project(a=TWO, b=TWO)
    done = review(answers, ".")
    assert done.code == 0
    found = backends(root)
    assert "".join(word[0] for name in ("a", "b") for word in found[name]) == expected
    untouched = subprocess.run(["git", "diff", "--numstat"], capture_output=True, text=True, check=True).stdout
    assert len(untouched.splitlines()) == len({"ab"[at // 2] for at, letter in enumerate(expected) if letter == "g"})


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=15, deadline=None)
@given(answers=st.text("ynadk?", max_size=12))
def test_undo_takes_a_review_back(project: Project, review: Review, answers: str) -> None:
    root = project(a=TWO, b=TWO) if not Path("a.py").exists() else Path.cwd()
    before = backends(root)
    review(answers, ".")
    if backends(root) != before:
        assert main(["undo", "."]) == 0
    assert backends(root) == before


def test_each_change_comes_with_its_reason_its_way_and_its_diff(project: Project, review: Review) -> None:
    project(
        options='BACKEND = "nccl"\n',
        train=HEAD + "from options import BACKEND\n\n\ndef main():\n    dist.init_process_group(BACKEND)\n",
    )
    shown = review("q").out
    for part in (
        "Change 1 of 1  options.py:1  unsupported-backend  safe",
        "nccl does not work on rocm",
        "call   train.py:6  dist.init_process_group(BACKEND)",
        "BACKEND comes from options.py",
        "comes from options.py:1",
        '-BACKEND = "nccl"',
        '+BACKEND = "gloo"',
        "(1/1) Accept this change [y,n,a,d,e,k,q,?]? q",
    ):
        assert part in shown
    assert shown.index("nccl does not work") < shown.index('-BACKEND = "nccl"')


def test_context_and_colour(project: Project, review: Review) -> None:
    project(a=HEAD + "# before\n" + CALL + "# after\n")
    shown = review("q", "--color", "always").out
    assert "\x1b[31m-dist.init" in shown
    assert "\x1b[32m+dist.init" in shown
    assert " # before" in shown
    assert " # after" in shown


def test_a_default_and_its_choices_are_one_change(project: Project, review: Review) -> None:
    text = (
        "import argparse\n" + HEAD + "p = argparse.ArgumentParser()\n"
        'p.add_argument("--b", default="nccl",\n    choices=["nccl", "mpi"])\na = p.parse_args()\ndist.init_process_group(a.b)\n'
    )
    root = project(a=text)
    shown = review("yy").out
    assert "Change 1 of 2" in shown  # the other one is at the call, for what is typed
    assert "accepted or rejected together with 1 more change" in shown
    assert 'default="gloo"' in (root / "a.py").read_text()
    assert 'choices=["nccl", "mpi", "gloo"]' in (root / "a.py").read_text()


@pytest.mark.parametrize(("answers", "calls"), [("yn", 1), ("ny", 1), ("yy", 2)])
def test_an_import_comes_with_whichever_call_needs_it(project: Project, review: Review, answers: str, calls: int) -> None:
    root = project(a=HEAD + "\n\ndef a():\n    " + CALL + "\n\ndef b():\n    " + CALL)
    review(answers, ".", "--rule", "nccl-p2p-off", platform="cuda")
    text = (root / "a.py").read_text()
    assert text.count("import os\n") == 1
    assert text.count("os.environ.setdefault(") == calls


def test_no_import_comes_without_a_call(project: Project, review: Review) -> None:
    root = project(a=HEAD + "\n\ndef a():\n    " + CALL + "\n\ndef b():\n    " + CALL)
    review("nn", ".", "--rule", "nccl-p2p-off", platform="cuda")
    assert "os" not in (root / "a.py").read_text().split()


def test_unsafe_changes_are_asked_about_one_by_one(project: Project, review: Review) -> None:
    trainer = "import accelerate\nimport torch\n\n\ndef train(model):\n    {0} = accelerate.Accelerator()\n    model = {0}.prepare(model)\n"
    root = project(a=trainer.format("first") + trainer.format("second").replace("train(", "train_2("))
    shown = review("a", ".", platform="mixed-gpu")
    assert "unsafe" in shown.out
    assert shown.out.count("Accept this change") > 1  # "a" takes what is safe, so the next one is asked about
    assert subprocess.run(["git", "diff", "--stat"], cwd=root, capture_output=True, check=True).stdout


def test_dirty_files_are_refused_before_the_first_question(project: Project, review: Review) -> None:
    root = project(a=TWO)
    (root / "a.py").write_text(TWO + "# mine\n")
    done = review("y")
    assert done.code == 2
    assert "Accept this change" not in done.out
    assert "a.py" in done.err
    assert review("y", ".", "--allow-dirty").code == 0


def test_without_a_terminal_it_says_so(project: Project, capfd: pytest.CaptureFixture[str]) -> None:
    project(a=TWO)
    done = subprocess.run(
        [sys.executable, "-m", "ddp_codemod", "review", "--platform", "rocm"], input=b"y\n", capture_output=True, check=False
    )
    assert done.returncode == 2
    assert b"--answers" in done.stderr
    assert b"--html" in done.stderr


def test_nothing_to_change(project: Project, review: Review) -> None:
    project(a=HEAD + 'dist.init_process_group("gloo")\n')
    done = review("")
    assert (done.code, "Nothing to change for rocm." in done.out) == (0, True)


def test_chinese(project: Project, review: Review) -> None:
    project(a=TWO)
    shown = review("?yq", ".", "--lang", "zh").out
    assert "第 1 项修改，共 2 项" in shown
    assert "接受这项修改吗" in shown
    assert "回到上一项" in shown


def test_strange_text_does_not_reach_the_terminal(project: Project, review: Review) -> None:
    project(a=HEAD + 'x = "\x1b[2J\x9b"; ' + CALL)
    shown = review("q").out
    assert "\x1b" not in shown
    assert "\\x1b[2J\\x9b" in shown


EDITOR = """\
import pathlib, sys
path = pathlib.Path(sys.argv[1])
old, new = pathlib.Path(sys.argv[0]).with_suffix(".txt").read_text("utf-8").split("|")
path.write_text(path.read_text("utf-8").replace(old, new), "utf-8")
import os
os.utime(path, (1, 1))
"""


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """An editor that puts one text in place of another."""

    def make(old: str, new: str) -> None:
        program = tmp_path / "editor.py"
        program.write_text(EDITOR)
        program.with_suffix(".txt").write_text(f"{old}|{new}", "utf-8")
        monkeypatch.setenv("EDITOR", f'"{sys.executable}" "{program}"')

    return make


def test_a_change_can_be_edited(project: Project, review: Review, editor: Callable[[str, str], None]) -> None:
    editor('+dist.init_process_group("gloo")', '+dist.init_process_group("mpi")  # tried')
    root = project(a=TWO)
    assert review("en").code == 0
    assert (root / "a.py").read_text() == TWO.replace('"nccl")', '"mpi")  # tried', 1)


def test_line_ends_stay_when_a_change_is_edited(project: Project, review: Review, editor: Callable[[str, str], None]) -> None:
    editor('+dist.init_process_group("gloo")', '+dist.init_process_group("mpi")\n+x = 1')
    root = project(a=TWO.replace("\n", "\r\n"))
    review("en")
    assert (root / "a.py").read_bytes() == TWO.replace('"nccl")\n', '"mpi")\nx = 1\n', 1).replace("\n", "\r\n").encode()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("-dist", "-tsid", "of the file differs"),
        ("diff --git", "gone", "no longer has the 1 file"),
        ('+dist.init_process_group("gloo")', "+dist.init_process_group(", "is not valid Python"),
        ("nothing at all", "x", ""),
    ],
)
def test_an_edit_that_does_not_fit_asks_again(
    project: Project, review: Review, editor: Callable[[str, str], None], old: str, new: str, said: str
) -> None:
    editor(old, new)
    root = project(a=HEAD + CALL)
    done = review("en")
    assert said in done.out
    assert done.out.count("Accept this change") == 2
    assert (root / "a.py").read_text() == HEAD + CALL


def test_no_editor_no_guess(project: Project, review: Review) -> None:
    project(a=HEAD + CALL)
    assert "set VISUAL or EDITOR" in review("en").out


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_at_a_terminal(project: Project) -> None:
    import pty

    root = project(a=TWO)
    ours, terminal = pty.openpty()
    command = [sys.executable, "-m", "ddp_codemod", "review", "--platform", "rocm"]
    with subprocess.Popen(command, env={**os.environ, "TERM": "xterm"}, stdin=terminal, stdout=terminal, stderr=terminal):
        os.close(terminal)
        os.write(ours, b"y\nn\n")
        seen = b""
        try:
            while part := os.read(ours, 4096):
                seen += part
        except OSError:
            pass
    os.close(ours)
    assert b"\x1b[32m+dist.init_process_group" in seen
    assert b"(2/2) Accept this change" in seen
    assert backends(root) == {"a": ["gloo", "nccl"]}
