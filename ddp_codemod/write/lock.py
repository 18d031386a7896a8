"""One instance at a time writes into a project. The system drops the lock with the process that holds it, however that ends."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ddp_codemod.write.errors import JournalUnavailable, Locked
from ddp_codemod.write.journal_folders import journal_folder

if sys.platform == "win32":
    import msvcrt

    _BYTE = 1 << 30  # behind the text, which others are to read

    def _take_lock(handle: int) -> None:
        os.lseek(handle, _BYTE, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _take_lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


_ours: dict[Path, int] = {}  # folders that this process has locked, and how often


@contextmanager
def exclusive_lock(root: Path) -> Iterator[None]:
    """Keep every other instance out of a root meanwhile; inside itself it does nothing.

    Raises Locked, which names the one that holds it, and JournalUnavailable.
    """
    folder = journal_folder(root)
    if folder in _ours:
        yield
        return
    handle = _open_lock(folder)
    try:
        _ours[folder] = handle
        with restore_on_termination():
            yield
    finally:
        del _ours[folder]
        os.close(handle)


@contextmanager
def restore_on_termination() -> Iterator[None]:
    """Let SIGTERM end the process with everything restored first, as an interrupt does, where nobody else has a say on it.

    It is heard once: a second one would end the putting back.
    """
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return

    def end(number: int, _: object) -> None:
        signal.signal(number, signal.SIG_IGN)
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _open_lock(folder: Path) -> int:
    path = folder / "lock"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as why:
        raise JournalUnavailable(folder=folder, why=why.strerror or why) from why
    try:
        _take_lock(handle)
    except (BlockingIOError, PermissionError):
        os.close(handle)
        pid, since = _read_holder(path)
        raise Locked(pid=pid, since=since) from None
    except OSError as why:
        os.close(handle)
        raise JournalUnavailable(folder=folder, why=why.strerror or why) from why
    with contextlib.suppress(OSError):  # a full disk is no hindrance to the lock itself
        os.ftruncate(handle, 0)
        os.lseek(handle, 0, os.SEEK_SET)
        os.write(handle, json.dumps({"pid": os.getpid(), "started": time.time()}).encode("ascii"))
    return handle


def _read_holder(path: Path) -> tuple[str, str]:
    try:
        arguments = json.loads(path.read_text("ascii"))
        return str(int(arguments["pid"])), time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(arguments["started"]))
    except (OSError, ValueError, TypeError, KeyError, OverflowError):  # it is about to write it
        return "?", "?"
