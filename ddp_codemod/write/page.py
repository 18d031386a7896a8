"""Writes a page that the user asked for, and over nothing but an earlier one."""

from __future__ import annotations

import os
from pathlib import Path

from ddp_codemod.write.document import write_new
from ddp_codemod.write.errors import WriteError


class PageRefused(WriteError):
    """There is a file of another kind under this name."""

    key = "page-refused"


class PageFailed(WriteError):
    """The system refused. ``why`` is its text."""

    key = "page-failed"


def save_page(path: Path, page: bytes, mark: bytes) -> None:
    """Write the page, in place of nothing or of a file that begins with ``mark``. Raises PageRefused, PageFailed."""
    try:
        if os.path.lexists(path):
            if path.is_symlink() or not path.is_file():
                raise PageRefused(path=path)
            with path.open("rb") as file:
                if file.read(len(mark)) != mark:
                    raise PageRefused(path=path)
        write_new(path, page)
    except OSError as why:
        raise PageFailed(path=path, why=why.strerror or why) from why
