"""Takes the last apply back, with or without git."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from msgspec import Struct

from ddp_codemod.write import atomic, journal
from ddp_codemod.write.errors import ChangedSince, NothingToUndo, OutsideRoot, WriteFailed
from ddp_codemod.write.lock import only_one
from ddp_codemod.write.replace import Replacement, real_target, replace_all


class Undone(Struct, frozen=True):
    """The files that have their old bytes again, and how many applies are left to undo."""

    names: tuple[str, ...]
    left: int


def undo(root: Path) -> Undone:
    """Give every file of the last apply the bytes and mode from before it, all or none; one that was cut off is taken back too.

    A file that already holds its old bytes is left as it is. Raises NothingToUndo, ChangedSince with the files that hold neither
    what the apply wrote nor what was there before it, WriteFailed, Locked.
    """
    if not journal.entries(root):
        raise NothingToUndo()
    with only_one(root):
        return _undo(root)


def _undo(root: Path) -> Undone:
    past = journal.entries(root)
    if not past:
        raise NothingToUndo()
    entry = past[-1]
    files, changed = [], []
    for index, kept in enumerate(entry.files):
        try:
            file = restoring(root, entry, index)
        except OutsideRoot:
            changed.append(kept.name)
        except OSError as why:
            raise WriteFailed([kept.name], why=why.strerror or why) from why
        else:
            held = journal.digest(file.before)
            if held == kept.after:
                files.append(file)
            elif held != kept.before:
                changed.append(kept.name)
    if changed:
        raise ChangedSince(sorted(changed), journal=entry.folder)
    clear_away(root, entry)
    try:
        begun = journal.reopen(entry)
        replace_all(files, entry.folder, lambda: journal.close(begun))
    except OSError as why:
        raise WriteFailed(why=why.strerror or why) from why
    except BaseException:
        if not entry.pending and all(file.holds(file.before) for file in files):
            journal.finish(entry)
        raise
    journal.forget(begun)
    return Undone(tuple(sorted(kept.name for kept in entry.files)), len(past) - 1)


def restoring(root: Path, entry: journal.Entry, index: int) -> Replacement:
    """What gives one file of an apply its old bytes and mode. Raises OutsideRoot, OSError."""
    kept, old = entry.files[index], entry.old(index)
    if journal.digest(old) != kept.before:
        raise OSError(errno.EIO, "the journal is damaged", str(entry.folder))
    target = real_target(root, kept.target)
    status = target.stat()
    fields = list(status)
    fields[0] = kept.mode  # st_mode is the first of the ten
    return Replacement(kept.name, target, target.read_bytes(), old, os.stat_result(fields), target.with_name(kept.returning))


def clear_away(root: Path, entry: journal.Entry) -> None:
    """Remove the files that an apply, or its way back, left beside their targets."""
    for kept in entry.files:
        target = Path(os.path.realpath(root), kept.target)
        for name in (kept.temporary, kept.returning):
            atomic.discard(target.with_name(name))
