"""Lines that tell of an error no signature knows: which of them is held for the cause."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from ddp_codemod.health import Occurrence
from ddp_codemod.machine.traceback_context import HEAD, Stack

EXCEPTION, CRASH, HANDED_ON, MENTIONED, CUT = range(5)  # the lower, the likelier a cause; CUT: a traceback without its end
MOST = 50  # remembered of each kind
SHORT = 5  # lines of a text that is a title or a remark: there a mere mention counts
# What the bytes are looked through for, by kind; the lines are then read without the marks before them.
SIGNS = {
    EXCEPTION: (re.escape(HEAD), r"(?:Error|Exception|Interrupt|Exit)(?:[:(]|$)"),
    CRASH: (
        r"terminate called (?:after throwing|recursively|without)",
        r"Segmentation fault",
        r"core dumped",
        r"Fatal Python error",
        r"\.py: error: ",
        r"(?:srun|slurmstepd|mpirun|collect2|nvcc|ld): (?:fatal )?error: ",
        r"Memory access fault by ",
        r"CUDA error: ",
        r"Exception raised from ",
        r"fatal error: ",
        r"oom-kill",
        r"FATAL",
        r"finished with exit code -[1-9]",
    ),
    HANDED_ON: (r"\(?exitcode\s*:? ?-?[1-9]", r"exit code [1-9]", r"exit status [1-9]", r"terminated with signal SIG"),
}
_LAST = re.compile(r"(?:\w{1,60}\.){0,8}\w{0,60}(?:Error|Exception|Interrupt|Exit)(?:\(\w{1,60}\))?(?::\s|$)")
_OTHER = re.compile(r"(?:[a-zA-Z_]\w{0,60}\.){1,8}[A-Z]\w{0,60}(?::\s|$)")  # exceptions of other names, right after a traceback
_WARNING = re.compile(r"(?:\w{1,60}\.){0,8}\w{0,60}Warning\b")
# Those that only tell of what happened in another process.
_HANDED_ON = re.compile(
    r"(?:\w{1,60}\.){0,8}(?:ChildFailedError|Process\w{1,20}Exception|SignalException|SystemExit|KeyboardInterrupt)\b"
    r"|(?:subprocess\.)?CalledProcessError: Command '?\[?'?\S{0,200}(?:python|torchrun|deepspeed|accelerate)"
)


@dataclass
class UnknownErrors:
    """Candidates as a log is read; memory is bounded."""

    looks: int
    _seen: dict[int, list[tuple[int, Occurrence]]] = field(default_factory=dict)

    def line(self, kind: int, around: Stack, number: int) -> None:
        """Consider a line that holds a sign of the kind."""
        self.looks -= 1
        text = around.line.rstrip()
        if kind != EXCEPTION:
            self._add_candidate(kind, number, around, text)
        elif text.lstrip().startswith(HEAD) or HEAD in text:
            self._consider_traceback(around, number)
        elif _LAST.match(text):
            self._add_candidate(HANDED_ON if _HANDED_ON.match(text) else EXCEPTION, number, around, text)
        elif not text.startswith(" "):
            self._add_candidate(MENTIONED, number, around, text)

    def _consider_traceback(self, around: Stack, number: int) -> None:
        """The line below the frames, whatever the exception is called."""
        for at, (distance, raw) in enumerate(around.after):
            line = raw.rstrip()
            if line.startswith(" ") or not line or not any("File " in text for _, text in around.after[:at]):
                continue
            if (_LAST.match(line) or _OTHER.match(line)) and not _WARNING.match(line):
                before = (*around.before, *(text for _, text in around.after[:at]))
                kind = HANDED_ON if _HANDED_ON.match(line) else EXCEPTION
                self._add_candidate(kind, number + distance, Stack(around.rank, before, line, ()), line)
                return
        if any("File " in text for _, text in around.after):
            self._add_candidate(CUT, number, around, around.line.strip())

    def _add_candidate(self, kind: int, number: int, around: Stack, text: str) -> None:
        seen = self._seen.setdefault(kind, [])
        if len(seen) < MOST and all(line != number for line, _ in seen):
            ranks = (around.rank,) if around.rank is not None else ()
            seen.append((number, Occurrence(number, text.strip()[:300], around.frames, ranks)))

    def first(self, known: AbstractSet[int], lines: int) -> tuple[int, Occurrence] | None:
        """The kind and the line that is held for the cause, among those that no signature has taken."""
        for kind in sorted(self._seen):
            if kind == MENTIONED and lines > SHORT:
                continue
            free = [seen for number, seen in self._seen[kind] if known.isdisjoint(_lines_of_error(number, seen.text))]
            if free:
                return kind, min(free, key=lambda seen: seen.line)
        return None


def _lines_of_error(number: int, text: str) -> range:
    """Those of an error: one whose message is empty goes on below."""
    return range(number, number + (3 if text.endswith(":") else 1))
