"""Takes the last apply back, with or without git."""

from __future__ import annotations

import errno
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from ddp_codemod.write import atomic, journal
from ddp_codemod.write.errors import ChangedSince, NothingToUndo, OutsideRoot, WriteFailed
from ddp_codemod.write.replace import Replacement, real_target, replace_all


@dataclass(frozen=True, slots=True)
class Undone:
    """The files that have their old bytes again, and how many applies are left to undo."""

    names: tuple[str, ...]
    left: int


def undo(root: Path) -> Undone:
    """Give every file of the last apply the bytes and mode from before it, all or none; one that was cut off is taken back too.

    A file that already holds its old bytes is left as it is. Raises NothingToUndo, ChangedSince with the files that hold neither
    what the apply wrote nor what was there before it, WriteFailed.
    """
    past = journal.entries(root)
    if not past:
        raise NothingToUndo()
    entry = past[-1]
    files, changed = [], []
    token = secrets.token_hex(4)
    for index, kept in enumerate(entry.files):
        try:
            file = _restoring(root, entry, index, token)
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
    for kept in entry.files:
        atomic.discard(Path(os.path.realpath(root), kept.target).with_name(kept.temporary))
    replace_all(files, entry.folder, lambda: journal.forget(entry))
    return Undone(tuple(sorted(kept.name for kept in entry.files)), len(past) - 1)


def _restoring(root: Path, entry: journal.Entry, index: int, token: str) -> Replacement:
    kept, old = entry.files[index], entry.old(index)
    if journal.digest(old) != kept.before:
        raise OSError(errno.EIO, "the journal is damaged", str(entry.folder))
    target = real_target(root, kept.target)
    status = target.stat()
    fields = list(status)
    fields[0] = kept.mode  # st_mode is the first of the ten
    temporary = target.with_name(f".ddp-codemod-{token}-{index}.tmp")
    return Replacement(kept.name, target, target.read_bytes(), old, os.stat_result(fields), temporary)
