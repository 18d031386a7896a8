"""What a repository holds for a file, and how the file's bytes look in it."""

from __future__ import annotations

from enum import Enum
from functools import cache
from typing import Any

from msgspec import Struct


class LineEnds(Enum):
    """What git does to the line ends of a file on its way into the repository."""

    KEEP = "keep"
    TEXT = "text"  # CRLF becomes LF
    AUTO = "auto"  # the same where the bytes look like text and the repository holds no CRLF yet


class Blob(Struct, frozen=True):
    """What the index holds for a file: its bytes, its id in full and its mode ("100644", "100755").

    A file that the index does not know has no bytes and git's null id, whose length tells the repository's hash.
    """

    data: bytes
    oid: str
    mode: str
    name: str = ""  # from the top of the repository; empty: as in the change
    line_ends: LineEnds = LineEnds.KEEP
    abbreviation: int = 7  # digits that name the id without doubt
    converter: str = ""  # an attribute by which git rewrites the file in a way that is not followed here

    @property
    def known(self) -> bool:
        """Whether the index holds the file."""
        return bool(self.oid.strip("0"))

    def stored(self, content: bytes) -> bytes:
        """The bytes that git stores for a file with this content."""
        # where the repository holds CRLF already a conversion would change every line
        if self.line_ends is LineEnds.KEEP or b"\r\n" in self.data:
            return content
        if self.line_ends is LineEnds.AUTO and not looks_like_text(content):
            return content
        return content.replace(b"\r\n", b"\n")

    def holds(self, content: bytes) -> bool:
        """Whether a file with this content is what the index holds."""
        return self.known and self.stored(content) == self.data


def blob_id(data: bytes, digits: int = 40) -> str:
    """Git's id for a file with this content: SHA-1, or SHA-256 where ids have 64 digits."""
    start = b"blob %d\0" % len(data)
    if digits == 64:
        from hashlib import sha256

        return sha256(start + data, usedforsecurity=False).hexdigest()
    digest: str = _find_sha1()(start + data, usedforsecurity=False).hexdigest()
    return digest


@cache
def _find_sha1() -> Any:
    try:
        from _find_sha1 import sha1  # type: ignore[import-not-found, unused-ignore] # hashlib loads OpenSSL: 3 ms
    except ImportError:
        from hashlib import sha1
    return sha1


_TEXT_CONTROLS = b"\b\t\n\f\x1b"
_NOT_TEXT = bytes(code for code in [*range(32), 127] if code not in _TEXT_CONTROLS)


def looks_like_text(content: bytes) -> bool:
    """Git's own guess (convert.c): no NUL, no lone CR, at most one odd byte in 128."""
    lines = content.replace(b"\r\n", b"\n")
    if b"\0" in lines or b"\r" in lines:
        return False
    body = lines[:-1] if lines.endswith(b"\x1a") else lines
    odd = len(body) - len(body.translate(None, _NOT_TEXT))
    return (len(lines) - lines.count(b"\n") - odd) // 128 >= odd
