"""Folders for clones that are thrown away: named for the process that made them, so that those of dead ones can be found."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from ddp_codemod.write.results import remove_folder

_PREFIX = "ddp-codemod-fleet-"


def make_folder() -> Path:
    """A new folder of this process; those that processes killed earlier left behind go."""
    top = Path(tempfile.gettempdir())
    for left in top.glob(f"{_PREFIX}*-*"):
        pid = left.name.removeprefix(_PREFIX).split("-")[0]
        if pid.isdigit() and left.stat().st_uid == os.getuid() and not _is_alive(int(pid)):
            remove_folder(left)
    return Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=top))


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def folder_size(folder: Path) -> int:
    """The bytes that a folder's files take on the disk."""
    total = 0
    for at, _, names in os.walk(folder, onerror=None):
        for name in names:
            try:
                total += os.lstat(os.path.join(at, name)).st_blocks * 512  # noqa: PTH118 - called while it is filled
            except OSError:
                continue
    return total
