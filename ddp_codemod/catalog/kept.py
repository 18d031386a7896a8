"""Keeps what TOML files hold, decoded, in the user's cache folder: reading it back takes a twentieth of reading the TOML."""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import msgspec

T = TypeVar("T")
KEPT = 32  # files; more belong to installations and rule folders that are no longer used


def kept(name: str, kind: type[T], folders: Sequence[Path], build: Callable[[], T]) -> T:
    """What ``build`` makes of the TOML files in some folders; from the cache as long as neither they nor this program changed.

    The cache holds data only and is checked against the types when it is read. One that cannot be read or written is done without.
    """
    stamp = "\n".join(_stamp(folders)).encode("utf-8", "surrogateescape") + b"\0"
    which = zlib.crc32(repr(folders).encode("utf-8", "replace"))
    place = cache_folder() / f"{name}-{which:08x}.msgpack"
    with suppress(OSError, msgspec.MsgspecError):
        content = place.read_bytes()
        if content.startswith(stamp):
            return msgspec.msgpack.decode(memoryview(content)[len(stamp) :], type=kind)
    made = build()
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        # whoever reads meanwhile sees the old file or the new one, whole
        temporary = place.with_suffix(f".{os.getpid()}")
        temporary.write_bytes(stamp + msgspec.msgpack.encode(made))
        temporary.replace(place)
        # folders of rules come and go
        known = sorted(place.parent.glob("*.msgpack"), key=lambda path: path.stat().st_mtime_ns)
        for old in known[:-KEPT]:
            old.unlink()
    return made


def cache_folder() -> Path:
    """Where the user's programs keep what they can make again: XDG_CACHE_HOME, or the system's own place.

    platformdirs knows the same places; importing it takes 5 to 14 ms of each start, a tenth of what a small project takes.
    """
    if (chosen := os.environ.get("XDG_CACHE_HOME")) and Path(chosen).is_absolute():
        return Path(chosen, "ddp-codemod")
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path("~/AppData/Local").expanduser(), "ddp-codemod", "cache")
    return Path("~/Library/Caches/ddp-codemod" if sys.platform == "darwin" else "~/.cache/ddp-codemod").expanduser()


def _stamp(folders: Sequence[Path]) -> Iterator[str]:
    """What changes when a rule file, the code that reads them, the decoder or Python does."""
    yield f"{sys.version} {msgspec.__version__}"
    for top, suffix in (*((folder, ".toml") for folder in folders), (Path(__file__).parent, ".py")):
        for at, inside, names in os.walk(top):
            inside.sort()
            for name in sorted(names):
                if name.endswith(suffix):
                    about = os.stat(f"{at}{os.sep}{name}")  # noqa: PTH116 - at every start, for a hundred files
                    yield f"{at} {name} {about.st_mtime_ns} {about.st_size}"
