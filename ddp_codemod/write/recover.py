"""Moves a project to one side after an apply or undo that was cut off: all of its files changed, or none.

A file that holds neither what the apply wrote nor what was there before it was changed by somebody since: it stays as it is.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from msgspec import Struct

from ddp_codemod.write import atomic, journal
from ddp_codemod.write.errors import OutsideRoot, PutBackFailed
from ddp_codemod.write.journal import Entry, Kept
from ddp_codemod.write.journal_folders import has_journal
from ddp_codemod.write.lock import exclusive_lock
from ddp_codemod.write.replace import Replacement, real_target
from ddp_codemod.write.undo import clear_away, make_restoration


class Recovered(Struct, frozen=True):
    """What became of an apply that was cut off: it counts as done, or as never begun, but for the files ``changed`` since."""

    done: bool
    names: tuple[str, ...]
    changed: tuple[str, ...]
    journal: Path


def find_interrupted(root: Path) -> tuple[str, ...]:
    """The files of an apply that was cut off; nothing is written."""
    past = journal.read_entries(root)
    return tuple(kept.name for kept in past[-1].files) if past and past[-1].pending else ()


def recover_project(root: Path) -> Recovered | None:
    """Finish what was cut off; None where nothing was. Raises PutBackFailed, Locked, JournalUnavailable."""
    if not has_journal(root):
        return None
    with exclusive_lock(root):
        for entry in journal.find_unfinished(root):
            clear_away(root, entry)
            journal.forget_entry(entry)
        past = journal.read_entries(root)
        if not past:
            return None
        if not past[-1].pending:
            clear_away(root, past[-1])
            return None
        return _recover_entry(root, past[-1])


def _recover_entry(root: Path, entry: Entry) -> Recovered:
    names = tuple(kept.name for kept in entry.files)
    for kept in entry.files:
        _give_back_edits(root, kept)
    held = [_digest_target(root, kept) for kept in entry.files]
    if all(found == kept.after for found, kept in zip(held, entry.files, strict=True)):
        clear_away(root, entry)
        journal.finish_entry(entry)
        return Recovered(True, names, (), entry.folder)
    folders: set[Path] = set()
    changed = []
    for index, (found, kept) in enumerate(zip(held, entry.files, strict=True)):
        if found == kept.after:
            try:
                file = make_restoration(root, entry, index)
                if not _put_back(file, file.target.with_name(kept.temporary), kept):
                    changed.append(kept.name)
            except OSError as why:
                raise PutBackFailed([kept.name], journal=entry.folder, why=why.strerror or why) from why
            folders.add(file.target.parent)
        elif found != kept.before:
            changed.append(kept.name)
    clear_away(root, entry)
    for folder in sorted(folders):
        atomic.sync_folder(folder)
    if changed:
        journal.set_aside(entry)
    else:
        journal.close_entry(entry)
        journal.forget_entry(entry)
    return Recovered(False, names, tuple(changed), entry.folder)


def _put_back(file: Replacement, replaced: Path, kept: Kept) -> bool:
    """Put the old file back, which takes no space where it is still there."""
    if _digest_file(replaced) == kept.before:
        return atomic.put_over(replaced, file.target, file.before, file.after)
    atomic.discard_file(file.temporary)
    atomic.stage_file(file.temporary, file.after, file.status, file.target)
    return atomic.put_over(file.temporary, file.target, file.before, file.after)


def _give_back_edits(root: Path, kept: Kept) -> None:
    """An edit that was replaced in the very moment in which the process ended is in the file beside its target."""
    with contextlib.suppress(OSError, OutsideRoot):
        target = real_target(root, kept.target)
        for name, written in ((kept.temporary, kept.after), (kept.returning, kept.before)):
            beside = target.with_name(name)
            if _digest_file(target) == written and _digest_file(beside) not in (None, kept.before, kept.after):
                atomic.put(beside, target)


def _digest_target(root: Path, kept: Kept) -> str | None:
    try:
        return _digest_file(real_target(root, kept.target))
    except OutsideRoot:
        return None


def _digest_file(path: Path) -> str | None:
    try:
        return journal.digest_of(path.read_bytes())
    except OSError:
        return None
