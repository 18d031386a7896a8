"""Finds the known errors in a log: one expression of fixed texts looks through the bytes, and only where it strikes are lines read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import BinaryIO

from ddp_codemod.catalog.pattern import find_anchors
from ddp_codemod.catalog.signature import Harmless, Hint, Signature
from ddp_codemod.health import Occurrence
from ddp_codemod.machine.literal_search import LiteralSearch
from ddp_codemod.machine.logs import Block, decode_text, read_blocks
from ddp_codemod.machine.ranks import rank_of, strip_marks
from ddp_codemod.machine.traceback_context import Stack, find_stack
from ddp_codemod.machine.unknown_errors import SIGNS, UnknownErrors

WIDTH = 2000  # characters looked at on either side of a strike
SHOWN = 300  # characters of a line that are shown
RANKS = 64  # ranks remembered for one error
LOOKS = 200  # stacks read for one error: the same one can fill a log
SOURCE = "raise "  # a traceback's line of source that holds the message is not the message
QUIET = 10  # lines that may follow the last sign of life of a hang
NEVER = "\\0never\\0"  # a pattern of nothing
TAKEN = 100_000  # lines remembered that a signature has taken


@dataclass
class ErrorRecord:
    """The first time of an error, and the count of the others."""

    first: Occurrence
    last_line: int
    ranks: list[str] = field(default_factory=list)
    count: int = 0

    def again(self, line: int, rank: str | None) -> None:
        """Count one more."""
        self.count += 1
        self.last_line = line
        if rank is not None and rank not in self.ranks and len(self.ranks) < RANKS:
            self.ranks.append(rank)

    @property
    def whole(self) -> Occurrence:
        """The first occurrence, with all ranks and the count."""
        first = self.first
        return Occurrence(first.line, first.text, first.frames, tuple(self.ranks), self.count)


@dataclass
class ScanResult:
    """What a log shows: signatures by id, errors that none knows, the hints."""

    known: dict[str, ErrorRecord] = field(default_factory=dict)
    suspects: UnknownErrors = field(default_factory=lambda: UnknownErrors(LOOKS))
    taken: set[int] = field(default_factory=set)  # lines that a signature knows
    hints: set[str] = field(default_factory=set)
    lines: int = 0
    size: int = 0


@dataclass(eq=False)
class _Entry:
    """A signature, a hint, or the kind of an unknown error, and where it was seen last."""

    what: Signature | Hint | int
    pattern: re.Pattern[bytes]
    texts: tuple[str, ...]
    last: tuple[int, int] = (0, 0)


class Scanner:
    """Looks for signatures and hints. Its memory does not grow with the log."""

    def __init__(self, signatures: Iterable[Signature], hints: Iterable[Hint], harmless: Iterable[Harmless] = ()) -> None:
        self.found = ScanResult()
        self._harmless = [(_compile_any(entry.patterns), _compile_any(entry.apart or (NEVER,))) for entry in harmless]
        self._signatures = list(signatures)
        entries: list[Signature | Hint] = [*self._signatures, *hints]
        self._entries = [_Entry(entry, _compile_any(entry.patterns), _find_anchors(entry.patterns)) for entry in entries]
        self._entries += [_Entry(kind, _compile_any(signs), _find_anchors(signs)) for kind, signs in SIGNS.items()]
        self._prepare_search()

    def scan(self, stream: BinaryIO, progress: Callable[[int], None] | None = None) -> ScanResult:
        """Read the whole log."""
        for block in read_blocks(stream):
            self._scan_block(block)
            ends = block.data.count(b"\n", block.start, block.end)
            self.found.lines = block.line - 1 + ends + (block.data[block.end - 1 : block.end] != b"\n")
            self.found.size += block.end - block.start
            if progress is not None:
                progress(self.found.size)
        for signature in self._signatures:
            seen = self.found.known.get(signature.id)
            if signature.silence and seen and self.found.lines - seen.last_line > QUIET:
                del self.found.known[signature.id]
        return self.found

    def _prepare_search(self) -> None:
        """Prepare to look for everything that is still of interest."""
        self._fixed = LiteralSearch([(text, entry) for entry in self._entries for text in entry.texts])

    def _scan_block(self, block: Block) -> None:
        data, at, number, counted = block.data, block.start, block.line, block.start
        start = stop = -1
        while (found := self._fixed.search(data, at, block.end)) is not None:
            if found.start() >= stop:
                begin = max(block.start, found.start() - WIDTH)
                start = max(data.rfind(mark, begin, found.start()) + 1 for mark in (b"\n", b"\r")) or begin
                stop = _find_line_end(data, found.end())
            for entry in self._fixed.meant(found):
                if entry.last == (block.line, start):
                    continue
                entry.last = block.line, start
                if entry.pattern.search(data, start, stop):
                    number += data.count(b"\n", counted, start)
                    counted = start
                    self._scan_line(entry.what, block, (start, stop), number)
            at = found.start() + 1  # another text may begin inside this one

    def _scan_line(self, what: Signature | Hint | int, block: Block, span: tuple[int, int], number: int) -> None:
        if isinstance(what, Signature):
            if not what.silence and self._is_healthy_line(block.data[slice(*span)]):
                return
            self._record_error(what, block, span, number)
        elif isinstance(what, int):
            self.found.suspects.line(what, find_stack(block, *span), number)
            if self.found.suspects.looks <= 0:
                self._stop_searching(lambda entry: isinstance(entry.what, int))
        else:
            self.found.hints.add(what.id)
            self._stop_searching(lambda entry: entry.what is what)

    def _is_healthy_line(self, line: bytes) -> bool:
        """Whether a healthy run prints this line, too; only a run that then is still makes something of it."""
        return any(said.search(line) and not other.search(line) for said, other in self._harmless)

    def _stop_searching(self, which: Callable[[_Entry], bool]) -> None:
        """Look no longer for what has said all that it can."""
        self._entries = [entry for entry in self._entries if not which(entry)]
        self._prepare_search()

    def _record_error(self, signature: Signature, block: Block, span: tuple[int, int], number: int) -> None:
        seen = self.found.known.get(signature.id)
        if seen is not None and (seen.count >= LOOKS or not (signature.near or signature.apart)):
            line = decode_text(block.data[slice(*span)])
            if not strip_marks(line).lstrip().startswith(SOURCE):
                seen.again(number, rank_of(line))
                self._note_taken(number)
            return
        around = find_stack(block, *span)
        if around.line.lstrip().startswith(SOURCE) or not _is_near_match(signature, around):
            return
        if seen is None:
            seen = ErrorRecord(Occurrence(number, around.line.strip()[:SHOWN], around.frames), number)
            self.found.known[signature.id] = seen
        seen.again(number, around.rank)
        self._note_taken(number)

    def _note_taken(self, number: int) -> None:
        if len(self.found.taken) < TAKEN:
            self.found.taken.add(number)


def _is_near_match(signature: Signature, around: Stack) -> bool:
    """Whether the stack holds what a signature wants near, and nothing that it wants apart."""
    if not (signature.near or signature.apart):
        return True
    text = around.text
    near = not signature.near or any(re.search(pattern, text) for pattern in signature.near)
    return near and not any(re.search(pattern, text) for pattern in signature.apart)


def _find_line_end(data: bytes, at: int) -> int:
    ends = (data.find(mark, at, at + WIDTH) for mark in (b"\n", b"\r"))
    return min((end for end in ends if end >= 0), default=min(len(data), at + WIDTH))


@lru_cache(maxsize=1024)
def _compile_any(patterns: tuple[str, ...]) -> re.Pattern[bytes]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns).encode("ascii"))


def _find_anchors(patterns: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for pattern in patterns for text in find_anchors(pattern)))
