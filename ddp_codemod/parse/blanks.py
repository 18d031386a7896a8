"""Text of the same length in which what is not meant is blank, so that offsets stay the same."""

from __future__ import annotations

import re

_SHOWN = re.compile(r"[^\r\n]+")


def blank_out(text: str) -> str:
    """Blanks in place of all characters but line ends."""
    return _SHOWN.sub(lambda found: " " * len(found[0]), text)
