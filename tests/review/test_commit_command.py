"""``apply --commit`` and ``--branch`` as people type them."""

from __future__ import annotations

import io
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ddp_codemod.cli import main

HEAD = "import torch.distributed as dist\n"
CALL = 'dist.init_process_group("nccl")\n'


def git(*words: str) -> str:
    return subprocess.run(["git", *words], capture_output=True, text=True, check=True, encoding="utf-8").stdout.strip()


def test_a_commit_and_the_way_back(project: Callable[..., Path], capfd: pytest.CaptureFixture[str]) -> None:
    root = project(a=HEAD + CALL, b="print(1)\n")
    assert main(["apply", ".", "--platform", "rocm", "--commit"]) == 0
    out, err = capfd.readouterr()
    short = git("rev-parse", "HEAD")[:10]
    assert f"Committed as {short} on main." in err
    assert f"git revert --no-edit {short}" in out
    assert "ddp-codemod undo" not in out
    assert git("log", "-1", "--format=%s|%(trailers)") == (
        "Use gloo instead of nccl on rocm|Ddp-Codemod-Command: ddp-codemod apply . --platform rocm"
    )
    git("revert", "--no-edit", "HEAD")
    assert (root / "a.py").read_text() == HEAD + CALL


def test_on_another_branch_nothing_is_told_of_an_apply_to_one(
    project: Callable[..., Path], capfd: pytest.CaptureFixture[str]
) -> None:
    text, words = HEAD + CALL, ["--platform", "cuda", "--rule", "nccl-p2p-off"]
    root = project(a=text)
    assert main(["apply", ".", *words, "--branch", "port"]) == 0
    written = (root / "a.py").read_text().splitlines()
    same = next(number for number, line in enumerate(written, 1) if line in text.splitlines()[1:])  # a variable is set above it
    capfd.readouterr()
    assert main(["explain", f"a.py:{same}", *words]) == 0
    assert "apply changed" in capfd.readouterr().out
    git("checkout", "-q", "main")
    assert main(["explain", "a.py:2", *words]) == 0
    assert "apply changed" not in capfd.readouterr().out
    assert main(["undo"]) == 2
    out, err = capfd.readouterr()
    assert "restored" not in out
    assert "every file already holds its text from before the last apply" in err
    assert (root / "a.py").read_text() == text
    git("checkout", "-q", "port")
    assert main(["undo"]) == 2
    commit = git("rev-parse", "HEAD")[:10]
    assert f"the last apply is commit {commit} of this branch. To revert the commit: git revert --no-edit {commit}" in (
        capfd.readouterr().err
    )
    assert (root / "a.py").read_text() != text
    git("revert", "--no-edit", commit)
    assert main(["undo"]) == 2
    assert "every file already holds its text" in capfd.readouterr().err


def test_the_message_of_a_portable_commit_says_what_is_true_elsewhere(project: Callable[..., Path]) -> None:
    project(a="import torch\n" + HEAD + CALL)
    assert main(["apply", ".", "--platform", "rocm", "--style", "portable", "--unsafe", "--commit"]) == 0
    body = " ".join(git("log", "-1", "--format=%B").split())
    assert "nccl does not work there: on ROCm, nccl means RCCL, which fails" in body
    assert "Cost: gloo copies GPU tensors through host memory" in body
    assert "Machines on which it does not hold run the code as before." in body
    assert "It holds on other machines too: every ROCm build sets torch.version.hip" in body
    assert "1 of these changes is an unsafe fix" in body
    assert "Line numbers are those before the change. unsupported-backend:" in body


def test_the_message_of_another_change_names_no_backend(project: Callable[..., Path]) -> None:
    project(a=HEAD + CALL)
    assert main(["apply", ".", "--platform", "cuda", "--rule", "nccl-p2p-off", "--commit"]) == 0
    assert git("log", "-1", "--format=%s") == "Port torch.distributed setup to cuda"
    assert "does not work" not in git("log", "-1", "--format=%B")


