"""What the tests of the servers share: a project, and servers with a home of their own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
collect_ignore_glob = [] if find_spec("mcp") and find_spec("pygls") else ["*.py"]  # extras


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one site that comes out wrong on most platforms."""
    from talking import TRAIN

    root = tmp_path / "project"
    root.mkdir()
    (root / "pyproject.toml").touch()
    (root / "train.py").write_text(TRAIN)
    return root


@pytest.fixture(scope="session")
def forking() -> Iterator[Path | None]:
    """Where servers can be had that need not import anything; nowhere on a system that knows no forks."""
    import psutil
    from talking import FORKED, forks

    if not hasattr(os, "fork") or not hasattr(socket, "send_fds"):
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="forks") as folder:  # the name of a socket has to be short
        path = Path(folder) / "socket"
        environ = {**os.environ, "LANG": "C.UTF-8", "PYTHONPATH": os.pathsep.join(sys.path)}
        words = [sys.executable, str(FORKED), "serve", str(path)]
        with subprocess.Popen(words, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"listening\n"
            forks.append(psutil.Process(process.pid))
            yield path
            forks.clear()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home of the server's own."""
    (tmp_path / "home" / "tmp").mkdir(parents=True)
    return tmp_path / "home"


@pytest.fixture
def server(home: Path, forking: Path | None):  # type: ignore[no-untyped-def]
    """Servers with that home, as fresh as new processes and without their start."""
    from talking import Started

    return Started(home, forking)


@pytest.fixture
def real(home: Path):  # type: ignore[no-untyped-def]
    """Servers with that home that are processes of their own, started as a client starts them."""
    from talking import Started

    return Started(home)
