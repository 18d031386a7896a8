"""Where the journals of all projects lie, outside of them."""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

_LOOKED_AT = 5_000  # folders below a root


def state_folder() -> Path:
    """Where the user's programs keep what they have to remember: XDG_STATE_HOME, or the system's own place."""
    # a relative one would lie in whatever project one is in
    if (chosen := os.environ.get("XDG_STATE_HOME")) and Path(chosen).is_absolute():
        return Path(chosen, "ddp-codemod")
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path("~/AppData/Local").expanduser(), "ddp-codemod")
    if sys.platform == "darwin":
        return Path("~/Library/Application Support/ddp-codemod").expanduser()
    return Path("~/.local/state/ddp-codemod").expanduser()


def journal_folder(root: Path) -> Path:
    """The folder of one root's journal."""
    import hashlib  # OpenSSL comes with it, and most runs have no journal

    key = _key_of_root(root)
    return state_folder() / (_hash_key(key) + hashlib.sha256(key).hexdigest()[:24])


def has_journal(root: Path) -> bool:
    """Whether anything was ever written in a project."""
    head = _hash_key(_key_of_root(root))
    try:
        return any(name.startswith(head) for name in os.listdir(state_folder())) and journal_folder(root).is_dir()  # noqa: PTH208
    except OSError:
        return False


def find_journals_below(root: Path) -> Iterator[Path]:
    """The folders below a root in which something was written as in a project of its own."""
    try:
        heads = {name[:8] for name in os.listdir(state_folder())}  # noqa: PTH208
    except OSError:
        return
    for folder, inner, _ in islice(os.walk(root) if heads else (), _LOOKED_AT):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        path = Path(folder)
        if path != root and _hash_key(_key_of_root(path)) in heads and journal_folder(path).is_dir():
            yield path


def _key_of_root(root: Path) -> bytes:
    return os.fsencode(os.path.normcase(os.path.realpath(root)))


def _hash_key(key: bytes) -> str:
    return f"{zlib.crc32(key):08x}"
