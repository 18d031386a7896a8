"""Names of files and folders relative to the root, which is "."."""

from __future__ import annotations


def parent_folder(name: str) -> str:
    """The folder that a file or folder lies in."""
    return name.rpartition("/")[0] or "."


def join_path(folder: str, name: str) -> str:
    """A name inside a folder; "" is the folder itself."""
    return folder if not name else name if folder == "." else f"{folder}/{name}"
