"""On an imitated machine whose torch was built without torch.distributed: what dies there trains after the patch, in one process."""

from __future__ import annotations

import re
import shutil
import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

PROGRAMS = Path(__file__).with_name("programs") / "without_distributed"
WINDOWS = {"os.name": "nt", "platform.system": "Windows", "sys.platform": "win32"}
ROCM = {"gpus": 1, "hip": True, "distributed": False, **WINDOWS}
# The same with a torch that has it: what the program does unpatched, in a group of one.
WITH_IT = {"gpus": 1, "hip": True, "nccl": False, **WINDOWS}
LAUNCHED = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1"}
# How each dies there; the others, because a name is missing as soon as it is looked up.
AT_IMPORT = {"bare_names", "names_imported", "masked"}
BY_A_LAUNCHER = {"gathered", "launched"}  # these read its variables before anything else
NAMES = sorted(path.name for path in PROGRAMS.iterdir() if path.is_dir())
QUICK = {"engine", "gathered", "launched", "names_imported", "voice_spawn"}  # one of each kind; the others by ``make long``
MOSTLY_LONG = [name if name in QUICK else pytest.param(name, marks=pytest.mark.long) for name in NAMES]


def copy(tmp_path: Path, name: str, kind: str) -> Path:
    made = Path(shutil.copytree(PROGRAMS / name, tmp_path / kind))
    with socket.create_server(("127.0.0.1", 0)) as free:  # other tests run the same programs at the same time
        port = free.getsockname()[1]
    for path in made.rglob("*.py"):
        path.write_text(re.sub(r"127\.0\.0\.1:295\d\d", f"127.0.0.1:{port}", path.read_text("utf-8")), "utf-8")
    return made


def run(truth: SimpleNamespace, root: Path, machine: dict[str, Any], **environment: str) -> Any:
    return truth.Project(root, machine).python("train.py", environment=environment)


def near(losses: list[float]) -> Any:
    return pytest.approx(losses, abs=2e-6)


def test_there_are_a_dozen_programs() -> None:
    assert len(NAMES) >= 12


@pytest.mark.parametrize("name", MOSTLY_LONG)
def test_it_dies_before_and_trains_after(tmp_path: Path, truth: SimpleNamespace, name: str) -> None:
    before, after, beside = (copy(tmp_path, name, kind) for kind in ("before", "after", "beside"))
    died = run(truth, before, ROCM, **(LAUNCHED if name in BY_A_LAUNCHER else {}))
    assert died.status != 0, died.output
    assert not died.losses
    missing = "cannot import name" if name in AT_IMPORT else "module 'torch.distributed' has no attribute"
    assert missing in died.output

    truth.apply(after, "rocm-windows")
    trained = run(truth, after, ROCM)
    assert trained.status == 0, trained.output
    assert len(trained.losses) >= 4

    truth.apply(beside, "windows")  # gloo in place of nccl: nothing else, so that there is a group
    grouped = run(truth, beside, WITH_IT, **LAUNCHED)
    assert grouped.status == 0, grouped.output
    assert trained.losses == near(grouped.losses)
    # what was patched trains the same where torch has the package: there the same files are for several processes too
    assert run(truth, after, WITH_IT).losses == near(grouped.losses)


@pytest.mark.parametrize(
    "name", ["voice_spawn", *(pytest.param(name, marks=pytest.mark.long) for name in ("engine", "bare_names"))]
)
def test_two_processes_train_with_gloo_where_torch_has_it(tmp_path: Path, truth: SimpleNamespace, name: str) -> None:
    root = copy(tmp_path, name, "after")
    truth.apply(root, "rocm-windows")
    two = run(truth, root, {**WITH_IT, "gpus": 2})
    assert two.status == 0, two.output
    assert two.losses


@pytest.mark.parametrize("name", MOSTLY_LONG)
def test_a_second_run_finds_nothing(tmp_path: Path, truth: SimpleNamespace, name: str) -> None:
    root = copy(tmp_path, name, name)
    truth.apply(root, "rocm-windows")
    texts = {path: path.read_bytes() for path in root.rglob("*.py")}
    truth.apply(root, "rocm-windows")
    assert texts == {path: path.read_bytes() for path in root.rglob("*.py")}
