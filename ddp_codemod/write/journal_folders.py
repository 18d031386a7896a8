"""Where the journals of all projects lie, outside of them."""

from __future__ import annotations

import os
import sys
import zlib
from pathlib import Path


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


def _key_of_root(root: Path) -> bytes:
    return os.fsencode(os.path.normcase(os.path.realpath(root)))


def _hash_key(key: bytes) -> str:
    return f"{zlib.crc32(key):08x}"
