"""Configuration files of any kind, picked by suffix."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib import import_module

from ddp_codemod.discover.kinds import CONFIGS
from ddp_codemod.kinds import Meaning
from ddp_codemod.model import Reason, Skipped, Source
from ddp_codemod.parse.document import Content, Document, Entry, Link
from ddp_codemod.parse.grammar import MAX_BYTES

__all__ = ["SUFFIXES", "Content", "Document", "Entry", "Link", "giving", "parse_config"]

SUFFIXES = tuple(CONFIGS)
MAX_LEVELS = 1_000  # of brackets; what nests deeper is no configuration, and takes time with the square of its depth
MOST_VALUES = 200_000  # of a file: each takes 1 kB and 10 us; what holds more is data
_BRACKET = re.compile(r"[\[{]|([\]}])")


def parse_config(source: Source) -> Document | Skipped:
    """Read a configuration file; text that is not valid in its kind gives no entries near the fault (``Document.errors``)."""
    if len(source.data) > MAX_BYTES:
        return Skipped(source.name, Reason.of("skipped-too-large", limit=MAX_BYTES // 1_000_000))
    if source.path.suffix.lower() not in (".ini", ".cfg") and is_too_deep(source.text):
        return Skipped(source.name, Reason.of("skipped-too-deep", Meaning.GIVEN_UP, levels=MAX_LEVELS))
    if has_too_many_values(source.text, source.path.suffix.lower()):
        return Skipped(source.name, Reason.of("skipped-too-much", Meaning.GIVEN_UP, limit=MOST_VALUES))
    reader = import_module(f"ddp_codemod.parse.{CONFIGS[source.path.suffix.lower()]}")  # with the first file of its kind
    try:
        return Document(source, reader.read(source.text), reader.written, getattr(reader, "BINDS", False))
    except RecursionError as why:
        return Skipped(source.name, Reason.of("skipped-parser", Meaning.GIVEN_UP, why=type(why).__name__))


def giving(key: str, values: Iterable[bytes]) -> bytes:
    """The pattern of what is in a file of any of these kinds that gives a key a text with one of the values (patterns) in it.

    It tells which of many files are worth reading, so it takes too many rather than too few. It is compiled with the first file that
    holds the key: that takes a millisecond.
    """
    name = re.escape(key.encode())
    # not the end of another key; asked for behind the name, because what begins with a plain text is found fast
    whole = rb"%b(?<![\w-]%b)" % (name, name)
    skipped = rb"(?:(?:#[^\n]*\n|[&!]\S+\s|[|>][-+\d]*\s)\s*)*"  # comments, anchors and tags, the start of a block
    text = rb"[\"']{0,3}[^\n\"']*?"  # no further than the text goes: a file of data may be one line
    return rb"%b[\"']?\s*[:=]\s*%b%b(?:%b)" % (whole, skipped, text, b"|".join(values))


def has_too_many_values(text: str, suffix: str) -> bool:
    """Whether a text may hold so many values that it takes gigabytes to keep them; commas and line ends part them."""
    if suffix == ".toml":
        from ddp_codemod.toml import is_too_much

        if is_too_much(text):
            return True
    return text.count(",") + text.count("\n") > MOST_VALUES


def is_too_deep(text: str) -> bool:
    """Whether brackets may nest deeper than ``MAX_LEVELS``: those in strings and comments count too."""
    if text.count("[") + text.count("{") <= MAX_LEVELS:
        return False
    level = 0
    for bracket in _BRACKET.finditer(text):
        level = max(0, level - 1) if bracket[1] else level + 1
        if level > MAX_LEVELS:
            return True
    return False
