"""What the tests of the servers share: a project, and servers with a home of their own."""

from __future__ import annotations

import sys
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


@pytest.fixture
def server(tmp_path: Path):  # type: ignore[no-untyped-def]
    """Servers with a home of their own."""
    from talking import Started

    (tmp_path / "home" / "tmp").mkdir(parents=True)
    return Started(tmp_path / "home")
