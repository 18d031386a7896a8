"""Texts that an editor holds and has not saved: they count in place of what lies on the disk."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

_unsaved: Mapping[str, bytes] = {}


@contextmanager
def use_unsaved_texts(texts: Mapping[str, bytes]) -> Iterator[None]:
    """While this lasts, files have these bytes; the keys are their absolute paths. For one run at a time in a process."""
    global _unsaved
    _unsaved = {os.path.normpath(path): data for path, data in texts.items()}
    try:
        yield
    finally:
        _unsaved = {}


def find_unsaved_text(path: str | os.PathLike[str]) -> bytes | None:
    """The bytes that stand for a file's; None where those on the disk count."""
    return _unsaved.get(os.path.normpath(path)) if _unsaved else None
