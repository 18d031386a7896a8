"""Code without what its author called things: names and texts become numbers, and what is nobody's own stays."""

from __future__ import annotations

import builtins
import keyword
import re
import sys
from collections.abc import Set

_TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*)
    |(?P<text>[rbfuRBFU]{0,2}(?:\"{3}(?:\\.|[^\\])*?\"{3}|'{3}(?:\\.|[^\\])*?'{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))
    |(?P<name>[^\W\d]\w*)
    |(?P<number>\d[\w.]*)
    |(?P<space>\s+)
    |(?P<other>[^\w\s]+?)""",
    re.VERBOSE | re.DOTALL,
)
_PARTS = re.compile(r"[:,]")
_LANGUAGE = frozenset((*keyword.kwlist, *keyword.softkwlist, *dir(builtins), *sys.stdlib_module_names, *dir(str), *dir(dict)))
# what programs take their settings with: the standard library's own names
_SETTINGS = frozenset(
    [
        "environ",
        "getenv",
        "argv",
        "add_argument",
        "parse_args",
        "ArgumentParser",
        "default",
        "choices",
        "type",
        "action",
        "dest",
        "dataclass",
        "field",
        "partial",
    ]
)
LONGEST = 400


class Masked:
    """Masks the words of one report: the same word has the same number in all of it. ``public`` are words of the rule data."""

    def __init__(self, public: Set[str]) -> None:
        self._public = public
        self._known = public | _LANGUAGE | _SETTINGS
        self._names: dict[str, int] = {}
        self._texts: dict[str, int] = {}

    def value(self, text: str) -> str:
        """A text that a program passes: a backend's name, or its number."""
        if text and all(part.lower() in self._public for part in _PARTS.split(text)):
            return text
        return f"<text {self._texts.setdefault(text, len(self._texts) + 1)}>"

    def name(self, word: str) -> str:
        """A name that programs use: one that is not its author's, or its number."""
        return word if word in self._known else f"n{self._names.setdefault(word, len(self._names) + 1)}"

    def code(self, text: str) -> str:
        """A stretch of a file, on one line."""
        result = "".join(map(self._mask_token, _TOKEN.finditer(text))).strip()
        return result if len(result) <= LONGEST else result[:LONGEST] + "..."

    def _mask_token(self, found: re.Match[str]) -> str:
        kind, text = found.lastgroup, found.group()
        if kind == "text":
            inner = text.lstrip("rbfuRBFU")
            quotes = 3 if inner[:3] in ('"""', "'''") else 1
            value = self.value(inner[quotes:-quotes])
            return value if value.startswith("<") else f'"{value}"'
        if kind == "name":
            return self.name(text)
        return {"comment": "", "number": "0", "space": " "}.get(kind or "", text)
