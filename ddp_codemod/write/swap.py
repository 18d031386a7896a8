"""Lets two files change names in one step, where the system can: what was replaced is then still there to be looked at."""

from __future__ import annotations

import errno
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

_HERE = -100  # AT_FDCWD: names are relative to the working folder
_EXCHANGE = 2  # RENAME_EXCHANGE of renameat2(2), RENAME_SWAP of renamex_np(2)
_CANNOT = {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}


def swap(one: Path, other: Path) -> bool:
    """Exchange two files of one folder; False where this system or file system has no such step. Raises OSError."""
    call = _system_call()
    if call is None:
        return False
    first, second = os.fsencode(one), os.fsencode(other)
    words = (first, second, _EXCHANGE) if sys.platform == "darwin" else (_HERE, first, _HERE, second, _EXCHANGE)
    if call(*words) == 0:
        return True
    import ctypes  # not before something is written

    code = ctypes.get_errno()
    if code in _CANNOT:
        return False
    raise OSError(code, os.strerror(code), str(one), None, str(other))


@cache
def _system_call() -> Any:
    name = {"linux": "renameat2", "darwin": "renamex_np"}.get(sys.platform)
    if name is None:
        return None
    import ctypes

    try:
        return getattr(ctypes.CDLL(None, use_errno=True), name)
    except (OSError, AttributeError):  # an older C library
        return None
