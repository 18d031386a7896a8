"""A wheel, built and installed where nothing else of this checkout can be imported, does the job."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load

TOP = Path(__file__).parents[1]
FIXTURE = TOP / "fixtures/tts-spawn"


def call(*command: object, cwd: Path) -> str:
    environ = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "CI")}
    environ |= {"XDG_STATE_HOME": str(cwd), "LOCALAPPDATA": str(cwd)}  # what undo needs stays in the test's folder
    done = subprocess.run(
        [*map(str, command)], cwd=cwd, env=environ, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(once: Callable[..., Path]) -> Path:
    def build(folder: Path) -> None:
        call(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, TOP, cwd=folder)

    (built,) = once("wheel", build).glob("*.whl")
    return built


@pytest.fixture(scope="module")
def python(wheel: Path, once: Callable[..., Path]) -> Path:
    """The Python of an environment that has the wheel, and of the running one only what the wheel depends on."""

    def create(home: Path) -> None:
        call(sys.executable, "-m", "venv", "--without-pip", home, cwd=wheel.parent)
        found = home / name
        words = ("install", "--quiet", "--no-deps", "--no-index", wheel)
        call(sys.executable, "-m", "pip", "--python", found, *words, cwd=wheel.parent)
        packages = Path(call(found, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])", cwd=wheel.parent).strip())
        # a .pth file's folders are searched last, and their own .pth files, such as that of an editable install, are not read
        (packages / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"] + "\n", "utf-8")
        where = call(found, "-c", "import ddp_codemod; print(ddp_codemod.__file__)", cwd=wheel.parent)
        assert Path(where.strip()).is_relative_to(packages)

    name = "Scripts/python.exe" if sys.platform == "win32" else "bin/python"
    return once("environment", create) / name


def test_the_wheel_holds_the_package_and_its_data_alone(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"ddp_codemod"}
    for needed in (
        "py.typed",
        "messages/zh.toml",
        "messages/en.d/engine.toml",
        "report/schema.json",
        "catalog/data/platforms/rocm.toml",
    ):
        assert f"ddp_codemod/{needed}" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_it_lists_every_platform(python: Path, tmp_path: Path) -> None:
    said = call(python.with_name("ddp-codemod"), "platforms", cwd=tmp_path)
    assert [line.split()[0] for line in said.splitlines()] == sorted(load().platforms)


def test_it_patches_a_project(python: Path, tmp_path: Path) -> None:
    for name in ("patched", "expected"):
        shutil.copytree(FIXTURE / "project", tmp_path / name)
    call("git", "apply", FIXTURE / "expected/rocm.diff", cwd=tmp_path / "expected")
    said = call(python, "-m", "ddp_codemod", "apply", "patched", "--platform", "rocm", cwd=tmp_path)
    assert '+        strategy=DDPStrategy(process_group_backend="gloo")' in said
    files = {path.relative_to(tmp_path / "expected") for path in (tmp_path / "expected").rglob("*") if path.is_file()}
    assert {
        name for name in files if (tmp_path / "expected" / name).read_bytes() != (tmp_path / "patched" / name).read_bytes()
    } == set()
