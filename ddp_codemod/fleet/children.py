"""A worker's supervisor: started when it is needed, started again when it died."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from dataclasses import replace
from tempfile import TemporaryFile
from typing import IO

import msgspec

from ddp_codemod.fleet.model import Entry, Reply, Trouble, Work
from ddp_codemod.fleet.rewrite import failed
from ddp_codemod.fleet.supervisor import Request


class Children:
    """Runs one repository after the other, each in a process of its own."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self._process: subprocess.Popen[bytes] | None = None
        self._said: IO[bytes] | None = None  # where it says why, when it ends badly

    def run(self, entry: Entry, known: tuple[str, ...]) -> Reply:
        """One repository, with one more attempt where a signal ended the first."""
        reply = self._ask(Request(entry, known))
        if reply.again:
            reply = self._ask(Request(entry, known))
            reply = replace(reply, outcome=replace(reply.outcome, attempts=2))
        return reply

    def _ask(self, request: Request) -> Reply:
        try:
            process = self._started()
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(msgspec.json.encode(request) + b"\n")
            process.stdin.flush()
            line = process.stdout.readline()
            if line.endswith(b"\n"):
                return msgspec.json.decode(line, type=Reply)
        except OSError:
            pass
        detail = ": ".join(["the process that watches it was ended", *self.close()])
        return Reply(failed(request.entry, Trouble.CRASHED, detail, self.work), again=True)

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is not None:
            self.close()
        if self._process is None:
            self._said = TemporaryFile()  # noqa: SIM115 - open for as long as the process runs
            # in a session of its own: an interrupt from the keyboard is for the one who started the run
            self._process = subprocess.Popen(
                [sys.executable, "-m", "ddp_codemod.fleet.supervisor"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said, start_new_session=True,
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
        if self._said is None:
            return []
        with self._said as said:
            said.seek(0)
            lines = said.read().decode("utf-8", "replace").strip().splitlines()
        self._said = None
        return lines[-1:]
