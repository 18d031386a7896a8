"""A part of what is found: some rules, what a branch changed, what a baseline does not know."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

TRAIN = 'import torch.distributed as dist\n\ndist.init_process_group("nccl")\n'
UNKNOWN = "import sys\n\nimport torch.distributed as dist\n\ndist.init_process_group(backend=f'cpu:gloo,cuda:{sys.argv[1]}')\n"
MORE = 'dist.new_group(backend="nccl")\n'
TERNARY = """import platform
import torch.distributed as dist

dist.init_process_group("nccl" if platform.system() != "Windows" else "gloo")
"""


def git(root: Path, *words: str) -> None:
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=root, check=True, capture_output=True)


def test_one_rule_is_selected(project, run) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN, unclear=UNKNOWN)
    done = run("check", ".", "--platform", "rocm", "--select", "unsupported-backend")
    assert done.code == 1
    assert "train.py:3: unsupported-backend" in done.out
    assert run("apply", ".", "--platform", "rocm", "--select", "nccl-debug").code == 0
    assert (root / "train.py").read_text() == TRAIN


def test_a_rule_is_ignored_and_that_is_said(project, run) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN, unclear=UNKNOWN)
    done = run("check", ".", "--platform", "rocm", "--ignore", "unsupported-backend")
    assert (done.code, done.out) == (0, "")
    assert "Nothing to change for rocm in this selection." in done.err
    assert "2 findings hidden by --select" in done.err
    assert "Nothing else needs to change" not in done.err


def test_what_goes_with_an_edit_goes_with_it(project, run) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TERNARY)
    run("apply", ".", "--platform", "rocm", "--ignore", "unsupported-backend")
    assert (root / "train.py").read_text() == TERNARY


def test_a_rule_that_is_not_there_is_named(project, run) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN)
    done = run("check", ".", "--platform", "rocm", "--ignore", "unsupported-backnd")
    assert done.code == 2
    assert "did you mean unsupported-backend?" in done.err


def test_a_baseline_keeps_known_findings_quiet_and_new_ones_fail(project, run) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN, unclear=UNKNOWN)
    words = ("check", ".", "--platform", "rocm", "--strict", "--baseline", "known.json")
    missing = run(*words)
    assert missing.code == 2
    assert "--update-baseline" in missing.err
    assert run(*words, "--update-baseline").code == 0
    assert len(json.loads((root / "known.json").read_bytes())["findings"]) == 2
    (root / "train.py").write_text("import os\n\n" + TRAIN)  # the line moved
    quiet = run(*words)
    assert (quiet.code, quiet.out) == (0, "")
    assert "Nothing to change for rocm in this selection." in quiet.err
    (root / "train.py").write_text(TRAIN + MORE)
    new = run(*words)
    assert new.code == 1
    assert "train.py:4: unsupported-backend" in new.out
    assert "train.py:3" not in new.out
    assert "Apply:" not in new.err  # apply would make the known change too
    assert "Apply:" in run("check", ".", "--platform", "rocm").err


def test_a_second_line_of_the_same_text_is_new(project, run) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN)
    words = ("check", ".", "--platform", "rocm", "--baseline", "known.json")
    run(*words, "--update-baseline")
    (root / "train.py").write_text(TRAIN + TRAIN.splitlines()[-1] + "\n")
    assert run(*words).code == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not a baseline of ddp-codemod"),
        ("[]", "not a baseline of ddp-codemod"),
        ('{"version": 1, "platform": "cpu", "findings": []}', "is a baseline for cpu"),
    ],
)
def test_a_baseline_that_is_none_is_refused(project, run, text: str, said: str) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN)
    (root / "known.json").write_text(text)
    done = run("check", ".", "--platform", "rocm", "--baseline", "known.json")
    assert done.code == 2
    assert said in done.err


def test_what_needs_no_change_is_listed_for_the_lines_of_the_branch_alone(project, run) -> None:  # type: ignore[no-untyped-def]
    kept = 'import torch.distributed as dist\n\ndist.init_process_group("gloo")\n'
    root = project(train=kept, other=kept)
    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    (root / "train.py").write_text(kept + "dist.new_group(backend='gloo')\n")
    said = run("check", ".", "--platform", "rocm", "--diff-base", "HEAD", "-v").said
    assert "train.py:4" in said
    assert "train.py:3" not in said
    assert "other.py" not in said


def test_a_file_whose_old_text_git_lacks_counts_as_changed_only_if_it_is_another(project, run) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN, other=TRAIN + "x = 1\n")
    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    ident = subprocess.run(["git", "rev-parse", "HEAD:other.py"], cwd=root, capture_output=True, text=True, check=True).stdout
    lost = root / ".git" / "objects" / ident[:2] / ident[2:].strip()
    lost.chmod(0o600)
    lost.unlink()
    words = ("check", ".", "--platform", "rocm", "--diff-base", "HEAD")
    done = run(*words)
    assert (done.code, "Cannot read" in done.said) == (0, False)
    (root / "other.py").write_text(TRAIN + "x = 2\n")
    done = run(*words)
    assert done.code == 1
    assert "other.py:3" in done.out
    assert "train.py" not in done.out
    assert "Cannot read 1 file as of HEAD (other.py): git lacks the old text" in done.err


def test_only_what_a_branch_changed(project, run) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN, other=TRAIN)
    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    words = ("check", ".", "--platform", "rocm", "--diff-base", "main")
    assert run(*words).code == 0
    git(root, "checkout", "-qb", "mine")
    (root / "train.py").write_bytes((TRAIN + MORE).replace("\n", "\r\n").encode())
    project(fresh=TRAIN)
    done = run(*words)
    assert done.code == 1
    assert "train.py:4" in done.out
    assert "fresh.py:3" in done.out
    assert "train.py:3" not in done.out
    assert "other.py" not in done.out
    git(root, "checkout", "-q", "--", ".")
    git(root, "checkout", "-q", "main")
    (root / "other.py").write_text(TRAIN + MORE)
    git(root, "commit", "-qam", "theirs")
    git(root, "checkout", "-q", "mine")
    assert "other.py" not in run(*words).out  # what main did since is not the branch's


def test_a_call_on_a_new_line_brings_its_value_on_an_old_one(project, run) -> None:  # type: ignore[no-untyped-def]
    root = project(train='import torch.distributed as dist\n\nBACKEND = "nccl"\n')
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    (root / "train.py").write_text((root / "train.py").read_text() + "dist.init_process_group(BACKEND)\n")
    assert "train.py:3" in run("check", ".", "--platform", "rocm", "--diff-base", "HEAD").out


def test_a_value_on_a_new_line_is_found_though_its_call_is_old(project, run) -> None:  # type: ignore[no-untyped-def]
    called = "import torch.distributed as dist\nfrom options import BACKEND\n\ndist.init_process_group(BACKEND)\n"
    root = project(train=called, options='BACKEND = "gloo"\n')
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    assert run("check", ".", "--platform", "rocm", "--diff-base", "HEAD").code == 0
    (root / "options.py").write_text('BACKEND = "nccl"\n')
    done = run("check", ".", "--platform", "rocm", "--diff-base", "HEAD")
    assert (done.code, "options.py:1" in done.out) == (1, True)


def test_a_patch_that_takes_nccl_away_is_said_where_nccl_works(project, run) -> None:  # type: ignore[no-untyped-def]
    text = "import torch\n" + TRAIN
    root = project(train=text)
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    words = ("check", ".", "--platform", "cuda", "--diff-base", "HEAD", "--strict")
    (root / "train.py").write_text(text.replace("nccl", "gloo"))
    done = run(*words)
    assert done.code == 1
    assert "on cuda this group used nccl at HEAD; the patch changes it to gloo" in " ".join(done.said.split())
    assert "changed-backend" not in run("check", ".", "--platform", "rocm", "--diff-base", "HEAD", "--strict").said
    (root / "train.py").write_text(text.replace('"nccl"', '"gloo" if torch.version.hip else "nccl"'))
    assert run(*words).code == 0


def test_half_a_patch_shows_what_its_groups_still_take(project, run) -> None:  # type: ignore[no-untyped-def]
    program = "import json\nimport torch.distributed as dist\n\n\ndef start(backend='nccl'):\n    dist.init_process_group(backend)\n\n\n"
    root = project(train=program + "start()\nstart(json.load(open('settings.json'))['backend'])\n", other=TRAIN)
    (root / "settings.json").write_text('{"backend": "nccl"}\n')
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    (root / "train.py").write_text((root / "train.py").read_text().replace("nccl", "gloo"))
    done = run("check", ".", "--platform", "rocm", "--diff-base", "HEAD")
    assert (done.code, "settings.json:1" in done.out) == (1, True)
    assert "other.py" not in done.out
    said = " ".join(run("check", ".", "--platform", "cuda", "--diff-base", "HEAD").said.split())
    assert "on cuda this group used nccl at HEAD; the patch changes it to gloo, nccl" in said


@pytest.mark.parametrize("base", ["nowhere", "--help", ""])
def test_a_base_that_is_not_there(project, run, base: str) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN)
    assert run("check", ".", "--platform", "rocm", f"--diff-base={base}").code == 2
    git(root, "init", "-q")
    done = run("check", ".", "--platform", "rocm", f"--diff-base={base}")
    assert done.code == 2
    assert "no such commit" in done.err


def test_statistics_count_what_would_be_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run) -> None:  # type: ignore[no-untyped-def]
    group = "import os\nimport torch.distributed as dist\n\ndist.init_process_group({})\n"
    for name, backend in (("a/one", '"nccl"'), ("a/two", '"nccl"'), ("b/c/three", '"nccl"'), ("b/right", '"gloo"')):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / f"{name}.py").write_text(group.format(backend))
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.chdir(tmp_path)
    done = run("check", ".", "--platform", "rocm", "--statistics")
    assert done.code == 1
    assert done.out.splitlines() == [
        "Findings by rule (3):", "  3  unsupported-backend", "", "By folder:", "  2  a", "  1  b/c",
    ]  # fmt: skip
    assert run("check", "b/right.py", "--platform", "rocm", "--statistics").out == ""
    refused = run("check", ".", "--platform", "rocm", "--statistics", "--format", "json")
    assert (refused.code, refused.out) == (2, "")


def test_nothing_on_the_lines_of_a_branch_is_said_of_these(project, run) -> None:  # type: ignore[no-untyped-def]
    root = project(train='import torch.distributed as dist\n\ndist.init_process_group("nccl")\n')
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    (root / "other.py").write_text("import torch\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "second")
    done = run("check", ".", "--platform", "rocm", "--diff-base", "HEAD~1")
    assert done.code == 0
    assert "Nothing to change for rocm on the lines that changed since HEAD~1." in done.err
