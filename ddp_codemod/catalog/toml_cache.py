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

from ddp_codemod.user_cache import find_cache_folder, keep_file, read_own_bytes

T = TypeVar("T")
KEPT, MOST_BYTES = 32, 200_000_000  # more belong to installations and rule folders that are no longer used


def load_cached(name: str, kind: type[T], folders: Sequence[Path], build: Callable[[], T]) -> T:
    """What ``build`` makes of the TOML files in some folders; from the cache as long as neither they nor this program changed.

    The cache holds data only and is checked against the types when it is read. One that cannot be read or written is done without.
    """
    stamp = "\n".join(_list_stamps(folders)).encode("utf-8", "surrogateescape") + b"\0"
    which = zlib.crc32(repr(folders).encode("utf-8", "replace"))
    place = find_cache_folder() / f"{name}-{which:08x}.msgpack"
    content = read_own_bytes(place)
    with suppress(msgspec.MsgspecError):
        if content is not None and content.startswith(stamp):
            return msgspec.msgpack.decode(memoryview(content)[len(stamp) :], type=kind)
    made = build()
    with suppress(OSError):
        keep_file(place, stamp + msgspec.msgpack.encode(made), KEPT, MOST_BYTES)
    return made


def _list_stamps(folders: Sequence[Path]) -> Iterator[str]:
    """What changes when a rule file, the code that reads them, the decoder or Python does."""
    yield f"{sys.version} {msgspec.__version__}"
    for top, suffix in (*((folder, ".toml") for folder in folders), (Path(__file__).parent, ".py")):
        for at, inside, names in os.walk(top):
            inside.sort()
            for name in sorted(names):
                if name.endswith(suffix):
                    about = os.stat(f"{at}{os.sep}{name}")  # noqa: PTH116 - at every start, for a hundred files
                    yield f"{at} {name} {about.st_mtime_ns} {about.st_size}"
