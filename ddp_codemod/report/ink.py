"""Colour for terminals."""

from __future__ import annotations

from dataclasses import dataclass

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


@dataclass(frozen=True)
class Ink:
    """Colours text, or leaves it alone where ``on`` is false."""

    on: bool

    def __call__(self, text: str, *styles: str) -> str:
        """The text in these styles."""
        if not self.on or not text:
            return text
        return "".join(f"\x1b[{_CODES[style]}m" for style in styles) + text + "\x1b[0m"

    def diff(self, text: str) -> str:
        """A patch in git's colours."""
        return "\n".join(self._diff_line(line) for line in text.split("\n")) if self.on else text

    def _diff_line(self, line: str) -> str:
        if line.startswith(("diff ", "index ", "--- ", "+++ ", "old mode", "new mode")):
            return self(line, "bold")
        style = {"@": "cyan", "+": "green", "-": "red"}.get(line[:1])
        return self(line, style) if style else line
