"""What diagnose, doctor and verify find, on its way to a report."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ddp_codemod.catalog.signature import Cure, Signature
from ddp_codemod.kinds import GroupMatch
from ddp_codemod.model import Decision, Reason


class Frame(Struct, frozen=True):
    """A line of a traceback: the file as the log names it, perhaps on another machine."""

    path: str
    line: int


class Occurrence(Struct, frozen=True):
    """Where a log shows an error first, and how often in all."""

    line: int  # counted from 1
    text: str
    frames: tuple[Frame, ...] = ()  # of the stack around it, outermost first
    ranks: tuple[str, ...] = ()  # all that show it, the first to do so first
    count: int = 1


class Diagnosis(Struct, frozen=True):
    """An error in a log. Without a signature it is none of distributed training that a rule knows."""

    signature: Signature | None
    first: Occurrence
    cures: tuple[Cure, ...] = ()
    outside: Signature | None = None  # what the unknown error is, where it is known and not of distributed training
    handed_on: bool = False  # the line only tells that another process ended


class Reading(Struct, frozen=True):
    """All that a log says, what counts most first."""

    diagnoses: tuple[Diagnosis, ...]
    hints: tuple[str, ...]
    lines: int
    size: int  # bytes


class Check(Struct, frozen=True):
    """One look at a machine: ``ok``, ``warning`` or ``problem``, why it matters, what to do."""

    id: str
    state: str
    said: Reason
    why: Reason | None = None
    todo: Reason | None = None


class Checkup(Struct, frozen=True):
    """All looks at a machine, and the platform that it counts as (None: nothing says it)."""

    checks: tuple[Check, ...]
    platform: str | None
    because: Reason
    facts: dict[str, Any]
    can_train: bool  # the environment has a torch that can be imported
    bare: bool = False  # this torch was built without torch.distributed, and the platform does not say so
    asked: str | None = None  # the platform that the user names: the checks whose id starts with "platform-" are about it


class Trial(Struct, frozen=True):
    """A process group to form for real: what the call would get."""

    backend: str
    init_method: str | None
    environment: tuple[tuple[str, str], ...] = ()  # that the code sets before the call
    plugin: str | None = None  # the module that supplies the backend


class TrialResult(Struct, frozen=True):
    """How a trial went: ``passed``, ``failed``, ``hung``, ``skipped``, or passed ``elsewhere`` than the code says.

    ``error`` is then the meeting point that was not tried.
    """

    launch: str
    ranks: int
    state: str
    steps: tuple[tuple[str, float], ...] = ()  # seconds of the slowest rank for each step that was done
    error: str = ""
    output: str = ""  # what the processes said, its end
    diagnosis: Diagnosis | None = None
    advice: Reason | None = None  # what to do, where no error text is to tell it


class VerifiedSite(Struct, frozen=True):
    """A site and what became of its trials; without a trial, why there is none."""

    path: str
    line: int
    surface: str
    trial: Trial | None
    tried: tuple[TrialResult, ...] = ()
    left: Reason | None = None


TARGET = "torch.distributed.distributed_c10d"  # the module whose functions are recorded
FIRST = "init_process_group"  # the one that makes the group of all ranks


class RecordedGroup(Struct, frozen=True):
    """A process group that a run made, as its call passed it: once for all ranks that did the same."""

    call: str  # init_process_group or new_group
    backend: str | None
    stack: tuple[Frame, ...]  # the project's own frames, innermost first, with paths from its root
    through: tuple[str, ...]  # packages between them and the call, innermost first; <string> for code in a text
    typed: bool  # the command line or the environment of a rank holds the value
    ranks: tuple[str, ...] = ()
    span: tuple[int, ...] | None = None  # of the innermost frame's call, as ast counts: line, end line, columns in bytes
    passed: tuple[int, tuple[str, ...]] = (0, ())  # how many arguments by position, and the names of the others
    taken: tuple[tuple[str, int | None], ...] = ()  # the library's parameters that hold the value, each with its position
    text_line: int = 0  # of the call, where it is code in a text

    @property
    def caller(self) -> str | None:
        """The package that makes the call; None where the project itself does."""
        return self.through[0] if self.through else None


class GroupComparison(Struct, frozen=True):
    """A group that a run made, held against what was read: the site that it belongs to, and the values found for it."""

    made: RecordedGroup
    seen: GroupMatch
    site: Decision | None = None
    predicted: tuple[str, ...] = ()
    fails: bool = False  # the value does not work on the platform
    bug: bool = False  # reading was sure, and wrong
    machine: str = ""  # the platform of this machine, where another was read for
    settings: tuple[Decision, ...] = ()  # the keys that a library may have the value from; ``site`` is the first


class StepAgreement(Struct, frozen=True):
    """What an optimizer step of all ranks shows: they train one model, or each its own (``apart``)."""

    number: int  # of the step
    ranks: int
    apart: bool
    stack: tuple[Frame, ...]  # the project's own frames around the step, innermost first
    sums: tuple[float, ...]  # of some gradients, by rank


class Overlay(Struct, frozen=True):
    """A run laid over the survey of its project."""

    platform: str
    held: tuple[GroupComparison, ...]
    not_reached: tuple[Decision, ...]
    public: frozenset[str] = frozenset()  # words of the rule data: what a report may name
