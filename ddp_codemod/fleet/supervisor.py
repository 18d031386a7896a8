"""The process between a worker and the repositories: it loads the engine once, forks a child for each, watches it and ends it.

Requests and replies are a JSON line each, over its standard input and output; the first line is what all requests share. When
its input ends, for whatever reason, it ends its child's whole process group, removes the clone and leaves.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from ddp_codemod.fleet import child
from ddp_codemod.fleet.model import Entry, Reply, Trouble, Work
from ddp_codemod.fleet.rewrite import Known, failed_outcome, rewrite_project
from ddp_codemod.write import scratch
from ddp_codemod.write.clone import Start
from ddp_codemod.write.results import remove_folder, write_file

_LOOK = 1.0  # seconds between looks at the size of the clone


@dataclass(frozen=True)
class Request:
    """One repository, and the names of the results that are there already."""

    entry: Entry
    known: tuple[str, ...] = ()


@dataclass
class _End:
    """How a child ended."""

    status: int
    seconds: float
    memory: int
    why: Trouble | None = None  # if it was ended from here


class Supervisor:
    """One child at a time."""

    def __init__(self, work: Work, inp: int, top: Path) -> None:
        self.work, self.inp, self.top = work, inp, top
        self.given = child.SharedSetup(_load_rules(work, top), Start.of(top))
        self._wake, wake = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(self._wake, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)

    def do(self, request: Request) -> Reply | None:
        """See one repository through; None where nobody waits for it any more."""
        folder = self.top / "work"
        folder.mkdir()
        end = self._watch_child(self._fork_child(request, folder), folder)
        return None if end is None else self._make_reply(request, end, folder)

    def clean(self) -> None:
        """Remove what the last one left; done when its reply is on its way, since it takes as long as a small repository's work."""
        remove_folder(self.top / "work")

    def _fork_child(self, request: Request, folder: Path) -> int:
        pid = os.fork()
        if pid:
            with contextlib.suppress(OSError):
                os.setpgid(pid, pid)
            return pid
        code = 1
        try:
            os.setpgid(0, 0)
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            empty = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(empty, stream)
            child.limit_process(self.work.limits)
            child.run_child(request.entry, frozenset(request.known), self.work, self.given, folder)
            code = 0
        finally:
            child.exit_child(code)
        raise AssertionError

    def _watch_child(self, pid: int, folder: Path) -> _End | None:
        """Wait for the child, no longer than it may take; None where the input ended."""
        started = time.monotonic()
        look = started + _LOOK
        why: Trouble | None = None
        try:
            while True:
                ended, status, usage = os.wait4(pid, os.WNOHANG)
                now = time.monotonic()
                if ended:
                    memory = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
                    return _End(status, now - started, memory, why)
                if why is None and now - started > self.work.limits.seconds:
                    why = Trouble.TIMED_OUT
                elif why is None and now > look:
                    look = now + _LOOK
                    why = Trouble.TOO_LARGE if scratch.folder_size(folder) > self.work.limits.size else None
                if why is not None:
                    os.killpg(pid, signal.SIGKILL)
                left = max(min(started + self.work.limits.seconds, look) - now, 0.01)
                ready, _, _ = select.select([self.inp, self._wake], [], [], left)
                with contextlib.suppress(BlockingIOError):
                    os.read(self._wake, 512)
                if self.inp in ready:  # nothing is reported while a child runs: the worker is gone
                    return None
        finally:
            with contextlib.suppress(OSError):  # what the child left running, and the child itself
                os.killpg(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)

    def _make_reply(self, request: Request, end: _End, folder: Path) -> Reply:
        code = os.waitstatus_to_exitcode(end.status)
        said = folder / child.OUT / child.REPLY
        if end.why is None and code == 0 and said.is_file():
            reply = msgspec.json.decode(said.read_bytes(), type=Reply)
            files = {path.name: path.read_bytes() for path in said.parent.iterdir() if path.name != child.REPLY}
            outcome = replace(reply.outcome, seconds=round(end.seconds, 3), memory=end.memory)
            return replace(reply, outcome=outcome, files=files)
        trouble, again, limits = Trouble.CRASHED, False, self.work.limits
        if end.why is Trouble.TIMED_OUT:
            trouble, detail = end.why, f"not done after {limits.seconds:.0f} s"
        elif end.why is not None:
            trouble, detail = end.why, f"more than {limits.size} bytes on the disk"
        elif code == -signal.SIGXCPU:
            trouble, detail = Trouble.TIMED_OUT, f"not done after {limits.cpu:.0f} s of processor time"
        elif code < 0:
            detail, again = f"its process was ended by {signal.Signals(-code).name}", True
        else:
            detail = f"its process ended with {code} and said nothing"
        outcome = failed_outcome(request.entry, trouble, detail, self.work, self._read_commit(folder))
        return Reply(replace(outcome, seconds=round(end.seconds, 3), memory=end.memory), again=again)

    def _read_commit(self, folder: Path) -> str | None:
        try:
            return (folder / child.COMMIT).read_text("ascii")
        except OSError:
            return None


def _load_rules(work: Work, top: Path) -> Known:
    folders = [top / f"rules-{number}" for number in range(len(work.folders))]
    for folder, files in zip(folders, work.folders, strict=True):
        for name, text in files:
            write_file(folder / name, text.encode("utf-8"))
    return Known.of(tuple(folders))


def _warm_up(work: Work, known: Known, top: Path) -> None:
    """Do an example of the rules, so that what children import is there already."""
    example = next(one for surface in known.rules.surfaces.values() for one in surface.examples if one.after and one.platform)
    write_file(top / "example" / "train.py", example.before.encode("utf-8"))
    rewrite_project(top / "example", Entry("example", example.platform or "", rules=example.rules), work, known)


def main() -> int:
    """Serve requests until there are no more."""
    buffer = b""

    def lines() -> bytes:
        nonlocal buffer
        while b"\n" not in buffer:
            more = os.read(0, 1 << 20)
            if not more:
                return b""
            buffer += more
        line, _, buffer = buffer.partition(b"\n")
        return line

    first = lines()
    if not first:
        return 0
    top = scratch.make_folder()
    try:
        supervisor = Supervisor(msgspec.json.decode(first, type=Work), 0, top)
        _warm_up(supervisor.work, supervisor.given.known, top)
        while line := lines():
            reply = supervisor.do(msgspec.json.decode(line, type=Request))
            if reply is None:
                break
            data = msgspec.json.encode(reply) + b"\n"
            while data:
                data = data[os.write(1, data) :]
            supervisor.clean()
    except BrokenPipeError:
        pass
    finally:
        remove_folder(top)
    return 0


if __name__ == "__main__":
    sys.exit(main())
