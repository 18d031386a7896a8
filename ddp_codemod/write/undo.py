"""Takes the last apply back, with or without git."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Collection
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from ddp_codemod.write import atomic, journal
from ddp_codemod.write.errors import (
    AlreadyUndone,
    ChangedSince,
    NothingToUndo,
    OutsideRoot,
    RepositoryUnreadable,
    StandsInCommit,
    UndoElsewhere,
    WriteFailed,
)
from ddp_codemod.write.git import Git, GitMissing
from ddp_codemod.write.journal_folders import find_journals_below
from ddp_codemod.write.lock import exclusive_lock
from ddp_codemod.write.merge import remove_changes
from ddp_codemod.write.replace import Replacement, real_target, replace_all
from ddp_codemod.write.repository import top_of


class UnrestoredFile(Struct, frozen=True):
    """A file that was not taken back: ``lines`` were edited since, none where it is gone or no plain file any more."""

    name: str
    lines: tuple[int, ...]
    old: Path  # where its text from before the apply is kept


class Undone(Struct, frozen=True):
    """What became of the files of the last apply, and how many applies are left to undo."""

    names: tuple[str, ...]  # they have their old bytes again
    left: int
    merged: tuple[str, ...] = ()  # the apply's changes are out, edits that were made since stay
    stay: tuple[UnrestoredFile, ...] = ()
    kept: tuple[str, ...] = ()  # as it was asked for


def undo(root: Path, keep: Collection[str] = ()) -> Undone:
    """Take the last apply back, but for the files named in ``keep``; one that was cut off is taken back too.

    A file that was edited since gets back only the lines that the apply had changed; where these were edited, it stays as it is,
    and the others go back all the same. Raises NothingToUndo, which names folders below
    that have one, StandsInCommit, ChangedSince where no file can be taken back, WriteFailed, Locked.
    """
    if not journal.find_standing_entries(root):
        if journal.read_entries(root):
            raise AlreadyUndone()
        below = [path.relative_to(root).as_posix() for path in find_journals_below(root) if journal.read_entries(path)]
        raise UndoElsewhere(below) if below else NothingToUndo()
    with exclusive_lock(root):
        return _undo_entry(root, keep)


def _undo_entry(root: Path, keep: Collection[str]) -> Undone:
    past = journal.find_standing_entries(root)
    if not past:
        raise NothingToUndo()
    entry = past[-1]
    if commit := _find_own_commit(root, entry):
        raise StandsInCommit(commit=commit[:10])
    files, merged, stay, untouched = [], [], [], []
    for index, kept in enumerate(entry.files):
        if kept.name in keep:
            continue
        try:
            file = make_restoration(root, entry, index)
        except OutsideRoot:
            stay.append(UnrestoredFile(kept.name, (), entry.folder / str(index)))
            continue
        except OSError as why:
            raise WriteFailed([kept.name], why=why.strerror or why) from why
        held = journal.digest_of(file.before)
        if held == kept.after:
            files.append(file)
        elif held == kept.before:
            untouched.append(kept.name)
        elif isinstance(result := _remove_own_changes(entry, index, file), bytes):
            merged.append(replace(file, after=result))
        else:
            stay.append(UnrestoredFile(kept.name, tuple(result), entry.folder / str(index)))
    held_back = tuple(sorted(kept.name for kept in entry.files if kept.name in keep))
    if stay and not files and not merged and not untouched and not held_back:
        raise ChangedSince(sorted(one.name for one in stay), journal=entry.folder)
    clear_away(root, entry)
    try:
        begun = journal.reopen_entry(entry)
        ending = journal.set_aside if stay or merged or held_back else journal.close_entry
        replace_all([*files, *merged], entry.folder, lambda: ending(begun))
    except OSError as why:
        raise WriteFailed(why=why.strerror or why) from why
    except BaseException:
        if not entry.pending and all(file.holds(file.before) for file in (*files, *merged)):
            journal.finish_entry(entry)
        raise
    if ending is journal.close_entry:
        journal.forget_entry(begun)
    names = tuple(sorted([*(file.name for file in files), *untouched]))
    return Undone(names, _count_undoable(root, past[:-1]), tuple(sorted(file.name for file in merged)), tuple(stay), held_back)


def _find_own_commit(root: Path, entry: journal.Entry) -> str:
    """The commit that an apply made, where the branch that is checked out has it; "" else."""
    commit, top = journal.find_commit(entry), top_of(Path(os.path.realpath(root)))
    if not commit or top is None:
        return ""
    try:
        return "" if Git.at(top).run("merge-base", "--is-ancestor", commit, "HEAD").code else commit
    except (GitMissing, RepositoryUnreadable):
        return ""


def _count_undoable(root: Path, past: list[journal.Entry]) -> int:
    """How many applies can be taken back one after the other: their files hold what they wrote, and they are no commits."""
    held: dict[str, str] = {}
    count = 0
    for entry in reversed(past):
        for kept in entry.files:
            if kept.name not in held:
                with contextlib.suppress(OSError):
                    held[kept.name] = journal.digest_of((root / kept.name).read_bytes())
        if all(held.get(kept.name) != kept.after for kept in entry.files) or _find_own_commit(root, entry):
            break
        held.update((kept.name, kept.before) for kept in entry.files)
        count += 1
    return count


def _remove_own_changes(entry: journal.Entry, index: int, file: Replacement) -> bytes | list[int]:
    """An edited file without what the apply changed in it; else the lines that were edited."""
    try:
        written = entry.written(index)
    except OSError:  # an apply of a version that did not keep it
        return []
    return remove_changes(file.after, written, file.before) if journal.digest_of(written) == entry.files[index].after else []


def make_restoration(root: Path, entry: journal.Entry, index: int) -> Replacement:
    """What gives one file of an apply its old bytes and mode. Raises OutsideRoot, OSError."""
    kept, old = entry.files[index], entry.old(index)
    if journal.digest_of(old) != kept.before:
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
            atomic.discard_file(target.with_name(name))
