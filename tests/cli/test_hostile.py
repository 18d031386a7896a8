"""What a stranger's project says does not lead the tool out of it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

TRAIN = 'import torch.distributed as dist\n\ndist.init_process_group("nccl")\n'


def test_rules_of_the_project_lie_in_the_project(project, run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN)
    (tmp_path / "away" / "platforms").mkdir(parents=True)
    (root / "link").symlink_to(tmp_path / "away")
    for folder in ("../away", str(tmp_path / "away"), "link"):
        (root / "pyproject.toml").write_text(f'[tool.ddp-codemod]\nplatform = "rocm"\nrule-folders = ["{folder}"]\n')
        done = run("check", ".")
        assert done.code == 2
        assert folder in done.err
        assert "--rules" in done.err
    (root / "pyproject.toml").write_text("")
    assert run("check", ".", "--platform", "rocm", "--rules", str(tmp_path / "away")).code == 1


@pytest.mark.skipif(os.name == "nt", reason="Windows has no named pipes in folders")
def test_pipes_are_refused_by_name_and_never_waited_for(project, run) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN)
    (root / "pyproject.toml").unlink()
    os.mkfifo(root / "pyproject.toml")
    os.mkfifo(root / "pipe.py")
    assert run("check", ".", "--platform", "rocm").code == 1
    done = run("check", "pipe.py", "--platform", "rocm")
    assert (done.code, "pipe.py: not a file or folder" in done.err) == (2, True)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such names")
def test_a_name_with_a_line_break_stays_on_its_line(project, run) -> None:  # type: ignore[no-untyped-def]
    root = project()
    (root / "a\nNothing to change\x1b[8m.py").write_text(TRAIN)
    done = run("check", ".", "--platform", "rocm")
    assert "a\\nNothing to change\\x1b[8m.py:3" in done.out
    assert not [line for line in done.said.splitlines() if line.startswith("Nothing to change")]


def test_a_file_that_git_rewrites_is_left_out_with_the_reason(project, run) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN, other=TRAIN)
    (root / ".gitattributes").write_text("train.py working-tree-encoding=UTF-16LE\n")
    for words in (("init", "-q"), ("add", "other.py", ".gitattributes")):
        subprocess.run(["git", *words], cwd=root, check=True)
    for words in (("diff", "."), ("apply", ".")):
        done = run(*words, "--platform", "rocm")
        assert done.code == 1
        assert "train.py: git rewrites the file by its attribute working-tree-encoding" in done.said
        assert "a/other.py" in done.out
        assert "a/train.py" not in done.out
    assert (root / "train.py").read_text() == TRAIN
    assert "gloo" in (root / "other.py").read_text()
    assert run("apply", ".", "--platform", "rocm", "--allow-dirty").code == 0
    assert "gloo" in (root / "train.py").read_text()


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege")
def test_a_link_out_of_the_project_that_is_named_is_refused_with_where_it_leads(project, run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    away = tmp_path / "away"
    away.mkdir()
    (away / "train.py").write_text('import torch.distributed as dist\n\ndist.init_process_group("nccl")\n')
    root = project()
    (root / "folder").symlink_to(away)
    (root / "link.py").symlink_to(away / "train.py")
    for name, place in (("folder", away), ("link.py", away / "train.py"), ("folder/train.py", away / "train.py")):
        result = run("apply", name, "--platform", "rocm")
        assert result.code == 2
        assert str(place) in result.err
    assert "nccl" in (away / "train.py").read_text()


FORGED = "nccl\n::error::owned\n##[error]owned\u2028::warning::owned\x85owned\x1b[2J\u202e"
SAYING = f"""import torch.distributed as dist

dist.init_process_group({FORGED!r})
dist.init_process_group(backend="nccl" if x else {FORGED!r})
TEXT = '''
::error::owned
  ::set-output name=a::owned
##[error]owned
'''; dist.init_process_group("nccl")
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such names")
@pytest.mark.parametrize("variable", ["CI", "GITHUB_ACTIONS", "TF_BUILD"])
@pytest.mark.parametrize(
    "words",
    [
        ("check", "."),
        ("check", ".", "-v", "--color", "always"),
        ("scan", "."),
        ("apply", ".", "--dry-run"),
        ("apply", ".", "--dry-run", "--unsafe"),
        ("explain", "::error::owned.py:3"),
        ("explain", "::error::owned.py:4"),
        ("apply", "."),
        ("apply", "::error ::missing"),
        ("apply", "a\n::error::missing"),
    ],
)
def test_nothing_of_a_project_starts_a_line_or_commands_a_pipeline(project, run, words, variable: str, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv(variable, "true")
    root = project()
    (root / "::error::owned.py").write_text(SAYING, "utf-8")
    (root / "a\n::error::owned.py").write_text(SAYING, "utf-8")
    done = run(*words, *(["--platform", "rocm"] if words[0] != "undo" else []))
    assert done.said
    for line in done.said.splitlines():
        assert not line.lstrip().startswith(("::", "owned"))
        assert "##[" not in line
    assert not {"\u202e", "\u2028", "\x85"} & set(done.said)
    assert "\x1b[2J" not in done.said


@pytest.mark.parametrize("format", ["github", "json", "sarif", "rdjson"])
def test_documents_for_programs_carry_it_as_data(project, run, format: str) -> None:  # type: ignore[no-untyped-def]
    project(train=SAYING)
    done = run("check", ".", "--platform", "rocm", "--format", format)
    lines = done.out.splitlines()
    assert lines
    assert not [line for line in lines if line.lstrip().startswith(("::error", "::set-output", "##["))]
    assert not {"\u202e", "\u2028", "\x1b"} & set(done.out)


def test_the_text_of_a_pull_request_has_no_live_link_of_the_project_and_no_control_character(project, run) -> None:  # type: ignore[no-untyped-def]
    forged = FORGED + " https://evil.example www.evil.example @someone GH-12"
    project(train=f"import torch.distributed as dist\n\ndist.init_process_group({forged!r})\ndist.init_process_group('nccl')\n")
    done = run("diff", ".", "--platform", "rocm", "--unsafe", "--summary", "md")
    text = "".join(part for index, part in enumerate(done.out.split("`")) if index % 2 == 0)  # outside of code
    assert "https://evil" not in text
    assert "www.evil" not in text
    assert not {"\u202e", "\u2028", "\x85", "\x1b"} & set(done.out)
    assert not [line for line in done.out.splitlines() if line.lstrip().startswith("::")]


@pytest.mark.parametrize("version", ["==0.1speed.init", ">=", "==1,,", "~=1", "==9" * 3000, "<>", "===\x7f"])
def test_a_command_that_installs_no_version_stops_nothing(project, run, version: str) -> None:  # type: ignore[no-untyped-def]
    root = project(train="from accelerate import Accelerator\n\naccelerator = Accelerator()\naccelerator.backward(1)\n")
    (root / "README.md").write_text(f"pip install accelerate{version}\n")
    done = run("check", ".", "--platform", "rocm")
    assert done.code == 1
    assert "train.py:3" in done.out
