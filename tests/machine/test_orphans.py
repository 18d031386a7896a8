"""A command's orphans are ended, and nothing else that this process has started."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from ddp_codemod.machine.processes import Crew

WAITS = [sys.executable, "-c", "input()"]
LEAVES = "import os, subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True, env={})"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives the orphans of a process to one above it")
@pytest.mark.parametrize("sleeps", [False, True], ids=["nothing left", "a daemon left"])
def test_other_children_of_this_process_are_let_live(sleeps: bool) -> None:
    with Crew(dict(os.environ)) as crew, subprocess.Popen(WAITS, stdin=subprocess.PIPE) as other:
        crew.start([sys.executable, "-c", LEAVES if sleeps else "pass"])
        assert crew.wait(60)
        assert crew.left() == int(sleeps)
        crew.end()
        assert other.poll() is None
        other.communicate(b"\n")
        assert other.returncode == 0


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives the orphans of a process to one above it")
def test_another_command_at_the_same_time_is_let_live() -> None:
    with Crew(dict(os.environ)) as first, Crew(dict(os.environ)) as second:
        second.start(WAITS)
        first.start([sys.executable, "-c", "pass"])
        assert first.wait(60)
        assert first.left() == 0
        first.end()
        assert second.codes == [None]
