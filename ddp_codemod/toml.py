"""The TOML reader of the standard library, or the package that it was before it came there, for files that nobody vouches for.

It is imported when a file is read.
"""

from __future__ import annotations

import sys
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["TooMuch", "is_too_much", "loads", "tomllib"]

MOST = 1_000_000  # characters of one text
# The reader keeps every beginning of a dotted key: 20,000 dots in one key took 2.3 GB, and 300 headers of 900 dots 1 GB.
WORK = 3_000_000


class TooMuch(ValueError):
    """A text that would take the reader minutes or gigabytes."""


def loads(text: str) -> dict[str, Any]:
    """What a TOML text holds. Raises TooMuch, RecursionError, and ValueError for what is no TOML or a number that is too long."""
    if len(text) > MOST or is_too_much(text):
        raise TooMuch(f"larger than {MOST // 1000} kB, or its keys have too many parts")
    return tomllib.loads(text)


def is_too_much(text: str) -> bool:
    """Whether the keys of a text have so many parts that what is kept of them grows beyond measure; dots anywhere in a line count."""
    work = header = 0
    for line in text.split("\n"):  # no key goes on behind it; splitlines() would cut a key at what may be between its quotes
        dots = line.count(".")
        if line.lstrip()[:1] == "[":
            header = max(header, dots)  # a header's parts are those of every key below it
        work += (dots + 1) * (header + dots + 1)
    return work > WORK
