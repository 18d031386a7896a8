"""Other repositories inside a project: submodules and clones, which a patch or commit of the project cannot change."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from ddp_codemod.api import plan

TRAIN = 'import torch.distributed as dist\n\ndist.init_process_group("nccl")\n'
ROCM = ("--platform", "rocm")


def git(*words: str, cwd: Path) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always")
    return subprocess.run(["git", *who, *words], cwd=cwd, capture_output=True, check=True, text=True).stdout


def repository(at: Path, **files: str) -> Path:
    at.mkdir(parents=True)
    git("init", "-q", cwd=at)
    for name, text in files.items():
        (at / f"{name}.py").write_text(text)
    git("add", "-A", cwd=at)
    git("commit", "-q", "-m", "first", cwd=at)
    return at


@pytest.fixture
def outer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a submodule that trains, one that does not, and code of its own that does."""
    (tmp_path / "home" / ".gitconfig").write_text("[user]\n\tname = a\n\temail = a@b\n")
    used, theme = repository(tmp_path / "used", dist=TRAIN), repository(tmp_path / "theme", conf="x = 1\n")
    top = repository(tmp_path / "outer", train=TRAIN)
    git("submodule", "--quiet", "add", str(used), "third_party/used", cwd=top)
    git("submodule", "--quiet", "add", str(theme), "docs/theme", cwd=top)
    git("commit", "-q", "-m", "submodules", cwd=top)
    monkeypatch.chdir(top)
    return top


def held(top: Path) -> tuple[str, str]:
    return tuple("gloo" if '"gloo"' in (top / name).read_text() else "nccl" for name in ("train.py", "third_party/used/dist.py"))  # type: ignore[return-value]


def test_a_submodule_is_named_and_left_alone(outer: Path, run) -> None:  # type: ignore[no-untyped-def]
    done = run("apply", ".", *ROCM)
    assert (done.code, held(outer)) == (1, ("gloo", "nccl"))
    assert "third_party/used" in done.out
    assert "a separate git repository" in done.out
    assert "docs/theme" not in done.out  # nothing would change there


def test_the_patch_is_one_that_git_takes(outer: Path, run) -> None:  # type: ignore[no-untyped-def]
    patch = run("diff", ".", *ROCM).out
    subprocess.run(["git", "apply", "--index"], input=patch, cwd=outer, text=True, check=True, capture_output=True)
    assert held(outer) == ("gloo", "nccl")


def test_a_commit_takes_what_is_the_projects(outer: Path, run) -> None:  # type: ignore[no-untyped-def]
    assert run("apply", ".", *ROCM, "--commit").code == 1
    assert git("show", "--format=", "--name-only", "HEAD", cwd=outer) == "train.py\n"
    assert git("status", "--porcelain", cwd=outer) == ""


def test_with_the_option_each_is_a_project_of_its_own(outer: Path, run) -> None:  # type: ignore[no-untyped-def]
    done = run("apply", ".", *ROCM, "--submodules")
    assert held(outer) == ("gloo", "gloo")
    assert "Project third_party/used:" in done.err
    assert "ddp-codemod undo third_party/used" in done.out
    assert run("undo", "third_party/used").code == 0
    assert held(outer) == ("gloo", "nccl")


def test_with_the_option_each_has_a_patch(outer: Path, tmp_path: Path, run) -> None:  # type: ignore[no-untyped-def]
    refused = run("diff", ".", *ROCM, "--submodules")
    assert (refused.code, refused.out) == (2, "")
    assert "-o FILE" in refused.err
    done = run("diff", ".", *ROCM, "--submodules", "-o", str(tmp_path / "port.patch"))
    assert "port.third_party-used.patch" in done.err
    git("apply", "--index", str(tmp_path / "port.patch"), cwd=outer)
    git("apply", "--index", str(tmp_path / "port.third_party-used.patch"), cwd=outer / "third_party" / "used")
    assert held(outer) == ("gloo", "gloo")


@pytest.mark.parametrize("named", ["third_party/used", "third_party/used/dist.py"])
def test_a_submodule_that_is_named_is_a_project_of_its_own(outer: Path, run, named: str) -> None:  # type: ignore[no-untyped-def]
    assert run("apply", named, *ROCM).code == 0
    assert held(outer) == ("nccl", "gloo")
    assert run("apply", "train.py", named, *ROCM, "--allow-dirty").code == 0
    assert held(outer) == ("gloo", "gloo")


def test_a_submodule_that_is_ported_is_not_named_any_more(outer: Path, run) -> None:  # type: ignore[no-untyped-def]
    run("apply", "third_party/used", *ROCM)
    done = run("apply", ".", *ROCM)
    assert done.code == 0
    assert "a separate git repository" not in done.out


def test_a_clone_that_git_does_not_know_is_one_too(outer: Path, run) -> None:  # type: ignore[no-untyped-def]
    repository(outer / "deps" / "clone", dist=TRAIN)
    done = json.loads(run("diff", ".", *ROCM, "--format", "json").out)
    assert [one["path"] for one in done["skipped"]] == ["deps/clone", "third_party/used"]
    assert [one["path"] for one in done["edits"]] == ["train.py"]


def test_a_submodule_that_the_project_excludes_is_not_named(outer: Path, run) -> None:  # type: ignore[no-untyped-def]
    (outer / "pyproject.toml").write_text('[tool.ddp-codemod]\nexclude = ["third_party/"]\n')
    assert run("check", "third_party", *ROCM).code == 0


def test_the_python_interface_leaves_it_alone(outer: Path) -> None:
    made = plan(outer, platform="rocm")
    assert [one.path for one in made.edits] == ["train.py"]


def test_a_value_of_the_project_that_a_submodule_gives_is_for_review(outer: Path, run) -> None:  # type: ignore[no-untyped-def]
    (outer / "third_party" / "used" / "options.py").write_text('BACKEND = "nccl"\n')
    (outer / "train.py").write_text(
        "import torch.distributed as dist\nfrom third_party.used.options import BACKEND\n\ndist.init_process_group(BACKEND)\n"
    )
    done = run("check", ".", *ROCM)
    assert "the value comes from third_party/used/options.py:1, in a separate git repository" in " ".join(done.said.split())


def test_a_zip_with_a_submodule_inside_is_one_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run) -> None:  # type: ignore[no-untyped-def]
    top = tmp_path / "zip"
    for name in ("train.py", "third_party/used/dist.py"):
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(TRAIN)
    (top / ".gitmodules").write_text('[submodule "used"]\n\tpath = third_party/used\n\turl = https://example.com/used\n')
    (top / "pyproject.toml").touch()
    monkeypatch.chdir(top)
    assert run("apply", ".", *ROCM).code == 0
    assert held(top) == ("gloo", "gloo")


def test_a_clone_in_a_folder_without_git_is_part_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run) -> None:  # type: ignore[no-untyped-def]
    top = tmp_path / "plain"
    top.mkdir()
    (top / "pyproject.toml").touch()
    (top / "train.py").write_text(TRAIN)
    repository(top / "third_party" / "used", dist=TRAIN)
    monkeypatch.chdir(top)
    assert run("apply", ".", *ROCM).code == 0
    assert held(top) == ("gloo", "gloo")
