"""What is left to do, in the order in which one does it: each step with the command, or the place, that it needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from ddp_codemod.model import Action, Devices, Place, Survey
from ddp_codemod.report.device_kinds import is_device_rule
from ddp_codemod.report.headline import find_vendor_command
from ddp_codemod.report.outcome import Left, Outcome
from ddp_codemod.report.sections import title_of_section
from ddp_codemod.report.view import View, name_first

FEW_PLACES = 3  # to review are named in the first lines


class _Step(Struct, frozen=True):
    said: str
    commands: tuple[tuple[str, str], ...] = ()  # each with what is reported above it, "" for nothing


def list_next_steps(view: View, outcome: Outcome, left: Left, short: bool = False) -> list[str]:
    """The steps that remain, numbered where there are several; [] where nothing remains. ``short``: the places are listed above."""
    todo = list(_find_steps(view, outcome, left, short))
    if not todo:
        return []
    lines = [view.say("steps-order" if len(todo) > 1 else "steps-one")]
    for number, step in enumerate(todo, 1):
        head = f"{number}. " if len(todo) > 1 else ""
        lines += view.folded(head + step.said, 0 if head else 2, 3 if head else 2)
        for said, command in step.commands:
            lines += view.folded(said, 3, 5) if said else []
            lines.append((" " * (5 if said else 3)) + view.ink(command, "bold"))
    return lines


def _find_steps(view: View, outcome: Outcome, left: Left, short: bool) -> Iterator[_Step]:
    yield from _find_command_steps(view, outcome, left, short)
    if short:
        yield from _find_listed_steps(view, outcome, "short-review", left.review)
        yield from _find_listed_steps(view, outcome, "short-names", left.uncovered)
    else:
        yield from _find_manual_steps(view, outcome, "steps-decide", "left-review", left.review)
        yield from _find_manual_steps(view, outcome, "steps-account", "left-uncovered", left.uncovered)
    survey = view.survey
    listed = {
        "manual": (left.manual, view.say("left-manual", n=left.manual)),
        "notes": (left.notes, title_of_section(view, "left-advisories", len(survey.advisories), left.notes)),
        "skipped": (left.skipped, view.say("left-skipped", n=len(survey.skipped) + len(outcome.failed))),
    }
    for kind, (n, heading) in listed.items():
        if n and not short:  # the heading above says it
            where = _name_notes(view) if kind == "notes" else ""
            yield _Step(view.say(f"steps-{kind}", n=n, heading=_strip_number(heading), where=where))


def _name_notes(view: View) -> str:
    """The notes to act on, which are listed among others: the first by place and rule."""
    acted = (note for note in view.survey.advisories if note.open)
    return name_first(view, (f"{view.at(note.name, note.line)} ({note.rule})" if note.line else note.rule for note in acted))


def _find_command_steps(view: View, outcome: Outcome, left: Left, short: bool) -> Iterator[_Step]:
    """The edits that apply makes with --unsafe, or the vendor's module instead."""
    survey, about = view.survey, view.survey.devices
    n = left.device + left.unsafe
    rest = outcome.again("apply", "--unsafe") if n else ""
    vendor = find_vendor_command(view, outcome)
    if left.device and rest and vendor and about is not None:
        stays = view.say("steps-stays") if outcome.made else ""
        if short:
            first, text = (
                view.say("short-vendor", n=about.entries, vendor=about.vendor),
                view.say("short-two-ways", old=about.old, new=about.new),
            )
        else:
            first = view.say("steps-vendor", n=about.entries, new=about.new)
            text = view.say("steps-two-ways", old=about.old, new=about.new, stays=stays)
        yield _Step(text, ((first, vendor), (view.say("steps-each", n=n, old=about.old), rest)))
        return
    if rest:
        kind = "device" if left.device else "unsafe"
        yield _Step(view.say(f"short-{kind}" if short else f"steps-{kind}", n=n), (("", rest),))
    if vendor and about is not None and _is_alternative(survey, about):
        yield _Step(view.say("steps-vendor-alone"), (("", vendor),))


def _is_alternative(survey: Survey, about: Devices) -> bool:
    """Whether the vendor's module does away with something that is open, and no edit of this run has taken the other way."""
    found = [one for one in survey.decisions if is_device_rule(one.rule)]
    edited = any(one.action is Action.EDIT for one in found)
    return not edited and any(one.action is Action.REVIEW and one.rule not in about.leaves for one in found)


def _find_listed_steps(view: View, outcome: Outcome, key: str, places: Sequence[Place]) -> Iterator[_Step]:
    """The places that are listed above, and the command that says what is open at the first of them."""
    where = list(dict.fromkeys(map(view.where, places)))
    if where:
        command = outcome.again("explain", where[0])
        yield _Step(view.say(key, n=len(places)), (("", command),) if command else ())


def _find_manual_steps(view: View, outcome: Outcome, key: str, heading: str, places: Sequence[Place]) -> Iterator[_Step]:
    """The places that need review: all of a few are named, and of many the list."""
    where = list(dict.fromkeys(map(view.where, places)))
    if not where:
        return
    if len(where) == 1:
        text = view.say(f"{key}-one")
    elif len(where) <= FEW_PLACES:
        text = view.say(key, where=view.say("list-comma").join(where), n=len(where))
    elif (
        outcome.done == "scanned" and heading == "left-review"
    ):  # every site was printed with what becomes of it, and none is listed
        text = view.say("steps-decide-scanned", n=len(places), heading=view.say("action-review"))
    else:
        text = view.say(f"{key}-many", n=len(places), heading=_strip_number(view.say(heading, n=len(places))))
    command = outcome.again("explain", where[0])
    yield _Step(text, (("", command),) if command else ())


def _strip_number(heading: str) -> str:
    """A heading as one names it: up to its number."""
    return heading.split(")")[0].split("）")[0] + (")" if ")" in heading else "）")
