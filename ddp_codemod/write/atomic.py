"""Replaces a file in one step: a reader sees the old bytes or the new ones, never a part."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path


def stage(temporary: Path, data: bytes, like: os.stat_result) -> None:
    """Write a new file with the mode of ``like``, and its owner where the system lets us, all the way to the disk.

    Raises OSError and leaves nothing behind.
    """
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        _take_after(temporary, like)
    except BaseException:
        discard(temporary)
        raise


def _take_after(temporary: Path, like: os.stat_result) -> None:
    if hasattr(os, "chown"):
        own = temporary.stat()
        if (own.st_uid, own.st_gid) != (like.st_uid, like.st_gid):
            with contextlib.suppress(OSError):  # only root may give files away
                os.chown(temporary, like.st_uid, like.st_gid)
    temporary.chmod(stat.S_IMODE(like.st_mode))  # after chown, which drops set-user-id bits


def put(temporary: Path, target: Path) -> None:
    """Give the temporary file the target's name, in one step."""
    os.replace(temporary, target)  # noqa: PTH105


def discard(temporary: Path) -> None:
    """Remove a temporary file if it is there."""
    with contextlib.suppress(OSError):
        temporary.unlink()


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to the disk; Windows does so by itself."""
    if os.name == "nt":
        return
    with contextlib.suppress(OSError):  # some file systems cannot
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
