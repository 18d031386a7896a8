"""A traceback that was pasted from a window which makes line ends spaces: in lines again."""

from __future__ import annotations

import io
import re
from typing import BinaryIO

from msgspec.structs import replace

from ddp_codemod.health import Reading
from ddp_codemod.machine.logs import LONGEST

_BREAK = re.compile(
    rb"[ \t]+(?=Traceback \(most recent call last\)|File \"[^\"\n]{1,400}\", line \d|raise [A-Za-z_]|\[rank\d{1,5}\]: "
    rb"|(?:[A-Za-z_]\w{0,60}\.){0,8}[A-Z]\w{0,60}(?:Error|Exception): )"
)
_SECOND = re.compile(rb"\S[ \t]*[\r\n]\s*\S")


class _JoinedStream(io.RawIOBase):
    """Bytes that were read already, and the rest of their stream."""

    def __init__(self, head: bytes, stream: BinaryIO) -> None:
        self._head, self._stream = head, stream

    def read(self, size: int = -1) -> bytes:
        """Some bytes."""
        head, self._head = self._head, b""
        return head or getattr(self._stream, "read1", self._stream.read)(size)


def unfold_traceback(stream: BinaryIO) -> tuple[BinaryIO, bool]:
    """The stream, and whether it was one line that is several now."""
    read, head = getattr(stream, "read1", stream.read), b""
    while not _SECOND.search(head) and len(head) < LONGEST and (chunk := read(LONGEST)):  # a pipe may stay open behind its lines
        head += chunk
    if _SECOND.search(head) or len(head) >= LONGEST or not _BREAK.search(head):
        return _JoinedStream(head, stream), False  # type: ignore[return-value]
    return io.BytesIO(_BREAK.sub(b"\n", head)), True


def renumber_reading(reading: Reading) -> Reading:
    """A reading of such a log, with the number that its only line has."""
    diagnoses = (replace(one, first=replace(one.first, line=min(one.first.line, 1))) for one in reading.diagnoses)
    return replace(reading, diagnoses=tuple(diagnoses), lines=1)
