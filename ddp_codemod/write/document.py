"""Writes a report that the user asked for into a file of the user's naming."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def write_document(path: Path, text: str) -> None:
    """Write the text as UTF-8. Raises OSError."""
    write_new(path, text.encode("utf-8"))


def write_new(path: Path, data: bytes) -> None:
    """Put a file in the place of whatever plain file or link has its name: a link in a project may lead anywhere. Raises OSError."""
    if path.exists() and not path.is_file():  # a pipe or a device that the user named
        path.write_bytes(data)
        return
    beside = path.with_name(f".ddp-codemod-{secrets.token_hex(4)}.tmp")
    try:
        with beside.open("xb") as file:
            file.write(data)
        os.replace(beside, path)  # noqa: PTH105
    finally:
        beside.unlink(missing_ok=True)
