"""Keeps the bytes from before each apply, so that ``undo`` works with or without git and after a crash.

The journal lies in the user's state folder, keyed by the root: a project stays free of files that nobody asked for, and no
repository is needed. One folder an apply: ``record.json`` and the old bytes, ``0``, ``1`` ... While an apply is under way its
record is ``pending.json``.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import MsgspecError, Struct, convert, to_builtins
from msgspec.structs import asdict

from ddp_codemod.model import Reason
from ddp_codemod.write import atomic
from ddp_codemod.write.errors import JournalUnavailable
from ddp_codemod.write.journal_folders import journal_folder

KEPT = 20  # applies that can be undone, for each root
_WHY = "why.json"
_COMMIT = "commit"
_DONE, _PENDING, _UNDONE, _ASIDE = "record.json", "pending.json", "undone.json", "aside.json"


class Kept(Struct, frozen=True):
    """One file of an apply. ``target`` is where its bytes lie once links are followed, from the real root."""

    name: str
    target: str
    mode: int
    before: str  # SHA-256 of the bytes
    after: str
    temporary: str  # beside the target: the new bytes, and once they took its place the old file

    @property
    def returning(self) -> str:
        """The same for the way back."""
        return self.temporary.removesuffix(".tmp") + ".back.tmp"


class Why(Struct, frozen=True):
    """Why a line was changed: ``lines`` are those by which it is found again, each with its number after the apply."""

    name: str
    rule: str
    platform: str
    reason: Reason
    before: str
    after: str
    lines: tuple[tuple[int, str], ...] = ()
    portable: bool = False  # what was there before still runs where it ran


class Entry(Struct, frozen=True):
    """One apply: where its record is, which files it wrote, and whether it came to its end."""

    folder: Path
    files: tuple[Kept, ...]
    pending: bool

    def written(self, index: int) -> bytes:
        """The bytes that the apply wrote; OSError when they are not kept."""
        return (self.folder / f"{index}.new").read_bytes()

    def old(self, index: int) -> bytes:
        """The bytes of a file from before the apply; OSError when they are lost."""
        return (self.folder / str(index)).read_bytes()


def digest_of(data: bytes) -> str:
    """The hash by which the journal knows content."""
    return hashlib.sha256(data).hexdigest()


def read_entries(root: Path) -> list[Entry]:
    """The applies on record, oldest first; records that cannot be read are omitted."""
    try:
        folders = sorted(path for path in journal_folder(root).iterdir() if path.name.isdigit())
    except OSError:
        return []
    found = []
    for folder in folders:
        for name in (_DONE, _PENDING):
            if (files := _read_record(folder / name)) is not None:
                found.append(Entry(folder, files, name == _PENDING))
                break
    return found


def _read_record(path: Path) -> tuple[Kept, ...] | None:
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        return tuple(Kept(**kept) for kept in json.loads(path.read_text("ascii"))["files"])
    return None


def find_standing_entries(root: Path) -> list[Entry]:
    """The applies on record, oldest first, without the last ones whose files all hold again what they held before.

    Git has put these back, or another branch is checked out.
    """
    found = read_entries(root)
    while found and not found[-1].pending and all(_digest_file(root / kept.name) == kept.before for kept in found[-1].files):
        found.pop()
    return found


def find_last_written(root: Path) -> dict[str, str]:
    """For each file (``Kept.target``) the hash of what the last apply that touched it wrote."""
    return {kept.target: kept.after for entry in read_entries(root) for kept in entry.files}


def find_ported_changes(root: Path, newest_first: bool = False) -> Iterator[Why]:
    """The changes on record, where the file does not hold again what it held before; the oldest apply first.

    Files and reasons that cannot be read are omitted.
    """
    entries = read_entries(root)
    for entry in reversed(entries) if newest_first else entries:
        changed = {kept.name for kept in entry.files if _digest_file(root / kept.name) not in (None, kept.before)}
        # by json, whose escapes hold names that are no UTF-8 too
        with contextlib.suppress(OSError, ValueError, RecursionError, MsgspecError):
            result = convert(json.loads((entry.folder / _WHY).read_bytes()), type=list[Why])
            yield from (why for why in result if why.name in changed)


def _digest_file(path: Path) -> str | None:
    try:
        return digest_of(path.read_bytes())
    except OSError:
        return None


def begin_entry(
    root: Path, files: Sequence[Kept], contents: Sequence[bytes], new: Sequence[bytes] = (), why: Sequence[Why] = ()
) -> Entry:
    """Put an apply on record, with the bytes of every file, before the first of them changes. Raises JournalUnavailable."""
    journal = journal_folder(root)
    try:
        journal.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = _make_next_folder(journal)
        try:
            for index, content in enumerate(contents):
                _write_file(folder / str(index), content)
            with contextlib.suppress(OSError):  # undo goes without them where nobody edited since
                for index, content in enumerate(new):
                    _write_file(folder / f"{index}.new", content)
                if why:
                    _write_file(folder / _WHY, json.dumps(to_builtins(why)).encode("ascii"))
            record = {"version": 1, "root": os.path.realpath(root), "files": [asdict(kept) for kept in files]}
            _write_file(folder / "new", json.dumps(record).encode("ascii"))
            (folder / "new").replace(folder / _PENDING)
            atomic.sync_folder(folder)
            atomic.sync_folder(journal)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
    except OSError as why:
        raise JournalUnavailable(folder=journal, why=why.strerror or why) from why
    return Entry(folder, tuple(files), True)


def note_commit(folder: Path, commit: str) -> None:
    """Put on record that an apply is a commit; undo goes without it where that cannot be written."""
    with contextlib.suppress(OSError):
        _write_file(folder / _COMMIT, commit.encode("ascii"))


def find_commit(entry: Entry) -> str:
    """The commit that an apply is; "" where it is none."""
    with contextlib.suppress(OSError, ValueError):
        return (entry.folder / _COMMIT).read_bytes().decode("ascii")
    return ""


def finish_entry(entry: Entry) -> Entry:
    """Say that the apply came to its end, and forget applies that are long past."""
    (entry.folder / _PENDING).replace(entry.folder / _DONE)
    atomic.sync_folder(entry.folder)
    past = sorted(path for path in entry.folder.parent.iterdir() if path.name.isdigit())
    for folder in past[:-KEPT]:
        shutil.rmtree(folder, ignore_errors=True)
    return Entry(entry.folder, entry.files, False)


def reopen_entry(entry: Entry) -> Entry:
    """Say that the apply is under way again: it is about to be taken back."""
    if not entry.pending:
        (entry.folder / _DONE).replace(entry.folder / _PENDING)
        atomic.sync_folder(entry.folder)
    return Entry(entry.folder, entry.files, True)


def close_entry(entry: Entry) -> None:
    """Say that the apply is taken back: it is on record no more."""
    (entry.folder / _PENDING).replace(entry.folder / _UNDONE)
    atomic.sync_folder(entry.folder)


def set_aside(entry: Entry) -> None:
    """Take an apply off the record and keep its bytes, until as many others have come."""
    (entry.folder / _PENDING).replace(entry.folder / _ASIDE)
    atomic.sync_folder(entry.folder)


def find_unfinished(root: Path) -> list[Entry]:
    """Applies that were taken back and not yet cleared away; what ended before it was on record is cleared away here."""
    found: list[Entry] = []
    with contextlib.suppress(OSError):
        for folder in sorted(path for path in journal_folder(root).iterdir() if path.name.isdigit()):
            names = {path.name for path in folder.iterdir()}
            if _UNDONE in names:
                found.append(Entry(folder, _read_record(folder / _UNDONE) or (), False))
            elif not names & {_DONE, _PENDING, _ASIDE}:
                shutil.rmtree(folder, ignore_errors=True)
    return found


def forget_entry(entry: Entry) -> None:
    """Take an apply off the record: the record goes first, so that a crash leaves no half of it."""
    for name in (_DONE, _PENDING, _UNDONE):
        (entry.folder / name).unlink(missing_ok=True)
    shutil.rmtree(entry.folder, ignore_errors=True)


def _make_next_folder(journal: Path) -> Path:
    numbers = [int(path.name) for path in journal.iterdir() if path.name.isdigit()]
    number = max(numbers, default=0) + 1
    while True:
        folder = journal / f"{number:08d}"
        try:
            folder.mkdir(mode=0o700)
        except FileExistsError:
            number += 1
        else:
            return folder


def _write_file(path: Path, data: bytes) -> None:
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
