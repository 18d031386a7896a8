"""What all tests share."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import settings

# a machine that is busy with other things is no fault of the code
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

# where a container turns it off, each of some thousand started processes would compile the package again
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# processes that share the tests are given a width of the terminal, by which reports would be cut
os.environ.pop("COLUMNS", None)

# what an apply leaves behind for undo is kept by the path of a project, and the paths of tests come back in the next run
if "PYTEST_XDIST_WORKER" not in os.environ:
    os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="ddp-codemod-tests-")
    atexit.register(shutil.rmtree, os.environ["XDG_STATE_HOME"], ignore_errors=True)

# a shell starts its jobs in the background deaf to Ctrl-C, and what they start is deaf, too
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

Once = Callable[[str, Callable[[Path], None]], Path]


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Once:
    """``once(name, fill)``: a folder that one of the processes that run tests has filled; the others wait until it is full."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def filled(name: str, fill: Callable[[Path], None]) -> Path:
        folder, full = shared / f"once-{name}", shared / f"once-{name}.full"
        with FileLock(shared / f"once-{name}.lock"):
            if not full.exists():
                shutil.rmtree(folder, ignore_errors=True)  # half full, by one that failed
                folder.mkdir()
                fill(folder)
                full.touch()
        return folder

    return filled
