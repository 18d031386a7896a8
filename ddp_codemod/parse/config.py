"""Configuration files of any kind, picked by suffix."""

from __future__ import annotations

from ddp_codemod.model import Reason, Skipped, Source
from ddp_codemod.parse import ini, json, toml, yaml
from ddp_codemod.parse.document import Content, Document, Entry, Link
from ddp_codemod.parse.grammar import MAX_BYTES

__all__ = ["SUFFIXES", "Content", "Document", "Entry", "Link", "parse_config"]

_READERS = {".yaml": yaml, ".yml": yaml, ".toml": toml, ".json": json, ".ini": ini, ".cfg": ini}
SUFFIXES = tuple(_READERS)


def parse_config(source: Source) -> Document | Skipped:
    """Read a configuration file; text that is not valid in its kind gives no entries near the fault (``Document.errors``)."""
    if len(source.data) > MAX_BYTES:
        return Skipped(source.name, Reason.of("skipped-too-large", limit=MAX_BYTES // 1_000_000))
    reader = _READERS[source.path.suffix.lower()]
    try:
        return Document(source, reader.read(source.text), reader.written)
    except RecursionError as why:
        return Skipped(source.name, Reason.of("skipped-parser", why=type(why).__name__))
