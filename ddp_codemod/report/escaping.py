"""Text of strangers as a terminal may show it: nothing in it moves the cursor, changes colors or the order of letters, or hides."""

from __future__ import annotations

import re

# what the log of a pipeline is searched for: ``::error ::`` at the start of a line, blanks before it or not, ``##[error]`` anywhere
_COMMAND = re.compile(r"(?m)^([ \t]*):(?=:)|#(?=#\w*\[)")
_JOINERS = "\u200c\u200d"  # Persian, Indic scripts and emoji are written with them


def escape_controls(text: str) -> str:
    """The text with control, format and separator characters written as escapes; line feeds and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escape_character(character) for character in text)


def _escape_character(character: str) -> str:
    if character.isprintable() or character in "\n\t" or character in _JOINERS:
        return character
    import unicodedata  # rarely

    if unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return character
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is no text
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def escape_log_commands(text: str) -> str:
    """The text with nothing in it that the log of a pipeline takes for a command (of GitHub, Azure, TeamCity)."""
    return _COMMAND.sub(lambda found: f"{found[1]}\\x3a" if found[1] is not None else "\\x23", text)
