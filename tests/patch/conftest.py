"""A real git repository, apart from the configuration of whoever runs the tests."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable

import pytest

RunGit = Callable[..., bytes]


@pytest.fixture(scope="module")
def git(tmp_path_factory: pytest.TempPathFactory) -> RunGit:
    """Runs git in a fresh repository (``git.top``) and gives its output; fails with git's own words."""
    top = tmp_path_factory.mktemp("repository")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"HOME": str(top), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}

    def run(*args: str, stdin: bytes = b"") -> bytes:
        result = subprocess.run(["git", *args], cwd=top, env=environment, input=stdin, capture_output=True, check=False)
        assert result.returncode == 0, (args, result.stderr.decode("utf-8", "replace"))
        return result.stdout

    run("init", "-q")
    run.top = top  # type: ignore[attr-defined]
    return run
