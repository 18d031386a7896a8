"""The parts of a project that git keeps elsewhere and that are not here: a zip and a plain clone leave their folders empty."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from ddp_codemod.discover.files import content

STATED = ".gitmodules"
_PATH = re.compile(rb"^[ \t]*path[ \t]*=[ \t]*([^\r\n\0]{1,400}?)[ \t\r]*$", re.M)
_LONGEST = 200_000  # bytes; one submodule takes about a hundred


def find_absent_submodules(root: Path) -> Iterator[str]:
    """The submodules that a project states and whose folders are missing or empty, relative to the root."""
    data = content(root / STATED, root)
    if not isinstance(data, bytes) or len(data) > _LONGEST:
        return
    for stated in dict.fromkeys(_PATH.findall(data)):
        name = os.path.normpath(stated.decode("utf-8", "replace").strip('"')).replace(os.sep, "/")
        if not name.startswith(("../", "/")) and name not in (".", "..") and _is_empty(root / name):
            yield name


def _is_empty(folder: Path) -> bool:
    try:
        with os.scandir(folder) as entries:
            return next(entries, None) is None
    except FileNotFoundError:
        return True
    except OSError:  # no folder, or none that we may look into: somebody else says so
        return False
