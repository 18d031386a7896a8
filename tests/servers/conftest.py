"""What the tests of the servers share: a project, and servers with a home of their own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("mcp")
sys.path.insert(0, str(Path(__file__).parent))
from talking import TRAIN, Started


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one site that comes out wrong on most platforms."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "pyproject.toml").touch()
    (root / "train.py").write_text(TRAIN)
    return root


@pytest.fixture
def server(tmp_path: Path) -> Started:
    """Servers with a home of their own."""
    (tmp_path / "home" / "tmp").mkdir(parents=True)
    return Started(tmp_path / "home")
