"""Writes changes into a project: all of them or none, and never over work that git could not give back."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from ddp_codemod.model import FileChange
from ddp_codemod.patch.blob import Blob
from ddp_codemod.write import journal
from ddp_codemod.write.errors import (
    ChangedMeanwhile,
    Conflicting,
    ConvertedFiles,
    DirtyFiles,
    Interrupted,
    OutsideRoot,
    PutBackFailed,
    ReadOnlyFiles,
    WriteFailed,
)
from ddp_codemod.write.lock import exclusive_lock
from ddp_codemod.write.replace import Replacement, real_target, replace_all
from ddp_codemod.write.repository import read_blobs


class Written(Struct, frozen=True):
    """What an apply wrote: names as in the changes, and where the old bytes are kept (None: there was nothing to write)."""

    names: tuple[str, ...]
    journal: Path | None


def apply_changes(root: Path, changes: Sequence[FileChange], *, allow_dirty: bool, why: Sequence[journal.Why] = ()) -> Written:
    """Write the changes under the root, all or none, and keep the old bytes for ``undo``, and ``why`` for ``explain``.

    A file is dirty when it differs from the index, except by bytes that the last apply wrote; dirty files are refused unless
    ``allow_dirty``. A file that the index does not know differs from nothing there, so it is not dirty: the journal keeps
    its bytes. Nothing is dirty outside a repository or without git installed.

    Raises a WriteError; then every file is as it was (PutBackFailed names those that are not).
    """
    wanted = [change for change in changes if change.before != change.after]
    if not wanted:
        return Written((), None)
    with exclusive_lock(root):
        files = check_changes(root, wanted, allow_dirty=allow_dirty)
        home = os.path.realpath(root)
        kept, old, new = (
            [_make_record(file, home) for file in files],
            [file.before for file in files],
            [file.after for file in files],
        )
        entry = journal.begin_entry(root, kept, old, new, why)
        try:
            replace_all(files, entry.folder, lambda: journal.finish_entry(entry))
        except PutBackFailed:
            raise  # the journal is all that is left of the old bytes
        except BaseException:
            # a second signal may have come while the files were restored: then the journal is needed
            if not any(file.holds(file.after) for file in files):
                journal.forget_entry(entry)
            raise
    return Written(tuple(sorted(change.name for change in wanted)), entry.folder)


def check_changes(root: Path, changes: Sequence[FileChange], *, allow_dirty: bool) -> list[Replacement]:
    """Look whether the changes can be written, and write nothing: raises what ``apply_changes`` would raise for that."""
    past = journal.read_entries(root)
    if past and past[-1].pending:
        raise Interrupted([kept.name for kept in past[-1].files])
    files = _make_replacements(root, changes)
    if not allow_dirty:
        check_clean(root, files, read_blobs(root, [file.name for file in files]))
    return files


def check_clean(root: Path, files: Sequence[Replacement], blobs: Mapping[str, Blob]) -> None:
    """Raise DirtyFiles or ConvertedFiles for files whose bytes git could not give back."""
    home = os.path.realpath(root)
    ours = journal.find_last_written(root)
    dirty: list[str] = []
    converted: list[str] = []
    for file in files:
        blob = blobs.get(file.name)
        if blob is None or not blob.known or blob.holds(file.before):
            continue
        if ours.get(os.path.relpath(file.target, home)) == journal.digest_of(file.before):
            continue
        (converted if blob.converter else dirty).append(file.name)
    if dirty:
        raise DirtyFiles(sorted(dirty))
    if converted:
        raise ConvertedFiles(sorted(converted), attributes=", ".join(sorted({blobs[name].converter for name in converted})))


def _make_replacements(root: Path, changes: Sequence[FileChange]) -> list[Replacement]:
    token = secrets.token_hex(4)
    found: dict[Path, Replacement] = {}
    outside, moved, locked, clashing = [], [], [], []
    for index, change in enumerate(sorted(changes, key=lambda change: change.name)):
        try:
            target = real_target(root, change.name)
            status, content = target.stat(), target.read_bytes()
        except OutsideRoot:
            outside.append(change.name)
            continue
        except OSError as why:
            raise WriteFailed([change.name], why=why.strerror or why) from why
        if content != change.before:
            moved.append(change.name)
        if not stat.S_IMODE(status.st_mode) & 0o222 or not os.access(target, os.W_OK):
            locked.append(change.name)
        # beside the target: only within one file system a rename is one step
        temporary = target.with_name(f".ddp-codemod-{token}-{index}.tmp")
        file = Replacement(change.name, target, change.before, change.after, status, temporary)
        if found.setdefault(target, file).after != change.after:
            clashing.append(change.name)
    for error, names in ((OutsideRoot, outside), (ChangedMeanwhile, moved), (ReadOnlyFiles, locked), (Conflicting, clashing)):
        if names:
            raise error(names)
    return list(found.values())


def _make_record(file: Replacement, home: str) -> journal.Kept:
    return journal.Kept(
        name=file.name,
        target=os.path.relpath(file.target, home),
        mode=stat.S_IMODE(file.status.st_mode),
        before=journal.digest_of(file.before),
        after=journal.digest_of(file.after),
        temporary=file.temporary.name,
    )
