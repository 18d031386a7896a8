"""Which rank wrote a line of a log: the marks that launchers, schedulers and libraries put before or into it."""

from __future__ import annotations

import re

MARKS = 8  # that may be before one line
INSIDE = 300  # characters of a line that are looked through for its rank
# One mark each. What follows keeps its indentation, so a mark takes one blank at most.
_MARK = re.compile(
    r"""\s{0,4}(?:
    \[?(?:rank|RANK)\ ?(?P<rank>\d{1,6})\]?:\s?                      # torch since 2.2
    |\[1,(?P<task>\d{1,6})\]<\s?std\w{3}\s?>:\s?                     # mpirun --tag-output
    |(?P<label>\d{1,6}):(?:\s|$)                                     # srun --label
    |\[?default(?P<local>\d{1,6})\]?:\s?                             # torchrun's prefix: the rank on its machine
    |\((?:[^()\n]{0,60}\brank=(?P<worker>\d{1,6})\s)?[^()\n]{0,100}\bpid=\d{1,9}[^()\n]{0,100}\)\s?   # Ray, vLLM
    |\[?\d{4}[-/]\d\d[-/]\d\d[T\ ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?\s(?:std(?:out|err)\ [FP]\s)?
    |\[(?:DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL|FATAL)\]\s?
    |(?:INFO|WARNING|ERROR)\ \d\d-\d\d\ \d\d:\d\d:\d\d\s              # vLLM
    |\[?[\w./-]{1,80}\.py:\d{1,6}\]\s?
    |[EWIF]\d{4}\ [\d:.\ ]{8,40}[\w./\\-]{0,160}:\d{1,6}\]\s?         # torchrun's own
    |\d{1,4}\]\s                                                     # the rest of a time in brackets
    |\[pod/[^\]\n]{1,160}\]\s?
    |[\w.-]{1,60}[-_]\d{1,4}\s{0,12}\|\s?                            # docker compose
    |(?:[a-z][a-z0-9.-]{0,40}\d|\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}):\s   # pdsh
    |E\s{2,7}(?=\S)                                                  # pytest
    |>\s                                                             # a quotation
    |\[\d{1,2}(?:;\d{1,3}){0,4}m\s?                                  # a colour whose escape character is lost
    )""",
    re.VERBOSE,
)
_SURE = ("rank", "task", "worker", "label")
_WRITER = re.compile(r".{0,120}?\[[^\]\n]{0,80}\b[Rr]ank (\d{1,6})\]")
_NAMED = [
    re.compile(mark)
    for mark in (
        r"-- Process (\d{1,6}) terminated with the following error",  # mp.spawn
        r"\bprocess (\d{1,6}) terminated with ",
        r"\bRankID:(\d{1,6})",  # CANN
        r"\[(\d{1,6})\] is setting up NCCL communicator",
        r"\b(?:local_)?[Rr]ank\s?[:= ]\s?(\d{1,6})\b",
    )
]


def split_rank(line: str) -> tuple[str | None, str]:
    """The rank that the marks before a line name, the surest of them, and the line without them."""
    ranks: dict[str, str] = {}
    for _ in range(MARKS):
        found = _MARK.match(line)
        if found is None:
            break
        if found.lastgroup is not None:  # one alternative alone names a rank
            ranks[found.lastgroup] = found.group(found.lastgroup)
        line = line[found.end() :]
    if not ranks:
        return None, line
    local = None if _WRITER.match(line) else ranks.get("local")
    return next((ranks[name] for name in _SURE if name in ranks), local), line


def split_written_rank(line: str) -> tuple[str | None, str]:
    """The rank that surely wrote the line, by its marks or by torch's own words in brackets, and the line without marks."""
    rank, rest = split_rank(line)
    if rank is None and "ank " in rest and (found := _WRITER.match(rest)):
        rank = found.group(1)
    return rank, rest


def rank_of(line: str) -> str | None:
    """The rank that a line tells of: its writer, else the first that it names."""
    writer, text = split_written_rank(line)
    if writer is not None:
        return writer
    return next((found.group(1) for mark in _NAMED if (found := mark.search(text[:INSIDE]))), None)


def strip_marks(line: str) -> str:
    """The line without the marks that are before it."""
    return split_rank(line)[1]
