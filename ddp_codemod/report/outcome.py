"""What became of a survey, and how much of it is left to do."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from ddp_codemod.model import Action, Applicability, Decision, Edit, Place, Skipped
from ddp_codemod.report.device_kinds import format_device_count, is_device_rule
from ddp_codemod.report.edit_sites import leading_edits, sites_of_edit
from ddp_codemod.report.view import View


class Outcome(Struct, frozen=True):
    """What became of a survey: ``failed`` are files whose edits could not be rendered."""

    done: str  # "written", "shown" (as a patch), "found" (listed) or "scanned" (every site was printed)
    made: tuple[Edit, ...] = ()  # the edits in the patch, or those that apply would make
    left: tuple[Edit, ...] = ()  # the others
    failed: tuple[Skipped, ...] = ()
    again: Callable[..., str] = lambda command, *more: command  # what to type next; "" where there is nothing
    cost: str = ""  # what the platform's backend costs, where edits give it to a group


class Left(Struct, frozen=True):
    """How much of each kind remains. Places are counted, so that the numbers are those of the places that were looked at."""

    device: int  # to be changed with --unsafe, where the device is another one
    unsafe: int  # ... where it is not
    review: tuple[Place, ...]
    unaccounted: tuple[Place, ...]
    manual: int
    notes: int
    skipped: int


def count_remaining(view: View, outcome: Outcome) -> Left:
    """What an outcome leaves to be done."""
    survey = view.survey
    unsafe = [edit for edit in outcome.left if edit.applicability is Applicability.UNSAFE]
    waiting = [one for one in survey.decisions if one.action is Action.EDIT and one.applicability is Applicability.UNSAFE]
    rules = [one.rule for one in waiting if unsafe]
    known = set(rules)
    rules += [edit.rule for edit in leading_edits(unsafe, survey) if edit.rule not in known and not sites_of_edit(edit, survey)]
    device = sum(map(is_device_rule, rules))
    by_hand = [edit for edit in outcome.left if edit.applicability is Applicability.MANUAL]
    return Left(
        device,
        len(rules) - device,
        tuple(one.place for one in view.for_a_person()),
        tuple(one.place for one in survey.unaccounted),
        len(leading_edits(by_hand, survey)),
        sum(note.open for note in survey.advisories),
        sum(skipped.candidate for skipped in (*survey.skipped, *outcome.failed)),
    )


def count_actions(sites: Sequence[Decision], outcome: Outcome) -> dict[str, int]:
    """How many of these sites are fixed, to fix, without change and to review, each under the message that says it."""
    kinds = dict.fromkeys(Applicability, 0)
    for site in sites:
        kinds[site.applicability] += site.action is Action.EDIT
    left = kinds[Applicability.UNSAFE] if any(edit.applicability is Applicability.UNSAFE for edit in outcome.left) else 0
    return {
        "count-changed" if outcome.done == "written" else "count-to-change": (
            sum(kinds.values()) - kinds[Applicability.MANUAL] - left
        ),
        "count-unsafe": left,
        "count-manual": kinds[Applicability.MANUAL],
        "count-kept": sum(site.action is Action.KEEP for site in sites),
        "count-review": sum(site.action is Action.REVIEW for site in sites),
    }


def format_remaining(view: View, left: Left) -> str:
    """What remains, so that nobody takes the job for finished: "" where nothing does."""
    counts = {
        "left-count-unsafe": left.unsafe,
        "left-count-review": len(left.review),
        "left-count-unaccounted": len(left.unaccounted),
        "left-count-manual": left.manual,
        "left-count-notes": left.notes,
        "left-count-skipped": left.skipped,
    }
    said = [format_device_count(view, "left-count-device", left.device)] if left.device else []
    return view.say("list-comma").join([*said, *(view.say(key, n=n) for key, n in counts.items() if n)])
