"""Which rank wrote a line of a log: the marks that launchers and libraries put before or into it."""

from __future__ import annotations

import re

_MARKS = [
    re.compile(mark)
    for mark in (
        r"\s{0,4}\[?(?:rank|default|RANK)(\d{1,6})\]?:",  # torch since 2.2, torchrun --log-prefix
        r"\s{0,4}\[1,(\d{1,6})\]<std(?:err|out)>:",  # mpirun --tag-output
        r"\s{0,4}(\d{1,6}): (?=\S)",  # srun --label
        r"\S{1,80}:\d{1,9}:\d{1,9} \[(\d{1,3})\] (?=[A-Z\S])",  # host:pid:thread [device], as NCCL writes
        r".{0,80}\[[Rr]ank (\d{1,6})\]",
        r"-- Process (\d{1,6}) terminated with the following error",  # mp.spawn
        r".{0,40}\brank\s?[:=]\s?(\d{1,6})\b",
    )
]


def rank_of(line: str) -> str | None:
    """The rank that a line names as its writer."""
    for mark in _MARKS:
        if found := mark.match(line):
            return found.group(1)
    return None


def unmarked(line: str) -> str:
    """The line without the mark that a launcher has put before it."""
    for mark in _MARKS[:3]:
        if found := mark.match(line):
            return line[found.end() :].removeprefix(" ")
    return line
