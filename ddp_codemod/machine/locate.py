"""Finds the files that a traceback names in a project that may lie elsewhere than where the log was written."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from ddp_codemod.discover.files import walk_files
from ddp_codemod.health import Frame

MOST = 20_000  # files of a kind: what holds more is no project, but a home folder or a disk, and reading it all takes gigabytes


def locate_frames(frames: Iterable[Frame], folder: Path) -> list[tuple[Path, int]]:
    """The files below the folder that the frames name, with their lines, innermost first.

    [] for a folder that is no project (``MOST``). A file is the one with the same name whose folders agree longest, from the end; of two that agree as long none is meant.
    """
    wanted = {(tuple(_split_path(frame.path)), frame.line): None for frame in reversed(list(frames))}
    names = {parts[-1].lower() for parts, _ in wanted}
    if not names:
        return []
    suffixes = tuple({f".{name.rpartition('.')[2]}" for name in names})
    every = list(walk_files(folder, [folder], suffixes))
    if len(every) > MOST:
        return []
    files = [path for path in every if path.name.lower() in names]
    found = [(path, line) for parts, line in wanted if (path := _find_best(parts, files)) is not None]
    return list(dict.fromkeys(found))


def _find_best(parts: tuple[str, ...], files: list[Path]) -> Path | None:
    scores = sorted(((_count_agreeing(parts, path.parts), path) for path in files), reverse=True)
    if not scores or scores[0][0] == 0 or (len(scores) > 1 and scores[0][0] == scores[1][0]):
        return None
    return scores[0][1]


def _count_agreeing(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """How many folders and the name agree, from the end."""
    count = 0
    for mine, theirs in zip(reversed(one), reversed(other), strict=False):
        if mine.lower() != theirs.lower():
            break
        count += 1
    return count


def _split_path(path: str) -> list[str]:
    return [part for part in re.split(r"[/\\]+", path) if part not in ("", ".")]
