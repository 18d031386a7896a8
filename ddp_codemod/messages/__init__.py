"""Sentences for the reader, in English and Simplified Chinese.

They are TOML, one flat table a file (``key = "text with {placeholders}"``): ``en.toml`` and ``zh.toml``,
and everything in ``en.d/`` and ``zh.d/``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from ddp_codemod.catalog.toml_cache import load_cached
from ddp_codemod.model import Reason

LANGUAGES = ("en", "zh")
# what ends a line for str.splitlines() or a terminal: a value that is told of stays on its line
_BREAKS = {ord(end): repr(end)[1:-1] for end in "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"}
# {name}, or {name|one|many}: a word that depends on a number
_PLACEHOLDER = re.compile(r"\{(\w+)(?:\|([^{}|]*)\|([^{}|]*))?\}")


@cache
def catalogue(lang: str) -> dict[str, str]:
    """Every sentence of one language, by key."""
    return load_cached(f"messages-{lang}", dict[str, str], (Path(__file__).parent,), lambda: _read(lang))


def _read(lang: str) -> dict[str, str]:
    from ddp_codemod.toml import tomllib

    folder = Path(__file__).parent
    entries: dict[str, str] = {}
    for path in (folder / f"{lang}.toml", *sorted((folder / f"{lang}.d").glob("*.toml"))):
        entries.update(tomllib.loads(path.read_text("utf-8")))
    return entries


def placeholders(template: str) -> set[str]:
    """The names in braces that a sentence has filled in."""
    return {found.group(1) for found in _PLACEHOLDER.finditer(template)}


def render(reason: Reason, lang: str = "en") -> str:
    """The sentence of a reason; an unknown key gives the key and its arguments.

    In Chinese an argument ``x_zh`` replaces ``x``, for texts that rule data holds in both languages.
    """
    args = dict(reason.args)
    template = catalogue(lang).get(reason.key) or catalogue("en").get(reason.key)
    if template is None:
        return " ".join([reason.key, *(f"{name}={one_line(value)}" for name, value in reason.args)])

    def fill(found: re.Match[str]) -> str:
        name, one, many = found.groups()
        if one is not None and name in args:
            return str(one if args[name] == "1" else many)
        return one_line(args.get(f"{name}_{lang}") or args.get(name, found.group(0)))

    return _PLACEHOLDER.sub(fill, template)


def one_line(value: str) -> str:
    """A value as every report shows it: its line breaks as escapes, so that nothing in it starts a line of its own."""
    return value if value.isprintable() else value.translate(_BREAKS)


def text(key: str, lang: str = "en", /, **args: object) -> str:
    """The sentence with this key; ``render`` for a key that is at hand."""
    return render(Reason.of(key, **args), lang)


def in_language(entry: object, attribute: str, lang: str) -> str:
    """An attribute of rule data, which holds it as ``attribute`` and ``attribute_zh``."""
    return str(getattr(entry, f"{attribute}_{lang}", "") or getattr(entry, attribute))


def language(option: str | None, environ: Mapping[str, str]) -> str:
    """The reader's language: the option, else the locale of the environment, else the one Windows shows its windows in."""
    if option in LANGUAGES:
        return option
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if value := environ.get(name):
            return "zh" if value.lower().startswith("zh") else "en"
    return "zh" if _windows_interface_language() == _CHINESE else "en"


_CHINESE = 0x04  # the primary language identifier LANG_CHINESE of Windows


def _windows_interface_language() -> int | None:
    if sys.platform != "win32":
        return None
    import ctypes

    return int(ctypes.windll.kernel32.GetUserDefaultUILanguage()) & 0x3FF
