"""The stack around an error in a log: its lines, of one rank alone, and the files that they name."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ddp_codemod.health import Frame
from ddp_codemod.machine.logs import AFTER, BEFORE, Block, decode_text
from ddp_codemod.machine.ranks import rank_of, split_written_rank

HEAD = "Traceback (most recent call last)"
_FRAME = re.compile(r'\s{0,12}File "([^"\n]{1,400})", line (\d{1,9})')
_SPAWN = re.compile(r"-- Process (\d{1,6}) terminated with the following error")
_LIBRARY = re.compile(r"site-packages|dist-packages|[/\\]lib[/\\]python\d|[/\\]lib64[/\\]python\d|^<|[/\\]Lib[/\\]\w+\.py$")
_ANNOUNCES = re.compile(r"\bRankID:\d")  # CANN's line above its code
CONTEXT = 40  # lines before an error that has no traceback
FRAMES = 12
MOST = 400  # lines looked at on either side


@dataclass(frozen=True)
class Stack:
    """What is before and after a line, and who wrote it."""

    rank: str | None
    before: tuple[str, ...]
    line: str
    after: tuple[tuple[int, str], ...]  # each with its distance from the line

    @property
    def text(self) -> str:
        """All of it."""
        return "\n".join((*self.before, self.line, *(text for _, text in self.after)))

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The files of the stack that belong to no library."""
        found = (_FRAME.match(line) for line in self.before)
        frames = [Frame(match.group(1), int(match.group(2))) for match in found if match]
        return tuple(frame for frame in frames if not _LIBRARY.search(frame.path))[-FRAMES:]


def find_stack(block: Block, start: int, end: int) -> Stack:
    """The stack around the line ``block.data[start:end]``."""
    line = decode_text(block.data[start:end])
    writer, text = split_written_rank(line)
    head = _split_lines(block.data[max(0, start - BEFORE) : start])[-MOST:]
    tail = _split_lines(block.data[end : end + AFTER])[1:MOST]  # what ends the line itself is no line
    before, found = _select_own_lines(head, writer)
    after: list[tuple[int, str]] = []
    for distance, raw in enumerate(tail, 1):
        other, own = split_written_rank(raw)
        if writer is not None and other not in (None, writer):
            continue
        if own.startswith(HEAD) or len(after) >= CONTEXT:
            break
        after.append((distance, own))
    announced = rank_of(before[-1]) if before and _ANNOUNCES.search(before[-1]) else None
    return Stack(rank_of(line) or found or announced, tuple(before), text, tuple(after))


def _select_own_lines(lines: list[str], writer: str | None) -> tuple[list[str], str | None]:
    """The lines of the rank (or of nobody) from its traceback's head on, and the rank that mp.spawn names above it."""
    own: list[str] = []  # from the last line up
    for line in reversed(lines):
        other, text = split_written_rank(line)
        if writer is not None and other not in (None, writer):
            continue
        own.append(text)
        if HEAD in text:
            break
    headed = bool(own) and HEAD in own[-1]
    above = lines[: len(lines) - len(own)][-2:] if headed and writer is None else []
    named = next((match.group(1) for line in above if (match := _SPAWN.search(line))), None)
    return list(reversed(own if headed else own[:CONTEXT])), named


def _split_lines(data: bytes) -> list[str]:
    return decode_text(data).replace("\r\n", "\n").replace("\r", "\n").split("\n")
