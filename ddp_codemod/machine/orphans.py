"""What a command leaves behind: on Linux its orphans become children of this process, in whichever session and environment they are."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_SET, _GET = 36, 37  # PR_SET_CHILD_SUBREAPER, PR_GET_CHILD_SUBREAPER
_ROUNDS = 40  # until what starts others while it is ended has no more of them
_LOOKS = 2
_BETWEEN = 0.05  # seconds
_ZOMBIE = "Z"
_spared = set[int]()  # children with a session of their own that this process has started, in whichever thread


def spare(pid: int) -> None:
    """Say of a child with a session of its own that this process has started it, and ends it: it is no orphan."""
    _spared.add(pid)


class Orphans:
    """Takes in, while the ``with`` lasts, the processes whose parents have ended; elsewhere than on Linux there are none.

    A child in the session of this process is never one: commands start in sessions of their own, and nobody returns from there.
    """

    def __init__(self) -> None:
        self._before_all = set[int]()
        self._prctl = getattr(ctypes.CDLL(None), "prctl", None) if sys.platform == "linux" else None
        self._before = ctypes.c_int(0)

    def __enter__(self) -> Orphans:
        if self._prctl is not None:
            self._prctl(_GET, ctypes.byref(self._before), 0, 0, 0)
            self._prctl(_SET, 1, 0, 0, 0)
            self._before_all = {one.pid for one in _processes() if one.parent == os.getpid()}
        return self

    def __exit__(self, *_: object) -> None:
        if self._prctl is not None:
            self._prctl(_SET, self._before.value, 0, 0, 0)

    def running(self) -> set[int]:
        """Those that run, with all that they have started."""
        if self._prctl is None:
            return set()
        below: dict[int, list[int]] = defaultdict(list)
        alive = set[int]()
        for one in _processes():
            if one.parent != os.getpid() or self._is_orphan(one):
                below[one.parent].append(one.pid)
            if one.state != _ZOMBIE:
                alive.add(one.pid)
        found, todo = set[int](), [os.getpid()]
        while todo:
            new = [pid for pid in below[todo.pop()] if pid not in found]
            found.update(new)
            todo += new
        return found & alive

    def end(self, number: int) -> None:
        """End them by a signal, and those that they start meanwhile."""
        empty = 0  # one look is not of one moment: who loses its parent meanwhile is in none of the places looked at
        for _ in range(_ROUNDS if self._prctl is not None else 0):
            self._reap()
            left = self.running()
            empty = 0 if left else empty + 1
            if empty == _LOOKS:
                return
            for pid in left:
                with contextlib.suppress(OSError):
                    os.kill(pid, number)
            time.sleep(_BETWEEN)

    def _is_orphan(self, one: _Process) -> bool:
        """Whether a child of this process was left to it."""
        return one.session != os.getsid(0) and one.pid not in self._before_all and one.pid not in _spared

    def _reap(self) -> None:
        for one in _processes() if self._prctl is not None else ():
            if one.parent == os.getpid() and one.state == _ZOMBIE and self._is_orphan(one):
                with contextlib.suppress(OSError):
                    os.waitpid(one.pid, os.WNOHANG)


class _Process(NamedTuple):
    pid: int
    parent: int
    session: int
    state: str


def _processes() -> Iterator[_Process]:
    """Every process of the machine."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state, parent, _, session = (folder / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()[:4]
            yield _Process(int(folder.name), int(parent), int(session), state)
