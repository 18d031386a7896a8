"""What a run reads of a project: the digest of every file, so that its answer can be kept for as long as they are the same."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b

from ddp_codemod.discover.unsaved import find_unsaved_text

MAX_BYTES = 20_000_000  # larger files are not read whole
_SIZE = 16  # bytes of a digest
NOT_READ = b""  # stands for the digest of what could not be read: no file, no permission, a pipe

_recording: list[FileDigests] = []


class FileDigests:
    """The digests of the files that were read while it was recording, by their paths."""

    def __init__(self) -> None:
        self.digests: dict[str, bytes] = {}
        self.steady = True  # no file changed between two looks at it
        self.size = 0  # bytes

    def note(self, path: str, digest: bytes, size: int = 0) -> None:
        """Told of one file; the same file may come again."""
        self.size += size
        if self.digests.setdefault(path, digest) != digest:
            self.steady = False


@contextmanager
def recording() -> Iterator[FileDigests]:
    """While this lasts, each file that is read is noted; one recording may run inside another. For one run at a time in a process."""
    _recording.append(reads := FileDigests())
    try:
        yield reads
    finally:
        _recording.remove(reads)


def note(path: str | os.PathLike[str], data: bytes | None) -> None:
    """Tell the recordings of a file's bytes; None where they could not be read."""
    if _recording:
        at = os.fspath(path)
        digest = digest_of(read_current_bytes(at) if data is None or len(data) >= MAX_BYTES else data)
        for reads in _recording:
            reads.note(at, digest, len(data or b""))


def note_again(digests: Mapping[str, bytes]) -> None:
    """Tell the recordings of files that another run has read, and that are as they were then."""
    for reads in _recording:
        for path, digest in digests.items():
            reads.note(path, digest)


def read_current_bytes(path: str) -> bytes | None:
    """What a file holds now, of one that is too large the start and a byte more; None where it cannot be read."""
    if (held := find_unsaved_text(path)) is not None:
        return held
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(handle, "rb") as file:
            return file.read(MAX_BYTES + 1) if stat.S_ISREG(os.fstat(handle).st_mode) else None
    except OSError:
        return None


def digest_of(data: bytes | None) -> bytes:
    """The digest of a file's bytes; NOT_READ where there are none."""
    return NOT_READ if data is None else blake2b(data, digest_size=_SIZE).digest()
