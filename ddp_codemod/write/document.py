"""Writes a report that the user asked for into a file of the user's naming."""

from __future__ import annotations

from pathlib import Path


def write_document(path: Path, text: str) -> None:
    """Write the text as UTF-8. Raises OSError."""
    path.write_text(text, encoding="utf-8", newline="\n")
