"""What files say about versions, each as people write it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddp_codemod.model import Source
from ddp_codemod.parse.requirements import find_requirements, may_state_versions


def stated(name: str, text: str) -> list[tuple[str, str, str]]:
    """(package, specifier, the text at its place) of every statement about torch or lightning."""
    source = Source(Path(name), name, text.encode(), text, "utf-8")
    found = [one for one in find_requirements(source) if one.package in ("torch", "pytorch", "pytorch-lightning")]
    return [(one.package, one.specifier, text[one.start : one.end]) for one in found]


@pytest.mark.parametrize(
    ("line", "specifier"),
    [
        ("torch==2.1.0", "==2.1.0"),
        ("torch >= 1.8.0", ">= 1.8.0"),
        ("torch>=2.0,<2.5  # why", ">=2.0,<2.5"),
        ("Torch[extra]~=2.1", "~=2.1"),
        ("torch==2.1.0+cu118 --hash=sha256:00", "==2.1.0+cu118"),
        ("torch", ""),
        ("torch!=2.3.0, >=2.1", "!=2.3.0, >=2.1"),
        ("torch==2.1.*", "==2.1.*"),
        ("torch>=2.7.1; sys_platform == 'linux'", ">=2.7.1"),
    ],
)
def test_a_line_of_requirements(line: str, specifier: str) -> None:
    assert stated("requirements.txt", f"numpy\n{line}\n") == [("torch", specifier, specifier)]


@pytest.mark.parametrize(
    "line",
    [
        "# torch==2.1",
        "torch-npu==2.1",
        "torchvision==0.15",
        "-r torch.txt",
        "https://x.example/torch-2.1.whl",
        "my-torch==1",
        "--find-links torch",
    ],
)
def test_lines_that_say_nothing_about_torch(line: str) -> None:
    assert stated("requirements.txt", f"{line}\n") == []


def test_windows_line_ends_and_markers() -> None:
    text = "torch==2.1.0 ; sys_platform == 'win32'\r\ntorch==2.4.0\r\n"
    source = Source(Path("r"), "requirements.txt", text.encode(), text, "utf-8")
    assert [(one.specifier, one.marker) for one in find_requirements(source)] == [
        ("==2.1.0", "sys_platform == 'win32'"),
        ("==2.4.0", ""),
    ]


def test_pyproject_lists_and_poetry_tables() -> None:
    text = (
        '[project]\nname = "torch-things"\nversion = "2.0"\ndependencies = [\n  "torch>=2.0",  # "torch==1"\n  # "torch==1.0",\n]\n'
        '[tool.poetry.dependencies]\ntorch = "^2.1"\npytorch-lightning = {version = "~2.0", optional = true}\n'
        '[tool.other]\ntorch = "1.0"\nknown = ["torch"]\n'
    )
    assert stated("pyproject.toml", text) == [
        ("torch", ">=2.0", ">=2.0"),
        ("torch", ">=2.1,<3", "^2.1"),
        ("pytorch-lightning", ">=2.0,<2.1", "~2.0"),
        ("torch", "", ""),
    ]


def test_setup_files() -> None:
    assert stated("setup.py", "setup(install_requires=['torch>=1.13', \"torchaudio\"], name='x')\n") == [
        ("torch", ">=1.13", ">=1.13")
    ]
    assert stated("setup.cfg", "[options]\ninstall_requires =\n    torch >= 2.0\n    numpy\n") == [("torch", ">= 2.0", ">= 2.0")]


def test_conda_environments() -> None:
    text = "dependencies:\n  - pytorch=2.1\n  - pytorch::pytorch==2.0.1=py3.9_cuda11\n  - pytorch>=1.12\n  - pip:\n    - torch==2.2.0\n"
    assert stated("environment.yml", text) == [
        ("pytorch", "==2.1.*", "=2.1"),
        ("pytorch", "==2.0.1", "==2.0.1=py3.9_cuda11"),
        ("pytorch", ">=1.12", ">=1.12"),
        ("torch", "==2.2.0", "==2.2.0"),
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("uv.lock", '[[package]]\nname = "torch"\nversion = "2.5.1"\n'),
        ("poetry.lock", '[[package]]\nname = "torch"\nversion = "2.5.1"\ndescription = ""\n'),
        ("Pipfile.lock", '{"default": {"torch": {"hashes": ["a"], "version": "==2.5.1"}}}'),
    ],
)
def test_lock_files(name: str, text: str) -> None:
    assert [(package, specifier) for package, specifier, _ in stated(name, text)] == [("torch", "==2.5.1")]


@pytest.mark.parametrize(
    "name", ["requirements.txt", "requirements/gpu.txt", "requirements-dev.in", "cuda-requirements.txt", "conda.yaml", "uv.lock"]
)
def test_files_that_state_versions(name: str) -> None:
    assert may_state_versions(name)


@pytest.mark.parametrize(
    "name", ["notes.txt", "config/base.yaml", "data/train.txt", "pyproject.toml.bak", "requirements/readme.md"]
)
def test_files_that_do_not(name: str) -> None:
    assert not may_state_versions(name)


@given(st.text(alphabet="torch=<>~!,. \t\n\r#-;[]()'\"0123^*+:\\", max_size=60))
def test_any_text_is_read_and_places_lie_in_it(text: str) -> None:
    for name in ("requirements.txt", "pyproject.toml", "setup.py", "environment.yml", "uv.lock", "Pipfile.lock"):
        source = Source(Path(name), name, text.encode(), text, "utf-8")
        for one in find_requirements(source):
            assert 0 <= one.start <= one.end <= len(text)
            assert "\n" not in text[one.start : one.end]


# each took minutes or hours
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("requirements.txt", "torch" + "!" * 60 + "(\n"),
        ("requirements.txt", "torch" + "  ==1" * 60 + "(\n"),
        ("requirements.txt", "torch" + " " * 50_000 + "x\n"),
        ("environment.yml", "- torch" + " " * 50_000 + "x\n"),
        ("setup.py", '"torch; ' + " " * 50_000 + "x\n"),
        ("setup.py", '"a", ' * 20_000 + "\n"),
        ("pyproject.toml", "[tool.poetry.dependencies]\n" * 20_000),
    ],
)
def test_lines_that_can_be_read_in_many_ways_are_read_once(name: str, text: str) -> None:
    assert "torch" not in {
        one.package for one in find_requirements(Source(Path(name), name, text.encode(), text, "utf-8")) if one.specifier
    }


def test_what_packaging_could_not_bear_is_no_statement() -> None:
    text = f"torch=={'9' * 5_000}\ntorch>=1; {'(' * 5_000}\ntorch>=2.1\n"
    found = find_requirements(Source(Path("requirements.txt"), "requirements.txt", text.encode(), text, "utf-8"))
    assert [one.specifier for one in found] == [">=2.1"]
