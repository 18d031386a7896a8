"""In which order repositories are handed out."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ddp_codemod.fleet.model import Entry


def sort_largest_first(entries: Iterable[Entry]) -> list[Entry]:
    """Those with the most files first: were a long one the last, the other machines would wait for it.

    Told from clones on this machine; what lies elsewhere, of which nothing is known, keeps its order behind them.
    """
    return sorted(entries, key=lambda entry: -_count_file_bytes(entry.repository))


def _count_file_bytes(place: str) -> int:
    """Bytes of the list that git keeps of a clone's files; 0 where there is none."""
    try:
        return (Path(place) / ".git" / "index").lstat().st_size
    except (OSError, ValueError):
        return 0
