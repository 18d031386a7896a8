"""The stack around an error in a log: its lines, of one rank alone, and the files that they name."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ddp_codemod.health import Frame
from ddp_codemod.machine.logs import AFTER, BEFORE, Block, decoded
from ddp_codemod.machine.ranks import rank_of, unmarked

HEAD = "Traceback (most recent call last)"
_FRAME = re.compile(r'\s{0,12}File "([^"\n]{1,400})", line (\d{1,9})')
_SPAWN = re.compile(r"-- Process (\d{1,6}) terminated with the following error")
_LIBRARY = re.compile(r"site-packages|dist-packages|[/\\]lib[/\\]python\d|[/\\]lib64[/\\]python\d|^<|[/\\]Lib[/\\]\w+\.py$")
CONTEXT = 40  # lines before an error that has no traceback
FRAMES = 12


@dataclass(frozen=True)
class Stack:
    """What stands before and after a line, and who wrote it."""

    rank: str | None
    before: tuple[str, ...]
    line: str
    after: tuple[str, ...]

    @property
    def text(self) -> str:
        """All of it."""
        return "\n".join((*self.before, self.line, *self.after))

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The files of the stack that belong to no library."""
        found = (_FRAME.match(line) for line in self.before)
        frames = [Frame(match.group(1), int(match.group(2))) for match in found if match]
        return tuple(frame for frame in frames if not _LIBRARY.search(frame.path))[-FRAMES:]


def stack(block: Block, start: int, end: int) -> Stack:
    """The stack around the line ``block.data[start:end]``."""
    line = decoded(block.data[start:end])
    rank = rank_of(line)
    head = _lines(block.data[max(0, start - BEFORE) : start])
    tail = _lines(block.data[end : end + AFTER])
    before, found = _own(head, rank)
    after: list[str] = []
    for text in (unmarked(text) for text in tail if _same(text, rank)):
        if text.startswith(HEAD) or len(after) >= CONTEXT:
            break
        after.append(text)
    return Stack(rank or found, tuple(before), unmarked(line), tuple(after))


def _own(lines: list[str], rank: str | None) -> tuple[list[str], str | None]:
    """The lines of the rank from its traceback's head on, and the rank that mp.spawn names above it."""
    own = [unmarked(line) for line in lines if _same(line, rank)]
    start = next((at for at in range(len(own) - 1, -1, -1) if HEAD in own[at]), max(0, len(own) - CONTEXT))
    named = next((match.group(1) for line in own[max(0, start - 2) : start] if (match := _SPAWN.search(line))), None)
    return own[start:], named


def _same(line: str, rank: str | None) -> bool:
    """Whether a line may be of the rank: it says so, or says nothing."""
    return rank is None or rank_of(line) in (None, rank)


def _lines(data: bytes) -> list[str]:
    return decoded(data).replace("\r", "\n").split("\n")
