"""Color for terminals."""

from __future__ import annotations

import os

from msgspec import Struct

from ddp_codemod.report.escaping import escape_controls

# begins our own colors until they are printed: what code and names hold cannot look like them
_MARK = f"\x1b{os.urandom(8).hex()}"
_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


class Ink(Struct, frozen=True):
    """Colors text, or leaves it alone where ``on`` is false."""

    on: bool

    def __call__(self, text: str, *styles: str) -> str:
        """The text in these styles."""
        if not self.on or not text:
            return text
        return "".join(f"{_MARK}[{_CODES[style]}m" for style in styles) + text + f"{_MARK}[0m"

    def diff(self, text: str) -> str:
        """A patch in git's colors."""
        return "\n".join(self._color_diff_line(line) for line in text.split("\n")) if self.on else text

    def _color_diff_line(self, line: str) -> str:
        if line.startswith(("diff ", "index ", "--- ", "+++ ", "old mode", "new mode")):
            return self(line, "bold")
        style = {"@": "cyan", "+": "green", "-": "red"}.get(line[:1])
        return self(line, style) if style else line


def strip_colors(text: str) -> str:
    """The text without our own colors."""
    first, *coloured = text.split(_MARK)
    return first + "".join(part.partition("m")[2] for part in coloured)


def escape_for_terminal(text: str) -> str:
    """What may go to a terminal: our own colors as they are, every other control character as an escape."""
    first, *coloured = text.split(_MARK)
    parts = [escape_controls(first)]
    for part in coloured:
        code, _, rest = part.partition("m")
        parts.append(f"\x1b{code}m{escape_controls(rest)}")
    return "".join(parts)
