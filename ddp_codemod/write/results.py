"""A folder of results, each a folder that appears whole or not at all, whoever is killed in between."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from ddp_codemod.write.atomic import sync_folder

STAGING = ".staging"


def publish(top: Path, name: str, files: Mapping[str, bytes]) -> None:
    """Make the folder ``name`` (with slashes) below ``top`` with these files, in one step; an earlier one of the name goes.

    It outlives a power cut. Raises OSError.
    """
    (top / STAGING).mkdir(parents=True, exist_ok=True)
    result = Path(tempfile.mkdtemp(dir=top / STAGING))
    try:
        for file, data in files.items():
            _write(result / file, data)
        result.chmod(0o755)
        target = top / name
        target.parent.mkdir(parents=True, exist_ok=True)
        for _ in range(3):  # another worker can come in between, with the same result
            if target.exists():
                with contextlib.suppress(FileNotFoundError):
                    target.rename(result.with_name(result.name + "-old"))
                remove_folder(result.with_name(result.name + "-old"))
            with contextlib.suppress(OSError):
                result.rename(target)
                break
        sync_folder(target.parent)
    finally:
        remove_folder(result)


def write_file(path: Path, data: bytes) -> None:
    """Write a file in one step. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    (path.parent / STAGING).mkdir(exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent / STAGING)
    os.close(handle)
    _write(Path(name), data)
    Path(name).chmod(0o644)
    Path(name).replace(path)


def _write(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def append_line(path: Path, line: bytes) -> None:
    """Add a line to a file that others add to at the same time."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.write(handle, line)
    finally:
        os.close(handle)


def leave_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files in a folder, for another process to read when this one has ended well. Raises OSError."""
    folder.mkdir(exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)


def remove_folder(folder: Path) -> None:
    """Remove a folder, whatever is in it."""
    shutil.rmtree(folder, ignore_errors=True)
