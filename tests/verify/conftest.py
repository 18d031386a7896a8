"""What the tests of verify share: projects, and nothing of the caller's that would choose a backend."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder starts real process groups."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.torch)
            if importlib.util.find_spec("torch") is None:
                item.add_marker(pytest.mark.skip(reason="torch is not installed"))
            elif sys.platform == "win32":
                item.add_marker(pytest.mark.skip(reason="machines are imitated with POSIX signals"))


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [
        name for name in os.environ if name.startswith(("NCCL_", "GLOO_", "MASTER_", "USE_LIBUV", "RANK", "LOCAL_RANK"))
    ]:
        monkeypatch.delenv(name)
    if sys.platform == "linux":
        monkeypatch.setenv("GLOO_SOCKET_IFNAME", "lo")
    monkeypatch.setenv("LANG", "C.UTF-8")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Write a training script into a project, and stand in it."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "pyproject.toml").write_text("")
    monkeypatch.chdir(root)

    def write(text: str) -> Path:
        (root / "train.py").write_text(text, encoding="utf-8")
        return root

    return write