def test_the_trailer_s_command_makes_the_same_changes(project: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    root = project(sub__a=HEAD + CALL, b=HEAD + CALL)
    monkeypatch.chdir(root / "sub")
    assert main(["apply", str(root / "sub"), "--platform", "cuda", "--rule", "nccl-p2p-off", "--branch", "port"]) == 0
    command = git("log", "-1", "--format=%(trailers:key=Ddp-Codemod-Command,valueonly)")
    assert command == "ddp-codemod apply sub --platform cuda --rule nccl-p2p-off"
    tree = git("rev-parse", "HEAD^{tree}")
    git("checkout", "-q", "main")
    monkeypatch.chdir(root)
    assert main([*command.split()[1:], "--branch", "again"]) == 0
    assert git("rev-parse", "HEAD^{tree}") == tree


LEFT = "from vllm import LLM\n\nLLM('model', tensor_parallel_size=2)\n"


def test_the_message_says_what_remains_and_what_other_machines_keep(project: Callable[..., Path]) -> None:
    project(a=HEAD + CALL, b=LEFT, c=HEAD + "from a import b, \\\n\n" + CALL)
    assert main(["apply", ".", "--platform", "rocm", "--branch", "pinned", "--lang", "en"]) == 1
    message = git("log", "-1", "--format=%b", "pinned")
    assert "Not changed, needs review:\n- b.py:3\n" in message
    assert "Not fully read:\n- c.py\n" in message
    assert "Each change is a condition" not in message
    git("checkout", "-q", "main")
    assert main(["apply", ".", "--platform", "rocm", "--style", "portable", "--unsafe", "--branch", "port", "--lang", "en"]) == 1
    assert "Each change is a condition" in git("log", "-1", "--format=%b", "port")


def test_nothing_to_commit(project: Callable[..., Path], capfd: pytest.CaptureFixture[str]) -> None:
    project(a=HEAD + CALL.replace("nccl", "gloo"))
    assert main(["apply", ".", "--platform", "rocm", "--branch", "port"]) == 0
    assert "Nothing to commit." in capfd.readouterr().err
    assert git("branch", "--format=%(refname:short)") == "main"


def test_a_dry_run_commits_nothing(project: Callable[..., Path]) -> None:
    project(a=HEAD + CALL)
    assert main(["apply", ".", "--platform", "rocm", "--commit", "--dry-run"]) == 0
    assert git("rev-list", "--count", "HEAD") == "1"


@pytest.mark.parametrize(
    ("words", "said"),
    [(("--commit", "--allow-dirty"), "excludes --commit"), (("--run-hooks",), "needs --commit or --branch")],
)
def test_options_that_do_not_go_together(
    project: Callable[..., Path], capfd: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    root = project(a=HEAD + CALL)
    assert main(["apply", ".", "--platform", "rocm", *words]) == 2
    assert said in capfd.readouterr().err
    assert (root / "a.py").read_text() == HEAD + CALL


def test_what_a_review_took_is_committed(
    project: Callable[..., Path], capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    project(a=HEAD + CALL, b=HEAD + CALL)
    monkeypatch.setattr("sys.stdin", io.StringIO("ny"))
    assert main(["review", ".", "--platform", "rocm", "--answers", "--branch", "port"]) == 0
    assert "git revert --no-edit" in capfd.readouterr().out
    assert git("show", "--format=%(trailers:valueonly)", "--name-only", "HEAD").split() == [
        *["ddp-codemod", "review", ".", "--platform", "rocm"],
        "b.py",
    ]
    assert git("status", "--porcelain", "--branch") == "## port"


def test_a_refusal_is_a_sentence(project: Callable[..., Path], capfd: pytest.CaptureFixture[str]) -> None:
    project(a=HEAD + CALL)
    git("checkout", "-q", "--detach")
    assert main(["apply", ".", "--platform", "rocm", "--commit", "--lang", "zh"]) == 2
    assert "游离" in capfd.readouterr().err
