"""Replaces a file in one step: a reader sees the old bytes or the new ones, never a part."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path

from ddp_codemod.write.swap import swap


def stage_file(temporary: Path, data: bytes, like: os.stat_result, attributes_of: Path | None = None) -> None:
    """Write a new file with the mode and owner of ``like``, all the way to the disk.

    Raises OSError, also where the owner cannot be kept, and leaves nothing behind.
    """
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        _copy_mode_and_owner(temporary, like)
        if attributes_of is not None:
            _copy_attributes(temporary, attributes_of)
    except BaseException:
        discard_file(temporary)
        raise


def _copy_mode_and_owner(temporary: Path, like: os.stat_result) -> None:
    if hasattr(os, "chown"):
        own = temporary.stat()
        if (own.st_uid, own.st_gid) != (like.st_uid, like.st_gid):
            with contextlib.suppress(OSError):  # only root may give files away
                os.chown(temporary, like.st_uid, like.st_gid)
            if temporary.stat().st_uid != like.st_uid:
                raise OSError(errno.EPERM, "the file belongs to another user and would change hands", str(temporary))
    temporary.chmod(stat.S_IMODE(like.st_mode))  # after chown, which drops set-user-id bits


def _copy_attributes(temporary: Path, target: Path) -> None:
    """Access lists and the like, where the file system has them and lets us."""
    if hasattr(os, "listxattr"):
        with contextlib.suppress(OSError):
            for name in os.listxattr(target):
                with contextlib.suppress(OSError):
                    os.setxattr(temporary, name, os.getxattr(target, name))


def put(temporary: Path, target: Path) -> None:
    """Give the temporary file the target's name, in one step.

    Where the system can, the old file gets the temporary one's name in the same step and is there to be looked at.
    """
    if not swap(temporary, target):
        os.replace(temporary, target)  # noqa: PTH105


def put_over(temporary: Path, target: Path, expected: bytes, new: bytes) -> bool:
    """Put the temporary file, which holds ``new``, in the place of ``expected``; False where the target holds something else.

    An edit that slips in between the look and the step is seen in the file that was replaced, and goes back to its place.
    """
    if target.read_bytes() != expected:
        return False
    put(temporary, target)
    if not temporary.exists():
        return True
    while (found := temporary.read_bytes()) != expected:
        if found == new:
            return False  # the edit is back
        put(temporary, target)
    return True


def discard_file(temporary: Path) -> None:
    """Remove a temporary file if it is there."""
    with contextlib.suppress(OSError):
        temporary.unlink()


def sync_folder(folder: Path) -> None:
    """Write the names in a folder to the disk; Windows does so by itself."""
    if os.name == "nt":
        return
    with contextlib.suppress(OSError):  # some file systems cannot
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
