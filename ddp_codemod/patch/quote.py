"""How git writes a file name in a patch."""

from __future__ import annotations

import os

_ESCAPES = {7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r", 34: '\\"', 92: "\\\\"}


def raw_name(name: str) -> bytes:
    """The bytes of a name as git knows it: UTF-8, and on POSIX whatever bytes the file system gave."""
    return name.encode("utf-8", "surrogateescape") if os.name == "nt" else os.fsencode(name)


def quote_name(name: bytes) -> bytes:
    """The name as it is, or in C quotes where it holds quotes, backslashes, control or non-ASCII bytes."""
    if all(0x20 <= code < 0x7F and code not in _ESCAPES for code in name):
        return name
    parts = (_ESCAPES.get(code) or (chr(code) if 0x20 <= code < 0x7F else f"\\{code:03o}") for code in name)
    return f'"{"".join(parts)}"'.encode("ascii")
