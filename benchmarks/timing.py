"""Times whole processes from outside, in turn, so that a machine that slows down slows all of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from statistics import median


@dataclass
class Timed:
    """The runs of one command: seconds on the wall, seconds of processors, and the largest process in MiB."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    peak: float = 0.0
    failed: str = ""
    spent: float = 0.0

    @property
    def best(self) -> float:
        """The shortest run on the wall."""
        return min(self.wall, default=float("nan"))

    @property
    def middle(self) -> float:
        """The median run on the wall."""
        return median(self.wall) if self.wall else float("nan")


def in_turn(commands: Mapping[str, Sequence[str]], runs: int, limit: float, budget: float) -> dict[str, Timed]:
    """Run every command once to warm the caches, then all of them up to ``runs`` times in turn.

    One over ``limit`` seconds is stopped and run no more; so is one that has taken ``budget`` seconds in all, whose first run counts.
    """
    found = {name: Timed() for name in commands}
    for turn in range(-1, runs):
        for name, words in commands.items():
            timed = found[name]
            if timed.failed or (turn >= 0 and timed.wall and timed.spent >= budget):
                continue
            wall, cpu, peak, timed.failed = _once(words, limit)
            timed.spent += wall
            if not timed.failed and (turn >= 0 or wall > budget / 2):  # a slow one is not warmed for nothing
                timed.wall.append(wall)
                timed.cpu.append(cpu)
                timed.peak = max(timed.peak, peak)
            sys.stderr.write(f"\r{turn + 1}/{runs} {name:36.36} {wall:8.3f} s")
            sys.stderr.flush()
    sys.stderr.write("\r" + " " * 60 + "\r")
    return found


def _once(words: Sequence[str], limit: float) -> tuple[float, float, float, str]:
    """(wall seconds, processor seconds, MiB, why it does not count) of one run."""
    starter = _starter()
    assert starter.stdin is not None
    assert starter.stdout is not None
    starter.stdin.write(json.dumps([list(words), limit]) + "\n")
    starter.stdin.flush()
    wall, cpu, peak, code, said = json.loads(starter.stdout.readline())
    if code == -signal.SIGKILL and wall >= limit:
        return wall, 0.0, 0.0, f"> {limit:.0f} s"
    if code not in (0, 1):  # 1 is what linters say where they found something
        return wall, 0.0, 0.0, (said.strip().splitlines() or [f"exit code {code}"])[-1][:100]
    return wall, cpu, peak, ""


@cache
def _starter() -> subprocess.Popen[str]:
    """A small process that starts the others: the system counts the memory of whoever starts a program as the program's."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    _, errors = tempfile.mkstemp()
    words = [sys.executable, "-I", "-S", str(Path(__file__).with_name("starter.py")), errors]
    return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environ)
