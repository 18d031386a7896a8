"""Long work beside a server's loop: one job at a time, each in a thread of its own that can be told to stop."""

from __future__ import annotations

import asyncio
import ctypes
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Generic, TypeVar

from ddp_codemod.sites.kept_files import KeptFiles, keeping_files

T = TypeVar("T")
Report = Callable[[float, "float | None", str], Awaitable[None]]
TOLD = 0.2  # seconds between two reports of progress
PATIENCE = 8.0  # seconds for jobs to clean up behind themselves when the server ends


class Stopped(BaseException):
    """Raised in a job's thread when nobody waits for it any more, as Ctrl-C is raised in a command."""


class Job(Generic[T]):
    """One piece of work. It says where it is by ``note`` and, while it must not be interrupted, is ``unbroken``."""

    def __init__(self, function: Callable[[Job[T]], T]) -> None:
        self._function = function
        self._lock = threading.Lock()
        self._running = self._stopped = False
        self._shielded = 0
        self.at: tuple[float, float | None, str] | None = None
        self._ended = False
        self._at_end: Callable[[], object] = lambda: None
        self.result: T | None = None
        self.error: BaseException | None = None
        self.thread = threading.Thread(target=self._run_job, daemon=True)

    def note(self, done: float, total: float | None, text: str) -> None:
        """Say how far the work has come."""
        self.at = (done, total, text)

    @contextmanager
    def unbroken(self) -> Iterator[None]:
        """A stretch that is done whole, once it is begun: files are written."""
        with self._lock:
            if self._stopped:
                raise Stopped
            self._shielded += 1
        try:
            yield
        finally:
            with self._lock:
                self._shielded -= 1

    def stop(self) -> None:
        """End the work where it is, as soon as it runs Python again; not while it is unbroken."""
        if self._stopped:
            return
        with self._lock:
            self._stopped = True
            if self._running and not self._shielded and self.thread.ident is not None:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.thread.ident), ctypes.py_object(Stopped))

    def _run_job(self) -> None:
        try:
            with _ONE_AT_A_TIME.turn(self):
                with self._lock:
                    if self._stopped:
                        return
                    self._running = True
                try:
                    with keeping_files(_FILES):
                        self.result = self._function(self)
                finally:
                    with self._lock:
                        self._running = False
        except BaseException as why:
            self.error = why
        finally:
            with self._lock:
                self._ended = True
            with suppress(RuntimeError):  # the server has ended meanwhile
                self._at_end()

    def call_at_end(self, function: Callable[[], object]) -> None:
        """Have a function called when the work has ended, by its thread; at once where it has."""
        with self._lock:
            self._at_end = function
            ended = self._ended
        if ended:
            function()

    @property
    def is_stopped(self) -> bool:
        """Whether nobody waits for it."""
        return self._stopped


class _Turns:
    """Lets one job work at a time: memory stays that of one project, and the interpreter runs one thread anyway."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    @contextmanager
    def turn(self, job: Job[T]) -> Iterator[None]:
        while not self._lock.acquire(timeout=0.05):
            if job.is_stopped:
                raise Stopped
        try:
            yield
        finally:
            self._lock.release()


_ONE_AT_A_TIME = _Turns()
_FILES = KeptFiles()  # the next question is most often about the same project


class Work:
    """The jobs of one server."""

    def __init__(self) -> None:
        self._jobs: set[Job[Any]] = set()

    async def run(self, function: Callable[[Job[T]], T], report: Report) -> T:
        """The result of a function, which runs in a thread; cancelling the wait stops it. Raises what the function raises."""
        job: Job[T] = Job(function)
        self._jobs = {one for one in self._jobs if one.thread.is_alive()} | {job}
        job.thread.start()
        loop, ended = asyncio.get_running_loop(), asyncio.Event()
        job.call_at_end(lambda: loop.call_soon_threadsafe(ended.set))
        told = None
        try:
            while not ended.is_set():
                with suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(ended.wait(), TOLD)
                if job.at != told and not ended.is_set():
                    told = job.at
                    assert told is not None
                    await report(*told)
        finally:
            job.stop()
        if job.error is not None:
            raise job.error
        return job.result  # type: ignore[return-value]

    def close(self) -> None:
        """Stop what runs, and wait until it has cleaned up: processes of trials, files that are being written."""
        for job in (jobs := list(self._jobs)):
            job.stop()
        limit = time.monotonic() + PATIENCE
        for job in jobs:
            job.thread.join(max(0.0, limit - time.monotonic()))
