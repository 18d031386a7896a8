"""The user's cache folder: files that can be made again, read only where the user alone can have written them."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from pathlib import Path

UNFINISHED = ".part"  # what a file ends in until it is whole
_OLD = 3600  # seconds after which an unfinished file belongs to a process that was killed


def find_cache_folder() -> Path:
    """Where the user's programs keep what they can make again: XDG_CACHE_HOME, or the system's own place.

    platformdirs knows the same places; importing it takes 5 to 14 ms of each start, a tenth of what a small project takes.
    Raises RuntimeError where the user has no home.
    """
    if (chosen := os.environ.get("XDG_CACHE_HOME")) and Path(chosen).is_absolute():
        return Path(chosen, "ddp-codemod")
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path("~/AppData/Local").expanduser(), "ddp-codemod", "cache")
    return Path("~/Library/Caches/ddp-codemod" if sys.platform == "darwin" else "~/.cache/ddp-codemod").expanduser()


def read_own_bytes(place: Path) -> bytes | None:
    """The bytes of a file that only the user can have written; None where there is none, or others may write it."""
    try:
        with place.open("rb") as file:
            about = os.fstat(file.fileno())
            if hasattr(os, "getuid") and (about.st_uid != os.getuid() or about.st_mode & 0o022):
                return None
            return file.read()
    except OSError:
        return None


def keep_file(place: Path, data: bytes, most: int, most_bytes: int) -> None:
    """Write a file in one step, and bound how many of its kind there are: those that nobody touched for the longest go first.

    Whoever reads meanwhile sees the old file or the new one, whole. Raises OSError.
    """
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    temporary = place.with_name(f"{place.name}.{os.urandom(8).hex()}{UNFINISHED}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        temporary.replace(place)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _remove_old_files(place, most, most_bytes)


def _remove_old_files(place: Path, most: int, most_bytes: int) -> None:
    known = []
    for path in place.parent.iterdir():
        with suppress(OSError):
            about = path.lstat()
            if path.suffix == place.suffix:
                known.append((about.st_mtime_ns, about.st_size, path))
            elif path.suffix == UNFINISHED and about.st_mtime < time.time() - _OLD:
                path.unlink()
    for _, size, path in sorted(known, reverse=True):
        most, most_bytes = most - 1, most_bytes - size
        if most < 0 or most_bytes < 0:
            with suppress(OSError):
                path.unlink()
