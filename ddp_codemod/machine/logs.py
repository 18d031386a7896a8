"""Reads a log of any size chunk by chunk: bytes in, decoded lines out, always with a stretch of what is around them."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

CHUNK = 1 << 20  # bytes read at a time
BEFORE, AFTER = 16 << 10, 8 << 10  # bytes kept of what is before and after a chunk
LONGEST = 64 << 10  # a line longer than this is read in parts
OVERLAP = 4 << 10  # which share this much
_ESCAPE = re.compile(rb"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b]{0,400}(?:\x07|\x1b\\)|[@-Z\\^_])")
_WIDE = ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))  # what PowerShell's > writes


@dataclass(frozen=True)
class Block:
    """Some lines of a log: ``data[start:end]``; the rest is what is around them."""

    data: bytes
    start: int
    end: int
    line: int  # number of the first of them, counted from 1


def read_blocks(stream: BinaryIO) -> Iterator[Block]:
    """The log in blocks of whole lines, without color codes."""
    before, current, line = b"", b"", 1
    for chunk in _read_chunks(stream):
        if current:
            yield Block(before + current + chunk[:AFTER], len(before), len(before) + len(current), line)
            line += current.count(b"\n")
            before = (before + current)[-BEFORE:]
        current = chunk
    if current:
        yield Block(before + current, len(before), len(before) + len(current), line)


def _read_chunks(stream: BinaryIO) -> Iterator[bytes]:
    """Chunks that end with a line; a line without end is cut, and its parts overlap."""
    rest = b""
    for raw in _read_utf8(stream):
        data = rest + raw
        cut = data.rfind(b"\n") + 1
        if cut == 0:
            if len(data) < LONGEST:
                rest = data
                continue
            cut, rest = len(data), data[-OVERLAP:]
        elif len(data) - cut > LONGEST:
            cut, rest = len(data), data[-OVERLAP:]
        else:
            rest = data[cut:]
        yield _strip_colors(data[:cut])
    if rest:
        yield _strip_colors(rest)


def _strip_colors(data: bytes) -> bytes:
    return _ESCAPE.sub(b"", data) if b"\x1b" in data else data


def _read_utf8(stream: BinaryIO) -> Iterator[bytes]:
    """What the stream gives; UTF-16 becomes UTF-8, other encodings keep their bytes, for signatures are ASCII."""
    read = getattr(stream, "read1", stream.read)
    decoder: codecs.IncrementalDecoder | None = None
    first = True
    while raw := read(CHUNK):
        if first:
            name = next((name for mark, name in _WIDE if raw.startswith(mark)), None)
            decoder = codecs.getincrementaldecoder(name)("replace") if name else None
            first = False
        yield decoder.decode(raw).encode("utf-8", "replace") if decoder else raw


def decode_text(data: bytes) -> str:
    """Text for the reader: UTF-8, else the code page of Chinese Windows, else with escapes."""
    for name in ("utf-8", "gb18030"):
        try:
            return data.decode(name)
        except UnicodeDecodeError:
            continue
    return data.decode("utf-8", "backslashreplace")
