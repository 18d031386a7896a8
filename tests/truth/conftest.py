"""What the tests of truth share: copies of fixtures, patched or not, and imitated machines to run them on."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
FIXTURES = REPOSITORY / "fixtures"
MACHINES = Path(__file__).with_name("machines")
STANDINS = FIXTURES / "standins"
TOOL = Path(sys.executable).with_name("ddp-codemod")  # as installed, for real
NO_LIBUV = "use_libuv was requested but PyTorch was built without libuv support"
TIMEOUT = 120.0  # seconds, for one program; it ends by itself in about five


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder starts programs that import torch."""
    here = Path(__file__).parent
    reason = "torch is not installed" if importlib.util.find_spec("torch") is None else ""
    if sys.platform == "win32":
        reason = "the machines are imitated with forks and process groups"
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.torch)
            if reason:
                item.add_marker(pytest.mark.skip(reason=reason))


ENDED_BY_A_THREAD = "terminate called without an active exception"


@dataclass(frozen=True)
class Ran:
    """How a program ended and all that it printed."""

    status: int
    output: str

    @property
    def losses(self) -> list[float]:
        return [float(line.split()[1]) for line in self.output.splitlines() if line.startswith("loss ")]


@dataclass
class Project:
    """A copy of a fixture's project in a folder of its own."""

    root: Path
    machine: dict[str, Any] = field(default_factory=dict)

    def on(self, **machine: Any) -> Project:
        """The same files on an imitated machine (see machines/imitate.py)."""
        return Project(self.root, machine)

    def python(self, *arguments: str, environment: dict[str, str] | None = None) -> Ran:
        """Run the project's program, or any module, on the machine."""
        environment = {**clean_environment(), **(environment or {})}
        if self.machine:
            environment["IMITATED_MACHINE"] = json.dumps({"root": str(self.root), **self.machine})
        # Before 3.14 CPython ends a thread that asks for the interpreter while that ends, and torch's threads take the process with
        # them (https://github.com/python/cpython/issues/87135): no word on the patch, so the program has to end well in one of a few runs.
        for _ in range(4):
            ran = run([sys.executable, *arguments], self.root, environment)
            if ENDED_BY_A_THREAD not in ran.output:
                break
        return ran

    def torchrun(self, *arguments: str) -> Ran:
        """Run the project's program in two ranks."""
        launch = ["-m", "torch.distributed.run", "--nproc_per_node=2", "--master_addr=127.0.0.1", f"--master_port={free_port()}"]
        return self.python(*launch, *arguments)


def clean_environment() -> dict[str, str]:
    """Nothing of the caller's that would choose a backend, a store or a number of threads."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR", "LANG", "SYSTEMROOT") if name in os.environ}
    loopback = {"GLOO_SOCKET_IFNAME": "lo"} if sys.platform == "linux" else {}
    return {
        **kept,
        **loopback,
        "PYTHONPATH": os.pathsep.join([str(MACHINES), str(STANDINS)]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(free_port()),
    }


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def run(command: Sequence[str], folder: Path, environment: dict[str, str]) -> Ran:
    """Run a program with everything that it starts; a hung one is ended with all its ranks and fails the test."""
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            output, _ = process.communicate(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            pytest.fail(f"{command} hung for {TIMEOUT:.0f} s:\n{output}")
    return Ran(process.returncode, output)


@pytest.fixture
def project(tmp_path: Path) -> Callable[..., Project]:
    """``project(case)`` copies a fixture; ``project(case, platform, *options)`` also patches the copy with the tool."""

    def copy(case: str, platform: str | None = None, *options: str) -> Project:
        root = tmp_path / f"{case}-{platform or 'unpatched'}{''.join(options)}"
        shutil.copytree(FIXTURES / case / "project", root)
        if platform is not None:
            apply(root, platform, *options)
        return Project(root)

    return copy


def apply(root: Path, platform: str, *options: str) -> None:
    """Patch the project with the tool's own command."""
    command = [str(TOOL), "apply", "--platform", platform, *options, str(root)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def apply_by_hand(root: Path, case: str, name: str) -> None:
    """Patch the project with the diff that a person wrote."""
    diff = FIXTURES / case / "expected" / f"{name}.diff"
    if diff.stat().st_size:
        ceiling = {**os.environ, "GIT_CEILING_DIRECTORIES": str(root.parent)}
        subprocess.run(["git", "apply", str(diff)], cwd=root, env=ceiling, check=True)


@pytest.fixture(scope="session")
def truth() -> SimpleNamespace:
    """This file's functions and folders, for test modules, which cannot import it."""
    return SimpleNamespace(
        fixtures=FIXTURES,
        machines=MACHINES,
        run=run,
        Project=Project,
        clean_environment=clean_environment,
        apply=apply,
        apply_by_hand=apply_by_hand,
    )


@pytest.fixture(scope="session")
def without_libuv() -> dict[str, Any]:
    """What makes an imitated machine's torch a build without libuv."""
    probe = run([sys.executable, str(MACHINES / "nolibuv.py")], MACHINES, clean_environment())
    if "LookupError" in probe.output or "KeyError" in probe.output:
        pytest.skip("this build of torch cannot be turned into one without libuv:\n" + probe.output)
    assert NO_LIBUV in probe.output
    return {"libuv": False}
