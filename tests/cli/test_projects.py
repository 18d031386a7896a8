"""Several projects in one run, each with the platform that it names."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.api import plan

TRAIN = 'import torch.distributed as dist\n\ndist.init_process_group("nccl")\n'


@pytest.fixture
def monorepo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "mono"
    for name, platform in (("", ""), ("libs/npu", "ascend"), ("apps/[card]", "mlu")):
        folder = root / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "train.py").write_text(TRAIN)
        said = f'[tool.ddp-codemod]\nplatform = "{platform}"\n' if platform else ""
        (folder / "pyproject.toml").write_text(said)
    monkeypatch.chdir(root)
    return root


def backends(root: Path) -> dict[str, str]:
    found = {}
    for path in sorted(root.rglob("train.py")):
        found[path.parent.name] = next(name for name in ("nccl", "hccl", "cncl", "gloo") if f'"{name}"' in path.read_text())
    return found


def test_each_project_gets_its_platform_and_the_rest_is_named(monorepo: Path, run) -> None:  # type: ignore[no-untyped-def]
    done = run("apply", ".")
    assert done.code == 0
    assert backends(monorepo) == {"mono": "nccl", "npu": "hccl", "[card]": "cncl"}
    assert ".: skipped outside the projects below, because no platform is set there" in done.err
    assert "ddp-codemod undo libs/npu" in done.out
    assert run("undo", "libs/npu").code == 0
    assert backends(monorepo) == {"mono": "nccl", "npu": "nccl", "[card]": "cncl"}


def test_the_rest_gets_the_platform_of_the_whole(monorepo: Path, run) -> None:  # type: ignore[no-untyped-def]
    (monorepo / "pyproject.toml").write_text('[tool.ddp-codemod]\nplatform = "cpu"\n')
    assert run("check", ".").code == 1
    done = run("apply", ".")
    assert backends(monorepo) == {"mono": "gloo", "npu": "hccl", "[card]": "cncl"}
    assert "2 files excluded by include or exclude in pyproject.toml, or in a project with its own platform" in done.out


def test_a_platform_on_the_command_line_is_for_all(monorepo: Path, run) -> None:  # type: ignore[no-untyped-def]
    run("apply", ".", "--platform", "cpu")
    assert set(backends(monorepo).values()) == {"gloo"}


def test_paths_of_several_projects_are_gone_through(monorepo: Path, run) -> None:  # type: ignore[no-untyped-def]
    done = run("check", "libs/npu", "apps/[card]")
    assert done.code == 1
    assert "Project libs/npu:" in done.err
    assert "Changing nccl to hccl." in done.out
    assert "Changing nccl to cncl." in done.out


def test_a_document_is_about_one_project(monorepo: Path, run) -> None:  # type: ignore[no-untyped-def]
    done = run("check", "libs/npu", "apps/[card]", "--format", "json")
    assert (done.code, done.out) == (2, "")
    assert "run ddp-codemod once for each" in done.err


@pytest.mark.parametrize("words", [("diff",), ("check", "--format", "json"), ("check", "--format", "sarif")])
def test_what_is_about_one_project_names_those_inside_it(monorepo: Path, run, words: tuple[str, ...]) -> None:  # type: ignore[no-untyped-def]
    (monorepo / "pyproject.toml").write_text('[tool.ddp-codemod]\nplatform = "cpu"\n')
    done = run(*words[:1], ".", *words[1:])
    assert done.code == 1
    assert "gloo" in done.out
    assert "hccl" not in done.out
    if "sarif" not in words:
        assert "a project with its own platform (ascend)" in " ".join(done.said.split())
    assert '"gloo"' not in run("diff", "libs/npu").out
    assert "a/libs/npu" not in done.out


def test_a_folder_asked_about_from_python_leaves_the_projects_inside_it_alone(monorepo: Path) -> None:
    (monorepo / "pyproject.toml").write_text('[tool.ddp-codemod]\nplatform = "cpu"\n')
    assert [edit.path for edit in plan(monorepo).edits] == ["train.py"]
    assert {edit.path for edit in plan(monorepo, platform="cpu").edits} == {
        "train.py",
        "libs/npu/train.py",
        "apps/[card]/train.py",
    }
