"""What became of a survey, and how much of it is left to do."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from ddp_codemod.model import Applicability, Edit, Place, Skipped
from ddp_codemod.report.device_kinds import format_device_count, is_device_rule
from ddp_codemod.report.fixes import lead_fixes
from ddp_codemod.report.view import View, name_first


class Outcome(Struct, frozen=True):
    """What became of a survey: ``failed`` are files whose edits could not be rendered."""

    done: str  # "written", "shown" (as a patch), "found" (listed) or "scanned" (every site was printed)
    made: tuple[Edit, ...] = ()  # the edits in the patch, or those that apply would make
    left: tuple[Edit, ...] = ()  # the others
    failed: tuple[Skipped, ...] = ()
    again: Callable[..., str] = lambda command, *more: command  # what to type next; "" where there is nothing
    base: str = ""  # what the lines were changed since that this run is about; "" for all lines
    whole: str = ""  # what looks at the whole project, where this run was about a part of it
    cost: str = ""  # what the platform's backend costs, where edits give it to a group


class Left(Struct, frozen=True):
    """How much of each kind remains: the numbers are those of the lists of each kind."""

    device: int  # unsafe fixes that change the device
    unsafe: int  # ... and others
    review: tuple[Place, ...]
    uncovered: tuple[Place, ...]
    manual: int
    notes: int  # to act on
    skipped: int


def count_remaining(view: View, outcome: Outcome) -> Left:
    """What an outcome leaves to be done."""
    survey = view.survey
    unsafe = lead_fixes(outcome.left, survey, Applicability.UNSAFE)
    device = sum(is_device_rule(edit.rule) for edit in unsafe)
    return Left(
        device,
        len(unsafe) - device,
        tuple(one.place for one in view.for_a_person()),
        tuple(one.place for one in survey.uncovered),
        len(lead_fixes(outcome.left, survey, Applicability.MANUAL)),
        sum(note.open for note in survey.advisories),
        sum(skipped.candidate for skipped in (*survey.skipped, *outcome.failed)),
    )


def format_remaining(view: View, left: Left) -> str:
    """What remains, so that nobody takes the job for finished: "" where nothing does."""
    counts = {
        "left-count-unsafe": left.device + left.unsafe if left.unsafe else 0,
        "left-count-review": len(left.review),
        "left-count-uncovered": len(left.uncovered),
        "left-count-manual": left.manual,
        "left-count-notes": left.notes,
        "left-count-skipped": left.skipped,
    }
    said = [format_device_count(view, "left-count-device", left.device)] if left.device and not left.unsafe else []
    acted = (note for note in view.survey.advisories if note.open)
    where = name_first(view, (view.at(note.name, note.line) if note.line else note.rule for note in acted))
    return view.say("list-comma").join([*said, *(view.say(key, n=n, where=where) for key, n in counts.items() if n)])
