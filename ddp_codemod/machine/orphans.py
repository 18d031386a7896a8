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

_SET, _GET = 36, 37  # PR_SET_CHILD_SUBREAPER, PR_GET_CHILD_SUBREAPER
_ROUNDS = 40  # until what starts others while it is ended has no more of them
_LOOKS = 2
_BETWEEN = 0.05  # seconds
_ZOMBIE = "Z"


class Orphans:
    """Takes in, while the ``with`` lasts, the processes whose parents have ended; elsewhere than on Linux there are none."""

    def __init__(self) -> None:
        self._own: set[int] = set()
        self._prctl = getattr(ctypes.CDLL(None), "prctl", None) if sys.platform == "linux" else None
        self._before = ctypes.c_int(0)

    def __enter__(self) -> Orphans:
        if self._prctl is not None:
            self._prctl(_GET, ctypes.byref(self._before), 0, 0, 0)
            self._prctl(_SET, 1, 0, 0, 0)
            self._own = {pid for pid, parent, _ in _processes() if parent == os.getpid()}
        return self

    def __exit__(self, *_: object) -> None:
        if self._prctl is not None:
            self._prctl(_SET, self._before.value, 0, 0, 0)

    def started(self, pid: int) -> None:
        """Leave a process out that this one has started itself."""
        self._own.add(pid)

    def running(self) -> set[int]:
        """Those that run, with all that they have started."""
        if self._prctl is None:
            return set()
        below: dict[int, list[int]] = defaultdict(list)
        alive = set[int]()
        for pid, parent, state in _processes():
            if parent != os.getpid() or pid not in self._own:
                below[parent].append(pid)
            if state != _ZOMBIE:
                alive.add(pid)
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

    def _reap(self) -> None:
        for pid, parent, state in _processes() if self._prctl is not None else ():
            if parent == os.getpid() and state == _ZOMBIE and pid not in self._own:
                with contextlib.suppress(OSError):
                    os.waitpid(pid, os.WNOHANG)


def _processes() -> Iterator[tuple[int, int, str]]:
    """(pid, parent, state) of every process."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state, parent = (folder / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()[:2]
            yield int(folder.name), int(parent), state
