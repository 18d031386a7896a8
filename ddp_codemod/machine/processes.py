"""Starts processes of several ranks, listens to them, and sees to it that none is left."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ddp_codemod.machine.orphans import Orphans, spare

GRACE = 5.0  # seconds for a launcher to end its own ranks
TOKEN = "DDP_CODEMOD_TRIAL"  # marks everything that descends from a trial
KEPT = 2_000_000  # bytes of output kept of each process


class Crew:
    """Some processes, and what they say. Leaving the ``with`` ends whatever still runs."""

    def __init__(self, environment: Mapping[str, str], folder: Path | None = None) -> None:
        self.token = uuid.uuid4().hex
        self._environment = {**environment, TOKEN: self.token}
        self._folder = folder
        self._running: list[subprocess.Popen[bytes]] = []
        self._listeners: list[threading.Thread] = []
        self._output: list[bytearray] = []
        self._orphans = Orphans()

    def __enter__(self) -> Crew:
        self._orphans.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        self._orphans.__exit__()

    def start(
        self, command: Sequence[str], more: Mapping[str, str] | None = None, listen: Callable[[bytes], None] | None = None
    ) -> None:
        """Start one more process. Raises OSError where that cannot be done."""
        process = _start_process(command, {**self._environment, **(more or {})}, self._folder)
        spare(process.pid)
        said = bytearray()
        listener = threading.Thread(target=self._read_output, args=(process, said, listen), daemon=True)
        self._running.append(process)
        self._output.append(said)
        self._listeners.append(listener)
        listener.start()

    def _read_output(self, process: subprocess.Popen[bytes], said: bytearray, listen: Callable[[bytes], None] | None) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            if listen is not None:
                listen(line)
            if len(said) < KEPT:
                said += line

    def wait(self, seconds: float | None) -> bool:
        """Wait until all have ended; false where time was up. One that fails leaves the others a moment, and no more."""
        deadline = None if seconds is None else time.monotonic() + seconds
        while left := [process for process in self._running if process.poll() is None]:
            now = time.monotonic()
            if deadline is not None and now >= deadline:
                return False
            if any(process.poll() for process in self._running):
                soon = now + GRACE
                deadline = soon if deadline is None else min(deadline, soon)
            with contextlib.suppress(subprocess.TimeoutExpired):
                left[0].wait(0.1)
        return True

    @property
    def codes(self) -> list[int | None]:
        """How each process ended."""
        return [process.poll() for process in self._running]

    def left(self) -> int:
        """How many processes still run after a moment that were started by those that have ended; where that can be told."""
        limit = time.monotonic() + GRACE
        while (still := len({*_find_marked_processes(self.token), *self._orphans.running()})) and time.monotonic() < limit:
            time.sleep(0.1)
        return still

    def end(self) -> None:
        """End whatever runs: launchers first, who end their ranks; ranks end when their standard input does."""
        for process in self._running:
            if process.poll() is None:
                with contextlib.suppress(OSError):
                    process.terminate()
        limit = time.monotonic() + GRACE
        for process in self._running:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, limit - time.monotonic()))
        for process in self._running:
            _kill_process(process)
            process.wait()  # until it has ended its children are not seen to be left
        for pid in _find_marked_processes(self.token):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
        if sys.platform != "win32":
            self._orphans.end(signal.SIGKILL)
        for process, listener in zip(self._running, self._listeners, strict=True):
            if process.stdin is not None:
                with contextlib.suppress(OSError):
                    process.stdin.close()
            listener.join(GRACE)
            if process.stdout is not None and not listener.is_alive():
                process.stdout.close()

    def output(self) -> bytes:
        """All that was reported, process by process."""
        for listener in self._listeners:
            listener.join(GRACE)
        return b"".join(bytes(said) for said in self._output)


def _start_process(command: Sequence[str], environment: Mapping[str, str], folder: Path | None) -> subprocess.Popen[bytes]:
    """Start a process that hears no Ctrl-C of ours, and can be ended with all that it starts."""
    own: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        own = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        **own,
    )


def _kill_process(process: subprocess.Popen[bytes]) -> None:
    """End a process with everything that it has started."""
    if sys.platform == "win32":
        if process.poll() is None:
            subprocess.run(["taskkill", "/F", "/T", "/PID", str(process.pid)], capture_output=True, check=False)
        return
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)


def _find_marked_processes(token: str) -> Iterator[int]:
    """Processes that carry the mark; torchrun gives its ranks sessions of their own. Linux shows the environment of one's own."""
    mark = f"{TOKEN}={token}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark in (folder / "environ").read_bytes() and int(folder.name) != os.getpid():
                yield int(folder.name)


def find_free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
