"""The hooks as pre-commit installs and runs them: from a git URL, on a real commit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pre_commit", reason="pre-commit is not installed")

TOP = Path(__file__).parents[2]
HEAD = "import torch.distributed as dist\n"
CALL = 'dist.init_process_group("nccl")\n'


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    (folder / ".gitconfig").write_text("[user]\n\tname = Test\n\temail = test@example.com\n[init]\n\tdefaultBranch = main\n")
    return folder


@pytest.fixture(scope="module")
def call(home: Path):  # type: ignore[no-untyped-def]
    environ = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") and name not in ("PYTHONPATH", "LANG", "LC_ALL")
    }
    environ |= {
        "HOME": str(home),
        "USERPROFILE": str(home),
        "XDG_STATE_HOME": str(home),
        "PRE_COMMIT_HOME": str(home / "cache"),
        "GIT_CONFIG_NOSYSTEM": "1",
    }

    def run(*words: object, at: Path, fine: bool = True) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [*map(str, words)], cwd=at, env=environ, capture_output=True, text=True, encoding="utf-8", check=False
        )
        assert not fine or done.returncode == 0, done.stdout + done.stderr
        return done

    return run


@pytest.fixture(scope="module")
def source(call, tmp_path_factory: pytest.TempPathFactory) -> Path:  # type: ignore[no-untyped-def]
    """This checkout as a repository of its own, with one commit and no history."""
    names = call("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", at=TOP, fine=False).stdout.split("\0")[
        :-1
    ]
    if not names:
        pytest.skip("not a git checkout")
    folder = tmp_path_factory.mktemp("source")
    for name in names:
        if (
            name.startswith(("ddp_codemod/", "rules/", "pyproject", "hatch_build", "README", "LICENSE", ".pre-commit"))
            and (TOP / name).is_file()
        ):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(TOP / name, folder / name)
    call("git", "init", "-q", at=folder)
    call("git", "add", "-A", at=folder)
    call("git", "commit", "-q", "-m", "source", at=folder)
    return folder


@pytest.fixture
def project(call, source: Path, tmp_path: Path):  # type: ignore[no-untyped-def]
    def make(ident: str) -> Path:
        root = tmp_path / "project"
        root.mkdir()
        revision = call("git", "rev-parse", "HEAD", at=source).stdout.strip()
        (root / ".pre-commit-config.yaml").write_text(
            f"repos:\n- repo: {source.as_uri()}\n  rev: {revision}\n  hooks:\n  - id: {ident}\n    args: [--platform, rocm]\n"
        )
        (root / "b.py").write_text("print(1)\n")
        call("git", "init", "-q", at=root)
        call("git", "add", "-A", at=root)
        call("git", "commit", "-q", "-m", "start", at=root)
        call(sys.executable, "-m", "pre_commit", "install", at=root)
        return root

    return make


def test_check_stops_a_commit(call, project) -> None:  # type: ignore[no-untyped-def]
    root = project("ddp-codemod-check")
    (root / "a.py").write_text(HEAD + CALL)
    call("git", "add", "a.py", at=root)
    done = call("git", "commit", "-m", "a", at=root, fine=False)
    assert done.returncode == 1
    assert "a.py:2: unsupported-backend (safe)" in done.stdout + done.stderr
    assert (root / "a.py").read_text() == HEAD + CALL
    (root / "a.py").write_text(HEAD + CALL.replace("nccl", "gloo"))
    call("git", "commit", "-a", "-m", "a", at=root)


def test_fix_fixes_and_fails_and_then_passes(call, project) -> None:  # type: ignore[no-untyped-def]
    root = project("ddp-codemod")
    (root / "a.py").write_text(HEAD + CALL)
    call("git", "add", "a.py", at=root)
    done = call("git", "commit", "-m", "a", at=root, fine=False)
    assert done.returncode == 1
    assert "files were modified by this hook" in done.stdout + done.stderr
    assert (root / "a.py").read_text() == HEAD + CALL.replace("nccl", "gloo")
    call("git", "add", "a.py", at=root)
    call("git", "commit", "-m", "a", at=root)
    assert call("git", "show", "HEAD:a.py", at=root).stdout == HEAD + CALL.replace("nccl", "gloo")


def test_what_is_not_staged_is_not_looked_at_and_stays(call, project) -> None:  # type: ignore[no-untyped-def]
    root = project("ddp-codemod")
    body = HEAD + CALL + "\n" * 12
    (root / "a.py").write_text(body.replace("nccl", "gloo"))
    call("git", "add", "a.py", at=root)
    (root / "a.py").write_text(body.replace("nccl", "gloo") + CALL)  # a call that is wrong, not staged
    call("git", "commit", "-m", "a", at=root)
    assert (root / "a.py").read_text() == body.replace("nccl", "gloo") + CALL
    assert call("git", "show", "HEAD:a.py", at=root).stdout == body.replace("nccl", "gloo")


def test_a_partly_staged_file_is_fixed_as_far_as_it_is_staged(call, project) -> None:  # type: ignore[no-untyped-def]
    root = project("ddp-codemod")
    body = HEAD + CALL + "\n" * 12
    (root / "a.py").write_text(body)
    call("git", "add", "a.py", at=root)
    (root / "a.py").write_text(body + "x = 1\n")
    assert call("git", "commit", "-m", "a", at=root, fine=False).returncode == 1
    assert (root / "a.py").read_text() == body.replace("nccl", "gloo") + "x = 1\n"
    assert call("git", "show", ":a.py", at=root).stdout == body


@pytest.mark.parametrize("name", ["Dockerfile", "Makefile", "start.bat", "start.ps1", "run.sbatch"])
def test_a_file_that_only_starts_the_program_is_looked_at(call, project, name: str) -> None:  # type: ignore[no-untyped-def]
    root = project("ddp-codemod-check")
    (root / "c.py").write_text(
        "import argparse\nimport torch.distributed as dist\np = argparse.ArgumentParser()\n"
        'p.add_argument("--backend", default="gloo")\ndist.init_process_group(p.parse_args().backend)\n'
    )
    call("git", "add", "c.py", at=root)
    call("git", "commit", "--no-verify", "-m", "c", at=root)
    line = "python c.py --backend nccl\n"
    (root / name).write_text({"Dockerfile": f"FROM x\nCMD {line}", "Makefile": f"run:\n\t{line}"}.get(name, line))
    call("git", "add", name, at=root)
    done = call("git", "commit", "-m", "start", at=root, fine=False)
    assert done.returncode == 1, done.stdout + done.stderr
    by_hand = name.endswith((".bat", ".ps1"))  # such a file is not edited: the call takes the name
    assert ("c.py:5: unsupported-backend" if by_hand else f"{name}:") in done.stdout + done.stderr
    assert "Skipped" not in done.stdout + done.stderr


def test_prose_does_not_start_it(call, project) -> None:  # type: ignore[no-untyped-def]
    root = project("ddp-codemod-check")
    (root / "a.md").write_text("nccl\n")
    call("git", "add", "a.md", at=root)
    assert "no files to check" in call("git", "commit", "-m", "a", at=root).stderr
