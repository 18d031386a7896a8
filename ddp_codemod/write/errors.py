"""Why nothing was written: each error carries a sentence for the reader and the files that it speaks of."""

from __future__ import annotations

from collections.abc import Sequence

from ddp_codemod.model import Reason


class WriteError(Exception):
    """Nothing was written, or all of it was restored. ``names`` are relative to the root."""

    key = "write-failed"

    def __init__(self, names: Sequence[str] = (), **args: object) -> None:
        self.reason = Reason.of(self.key, count=len(names), **args)
        self.names = tuple(names)
        super().__init__(self.key, *self.names)


class DirtyFiles(WriteError):
    """The files differ from the index, and not by what the last apply wrote."""

    key = "write-dirty"


class ConvertedFiles(DirtyFiles):
    """Git rewrites the files by a filter or an encoding: whether they are dirty cannot be told without running it."""

    key = "write-converted"


class ChangedMeanwhile(WriteError):
    """The files are no longer what the plan was made for."""

    key = "write-changed-meanwhile"


class Conflicting(WriteError):
    """Several names lead to one file and ask for different content."""

    key = "write-conflicting"


class OutsideRoot(WriteError):
    """The names are links out of the root, or no plain files."""

    key = "write-outside-root"


class ReadOnlyFiles(WriteError):
    """The files are marked read-only."""

    key = "write-read-only"


class WriteFailed(WriteError):
    """The system refused; what had been written is restored. ``why`` is its text."""

    key = "write-failed"


class PutBackFailed(WriteError):
    """The system refused in the middle and refused to restore them too: the named files hold the new text, ``journal`` the old."""

    key = "write-put-back-failed"


class Interrupted(WriteError):
    """The last apply was cut off: undo takes it back."""

    key = "write-interrupted"


class Locked(WriteError):
    """Another instance writes into the same project. ``pid`` and ``since`` name it."""

    key = "write-locked"


class RepositoryUnreadable(WriteError):
    """Git refuses to read the repository, so that dirty files cannot be told. ``why`` is its text."""

    key = "write-repository-unreadable"


class JournalUnavailable(WriteError):
    """The folder for the old bytes cannot be made. ``folder``, ``why``."""

    key = "write-journal-unavailable"


class NothingToUndo(WriteError):
    """No apply is on record for the root."""

    key = "undo-nothing"


class AlreadyUndone(NothingToUndo):
    """Applies are on record, but all files hold what they held before: git has seen to that, or another branch is checked out."""

    key = "undo-already"


class UndoElsewhere(NothingToUndo):
    """The same, but one is for each of the folders below it that are named."""

    key = "undo-elsewhere"


class StandsInCommit(WriteError):
    """The last apply is a ``commit`` of the branch that is checked out: git takes that back."""

    key = "undo-committed"


class ChangedSince(WriteError):
    """The files were changed after the apply; ``journal`` keeps the bytes from before it."""

    key = "undo-changed-since"
