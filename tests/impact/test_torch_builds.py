"""A build of torch that the project pins, and that the platform does not run: one note for the project, and no edit."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.model import Advisory
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

RULES = load()
GROUP = 'import torch.distributed as dist\n\ndist.init_process_group("nccl")\n'
CUDA = "--extra-index-url https://download.pytorch.org/whl/cu121\ntorch\n"


def find_notes(root: Path, platform: str, **files: str) -> list[Advisory]:
    for name, text in {"train__py": GROUP, **files}.items():
        path = root / name.replace("__", ".").replace("_in_", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found = survey(Options((root,), RULES.platforms[platform], RULES, (), root))
    assert all(edit.name.endswith(".py") for edit in found.edits)
    return [one for one in found.advisories if one.rule == "torch-cuda-build"]


@pytest.mark.parametrize("platform", sorted(name for name, one in RULES.platforms.items() if one.install is not None))
def test_the_note_names_what_to_install_and_the_page(tmp_path: Path, platform: str) -> None:
    (note,) = find_notes(tmp_path, platform, requirements__txt=CUDA)
    text, install = str(dict(note.message.args)["text"]), RULES.platforms[platform].install
    assert install is not None
    assert (note.name, note.line, note.open) == ("requirements.txt", 1, False)
    assert f"install {' + '.join(install.packages)}: {install.source}" in text
    assert "PACKAGES" not in text


@pytest.mark.parametrize("platform", ["cuda", "windows", "cpu", "macos", "single-gpu"])
def test_platforms_that_run_the_torch_of_pip_say_nothing(tmp_path: Path, platform: str) -> None:
    assert find_notes(tmp_path, platform, requirements__txt=CUDA) == []


def test_one_note_names_all_the_files(tmp_path: Path) -> None:
    files = {
        "Dockerfile": "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\n",
        "environment__yml": "dependencies:\n  - cudatoolkit=11.3\n",
    }
    (note,) = find_notes(tmp_path, "rocm", requirements__txt=CUDA, **files)
    assert (note.name, dict(note.message.args)["lines"]) == ("Dockerfile", "environment.yml:2, requirements.txt:1")


@pytest.mark.parametrize(
    "files",
    [
        {"requirements__txt": CUDA, "requirements_rocm__txt": "--index-url https://download.pytorch.org/whl/rocm6.2\ntorch\n"},
        {"requirements__txt": CUDA, "docker_in_Dockerfile": "FROM rocm/pytorch:latest\n"},
        {"requirements_cuda__txt": CUDA},
        {"uv__lock": 'registry = "https://download.pytorch.org/whl/cu121"\n'},
        {"requirements__txt": "torch==2.4.0+cu121; sys_platform == 'win32'\n"},
        {"other_in_requirements__txt": CUDA, "other_in_notes__txt": "x\n"},
        {"README__md": "pip install torch --index-url https://download.pytorch.org/whl/cu121\n"},
    ],
)
def test_what_is_no_pin_for_this_platform(tmp_path: Path, files: dict[str, str]) -> None:
    assert find_notes(tmp_path, "rocm", **files) == []
