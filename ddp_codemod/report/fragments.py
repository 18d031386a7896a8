"""What a page needs to make patches by itself: for each file its blocks, in every combination of the edits in them.

The page joins fragments and counts lines; it never has to find out what a change does.
"""

from __future__ import annotations

import base64
import io
import itertools
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from ddp_codemod.edits.blocks import Block, split_lines
from ddp_codemod.model import Edit, Source
from ddp_codemod.patch.blob import Blob, blob_id
from ddp_codemod.patch.gitdiff import CONTEXT, find_heading
from ddp_codemod.patch.myers import find_changed_lines
from ddp_codemod.patch.quote import quote_name, raw_name
from ddp_codemod.patch.slide import settle_runs

MANY = 4  # different edits of one block: beyond it their units are taken together, since each combination is spelled out


class _Lines(Struct, frozen=True):
    """A file's lines as its repository holds them."""

    source: Source
    convert: bool  # CRLF becomes LF in the repository
    start: bytes  # the byte order mark
    plain: bool  # UTF-8 without one: text and bytes are the same

    def encoded(self, text: str, offset: int) -> list[bytes]:
        data = text.encode(self.source.file.encoding.removesuffix("-sig"))
        if self.convert:
            data = data.replace(b"\r\n", b"\n")
        return _split_lines(self.start + data if offset == 0 else data)

    def entry(self, line: bytes) -> Any:
        """A line for the page: its text, and its bytes where they are not the text's."""
        body = line.removesuffix(b"\n")
        text = body.decode(self.source.file.encoding.removesuffix("-sig"), "replace").removeprefix("\ufeff")
        return text if self.plain else [text, base64.b64encode(body).decode("ascii")]


def file_fragments(source: Source, found: Sequence[Block], after: bytes, blob: Blob) -> dict[str, Any]:
    """One file. ``after`` is it with everything made."""
    stored = blob.stored(source.data)
    encoding = source.file.encoding
    start = b"\xef\xbb\xbf" if encoding.endswith("-sig") else b""
    lines = _Lines(source, stored != source.data, start, not start and _is_utf8(stored))
    old = _split_lines(stored)
    kept: dict[int, Any] = {}
    states = _find_open_strings(source)
    headings: dict[int, str] = {}
    result = []
    for block in found:
        first, count = block.line - 1, block.lines
        rows = [*range(max(first - CONTEXT, 0), first), *range(first + count, min(first + count + CONTEXT, len(old)))]
        kept.update((row + 1, lines.entry(old[row])) for row in rows)
        for row in range(max(first - CONTEXT, 0), first + count + 1):
            if (said := find_heading(old, row)) and row not in headings:
                headings[row] = base64.b64encode(said).decode("ascii")
        variants = {str(mask): _make_variant(lines, block, chosen) for mask, chosen in _combine_edits(block)}
        state = states.get(max(first - CONTEXT, 0) + 1, "")
        result.append({"at": first + 1, "n": count, "all": 2 ** len(block.edits) - 1, "variants": variants, "state": state})
    return {
        "name": raw_name(source.name).decode("utf-8", "replace"),
        **_make_header(source, blob, stored, blob.stored(after)),
        "total": len(old),
        "open": bool(stored) and not stored.endswith(b"\n"),
        "raw": not lines.plain,
        "lines": kept,
        "headings": headings,
        "blocks": result,
    }


def _make_header(source: Source, blob: Blob, before: bytes, after: bytes) -> dict[str, str]:
    name = raw_name(blob.name or source.name)
    old, new = quote_name(b"a/" + name), quote_name(b"b/" + name)
    tab = b"\t" if b" " in name else b""
    digits = blob.abbreviation
    ids = f"{blob_id(before, len(blob.oid))[:digits]}..{blob_id(after, len(blob.oid))[:digits]}"
    marks = b"--- " + old + tab + b"\n+++ " + new + tab + b"\n"
    head = b"diff --git " + old + b" " + new + b"\n"
    index = f"index {ids} {blob.mode}\n"
    return {"head": head.decode("ascii"), "index": index, "marks": marks.decode("ascii")}  # quoted names are ASCII


def _combine_edits(block: Block) -> Iterator[tuple[int, list[Edit]]]:
    """Every combination of a block's edits but none; only all of them where they are many."""
    everything = list(block.edits)
    if len(everything) > MANY:
        yield 2 ** len(everything) - 1, everything
        return
    for mask in range(1, 2 ** len(everything)):
        yield mask, list(itertools.compress(everything, (mask >> bit & 1 for bit in range(len(everything)))))


def _make_variant(lines: _Lines, block: Block, chosen: Sequence[Edit]) -> list[list[Any]]:
    """[sign, line] for each line of a block, "-" and "+" for what goes and comes; a third field marks a "+" without line end."""
    old, new = lines.encoded(block.old, block.start), lines.encoded(block.new(chosen), block.start)
    gone, put = find_changed_lines(old, new)
    settle_runs(old, gone, new, put)
    settle_runs(new, put, old, gone)
    result: list[list[Any]] = []
    at = new_at = 0
    while at < len(old) or new_at < len(new):
        if at < len(old) and gone[at]:
            result.append(["-", lines.entry(old[at])])
            at += 1
        elif new_at < len(new) and put[new_at]:
            ended = new[new_at].endswith(b"\n")
            result.append(["+", lines.entry(new[new_at]), *([] if ended else [1])])
            new_at += 1
        else:
            result.append([" ", lines.entry(old[at])])
            at, new_at = at + 1, new_at + 1
    return result


def _find_open_strings(source: Source) -> Mapping[int, str]:
    """The quotes of the string that each line starts in, if it starts in one; for color only."""
    found: dict[int, str] = {}
    if source.file is not source:
        return found
    opened: list[tuple[int, str]] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
            quote = token.string.lstrip("rbfuRBFUtT")[:3]
            kind = tokenize.tok_name[token.type]
            if kind.endswith("STRING_START"):
                opened.append((token.start[0], quote))
            elif kind.endswith("STRING_END") and opened:
                first, quote = opened.pop()
                found.update(dict.fromkeys(range(first + 1, token.end[0] + 1), quote))
            elif kind == "STRING":
                found.update(dict.fromkeys(range(token.start[0] + 1, token.end[0] + 1), quote))
    except (SyntaxError, ValueError, tokenize.TokenError):
        return {}
    return found


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _split_lines(data: bytes) -> list[bytes]:
    return [line.encode("latin-1") for line in split_lines(data.decode("latin-1"))]
