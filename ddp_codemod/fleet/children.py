"""A worker's supervisors: started when they are needed, started again when they died."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
from dataclasses import replace
from tempfile import TemporaryFile
from typing import IO

import msgspec

from ddp_codemod.fleet.model import Entry, Reply, Trouble, Work
from ddp_codemod.fleet.rewrite import failed_outcome
from ddp_codemod.fleet.store import Store
from ddp_codemod.fleet.supervisor import Request


class Crew:
    """As many supervisors as repositories are done at a time, for any thread to ask."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self._idle: list[Children] = []
        self._all: list[Children] = []
        self._stopped = False
        self._lock = threading.Lock()

    def run(self, entry: Entry, known: tuple[str, ...]) -> Reply:
        """One repository; where the folder of results can be seen from here, its result is kept before this returns."""
        store = Store.shared(self.work)
        with self._lock:
            if not self._idle:
                self._idle.append(Children(self.work))
                self._all.append(self._idle[-1])
            children = self._idle.pop()
            if self._stopped:
                children.stop()
        try:
            reply = children.run(entry, known)
        finally:
            with self._lock:
                self._idle.append(children)
        if store is None or reply.unchanged:
            return reply
        try:
            return replace(reply, outcome=store.keep(entry, self.work, reply), files={})
        except OSError:  # the folder is going away under us, or full for this user: the client may have better luck
            return reply

    def stop(self) -> None:
        """Let nothing begin any more, and end what runs; the threads that wait for it come back."""
        with self._lock:
            self._stopped = True
            for children in self._all:
                children.stop()

    def close(self) -> None:
        """End them all, when no thread asks any more."""
        for children in self._all:
            children.close()


class Children:
    """Runs one repository after the other, each in a process of its own."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False
        self._error_output: IO[bytes] | None = None  # where it says why, when it ends badly

    def run(self, entry: Entry, known: tuple[str, ...]) -> Reply:
        """One repository, with one more attempt where a signal ended the first."""
        reply = self._ask_supervisor(Request(entry, known))
        if reply.again and not self._stopped:
            reply = self._ask_supervisor(Request(entry, known))
            reply = replace(reply, outcome=replace(reply.outcome, attempts=2))
        return reply

    def _ask_supervisor(self, request: Request) -> Reply:
        try:
            process = self._ensure_started()
            if self._stopped:  # while it was started
                self.stop()
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(msgspec.json.encode(request) + b"\n")
            process.stdin.flush()
            line = process.stdout.readline()
            if line.endswith(b"\n"):
                return msgspec.json.decode(line, type=Reply)
        except (OSError, ValueError):  # ValueError: stopped from another thread
            pass
        detail = ": ".join(["the process that watches it was ended", *self.close()])
        return Reply(failed_outcome(request.entry, Trouble.CRASHED, detail, self.work), again=True)

    def stop(self) -> None:
        """End what runs, from another thread; the supervisor leaves when nobody can ask it any more."""
        self._stopped = True
        if (process := self._process) is not None and process.stdin is not None:
            with contextlib.suppress(OSError):
                process.stdin.close()

    def _ensure_started(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is not None:
            self.close()
        if self._process is None:
            self._error_output = TemporaryFile()  # noqa: SIM115 - open for as long as the process runs
            # in a session of its own: an interrupt from the keyboard is for the one who started the run
            self._process = subprocess.Popen(
                [sys.executable, "-m", "ddp_codemod.fleet.supervisor"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._error_output, start_new_session=True,
            )  # fmt: skip
            assert self._process.stdin is not None
            self._process.stdin.write(msgspec.json.encode(self.work) + b"\n")
        return self._process

    def close(self) -> list[str]:
        """End the supervisor, and with it what it started; the last line of what it said."""
        if self._process is not None:
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None:
                    with contextlib.suppress(OSError):
                        stream.close()
            self._process.wait()
            self._process = None
        if self._error_output is None:
            return []
        with self._error_output as said:
            said.seek(0)
            lines = said.read().decode("utf-8", "replace").strip().splitlines()
        self._error_output = None
        return lines[-1:]
