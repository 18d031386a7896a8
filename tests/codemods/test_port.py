"""LibCST's own tool, run on copies of projects, makes what ``ddp-codemod diff`` shows."""

from __future__ import annotations

import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import libcst
import pytest
from libcst.codemod import CodemodContext, SkipFile

from ddp_codemod import plan
from ddp_codemod.codemods.port import PortCommand
from ddp_codemod.codemods.project import Project
from tests.outside import FIXTURES

COMMAND = "ddp_codemod.codemods.port.PortCommand"
TRAIN = 'import torch.distributed as dist\n\ndist.init_process_group("nccl")\n'
SETTINGS, USER = (
    'BACKEND = "nccl"\n',
    "import torch.distributed as dist\nfrom settings import BACKEND\n\ndist.init_process_group(BACKEND)\n",
)


def tool(folder: Path, *words: str, given: str | None = None) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "libcst.tool", "codemod", "-x", COMMAND, "--no-format", "--hide-progress", *words]
    return subprocess.run(line, cwd=folder, capture_output=True, text=True, encoding="utf-8", input=given, check=False)


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(("fixture", "platform"), [("tts-spawn", "ascend"), ("speaker-torchrun", "rocm")])
def test_it_makes_what_diff_shows(tmp_path: Path, fixture: str, platform: str) -> None:
    root = tmp_path / "project"
    shutil.copytree(FIXTURES / fixture / "project", root)
    before, wanted = files(root), plan(root, platform).files
    assert wanted
    done = tool(root, "--platform", platform, "--jobs", "2", ".")
    assert done.returncode == 0, done.stderr
    assert files(root) == {**before, **wanted}


def test_standard_input(tmp_path: Path) -> None:
    done = tool(tmp_path, "--platform", "rocm", "-", given=TRAIN)
    assert done.stdout.rstrip("\n") == TRAIN.replace("nccl", "gloo").rstrip("\n")


def test_a_mistake_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    done = tool(tmp_path, "--platform", "rcm", ".")
    assert done.returncode != 0
    assert "did you mean rocm" in done.stderr


def project(tmp_path: Path, **texts: str) -> Path:
    (tmp_path / "pyproject.toml").touch()
    for name, text in texts.items():
        (tmp_path / f"{name.replace('__', '.')}").write_text(text)
    return tmp_path


def ported(path: Path | None, text: str, scope: Path | None = None, **options: object) -> str:
    project = Project("rocm", scope=(str(scope),)) if scope else None
    command = PortCommand(CodemodContext(filename=str(path) if path else None), project, **options)  # type: ignore[arg-type]
    return command.transform_module(libcst.parse_module(text)).code


def test_values_are_followed_through_the_scope(tmp_path: Path) -> None:
    root = project(tmp_path, settings__py=SETTINGS, train__py=USER)
    assert ported(root / "settings.py", SETTINGS, scope=root) == SETTINGS.replace("nccl", "gloo")
    assert ported(root / "train.py", USER, scope=root) == USER


def test_without_a_scope_a_file_stands_for_itself(tmp_path: Path) -> None:
    root = project(tmp_path, settings__py=SETTINGS, train__py=USER, alone__py=TRAIN)
    assert ported(root / "settings.py", SETTINGS, platform="rocm") == SETTINGS
    assert ported(root / "alone.py", TRAIN, platform="rocm") == TRAIN.replace("nccl", "gloo")


def test_rules_and_unsafe_edits_are_asked_for() -> None:
    assert 'os.environ.setdefault("NCCL_DEBUG"' in ported(None, "import os\n" + TRAIN, platform="cuda", rules=["nccl-debug"])
    assert " if " in ported(None, TRAIN, platform="windows", style="portable")
    store = 'import torch.distributed as dist\n\nstore = dist.TCPStore("h", 1, 2, True)\ndist.init_process_group("gloo", store=store)\n'
    assert ported(None, store, platform="windows") == store
    assert "use_libuv=False" in ported(None, store, platform="windows", unsafe=True)


def test_a_file_that_was_changed_since_is_skipped(tmp_path: Path) -> None:
    root = project(tmp_path, train__py=TRAIN)
    with pytest.raises(SkipFile, match="has changed since ddp-codemod read it"):
        ported(root / "train.py", TRAIN + "\nprint()\n", scope=root)


def test_edits_in_files_that_libcst_does_not_read_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train = (
        "import torch.distributed as dist\nimport yaml\n\n"
        'config = yaml.safe_load(open("train.yaml"))\ndist.init_process_group(config["backend"])\n'
    )
    root = project(tmp_path, train__py=train, train__yaml="backend: nccl\n")
    assert ported(root / "train.py", train, scope=root) == train
    assert "train.yaml" in capsys.readouterr().err
    assert (root / "train.yaml").read_text() == "backend: nccl\n"


def test_the_project_is_looked_at_before_its_files_change(tmp_path: Path) -> None:
    root = project(tmp_path, settings__py=SETTINGS, train__py=USER)
    asked = Project("rocm", scope=(str(root),))
    sent = pickle.dumps(asked)  # as the tool does for its processes
    (root / "settings.py").write_text("")
    assert set(pickle.loads(sent).changes) == {str((root / "settings.py").resolve())}


def test_it_is_listed_by_the_tool(tmp_path: Path) -> None:
    (tmp_path / ".libcst.codemod.yaml").write_text("modules: ['ddp_codemod.codemods']\nformatter: ['cat']\n")
    done = subprocess.run([sys.executable, "-m", "libcst.tool", "list"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert f"port.PortCommand - {PortCommand.DESCRIPTION}" in done.stdout


def test_text_without_sites_comes_back_as_it_is() -> None:
    text = "x = [1,\n  2 ]  # as it is\r\n"
    assert ported(None, text, platform="rocm") == text
