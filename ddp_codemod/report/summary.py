"""What every report on a project says first: what was done, what is left, what to type; and then why it was left."""

from __future__ import annotations

from collections.abc import Sequence

from ddp_codemod.model import Action
from ddp_codemod.report import text
from ddp_codemod.report.headline import besides, coverage, headline
from ddp_codemod.report.kinds import devices
from ddp_codemod.report.outcome import Left, Outcome, left_of
from ddp_codemod.report.sections import kept, sections
from ddp_codemod.report.steps import steps
from ddp_codemod.report.table import cells, padded
from ddp_codemod.report.touching import leading, touching
from ddp_codemod.report.view import View

_ROOM = 26  # cells that what a command is for may take beside it
SHORT_LIST = 12  # sites that stay are listed without -v when nothing else happens and they are few


def summary(view: View, outcome: Outcome) -> list[str]:
    """What ``scan`` says about a project below its sites."""
    return [*opening(view, outcome), *details(view, outcome)]


def opening(view: View, outcome: Outcome) -> list[str]:
    """The first things: what was done, whether that is all, and what to type next."""
    left = left_of(view, outcome)
    block = [*headline(view, outcome, left), *coverage(view, outcome), *_next(view, outcome, left)]
    beside = [*devices(view, outcome.again("check", "--verbose")), *besides(view)]
    return [*block, "", *beside] if beside else block


def details(view: View, outcome: Outcome) -> list[str]:
    """What was left, each kind under its heading."""
    keep = [decision for decision in view.survey.decisions if decision.action is Action.KEEP]
    few = not outcome.made and not outcome.left and len(keep) <= SHORT_LIST
    scanned = outcome.done == "scanned"
    block: list[str] = []
    for section in sections(view, outcome)[scanned:]:  # where every site was printed, the places for a person were too
        block += text.whole(view, section)
    if keep and not scanned and (view.verbose or few):
        block += text.whole(view, kept(view, keep))
    return block


def told(view: View, commands: Sequence[tuple[str, str]], most: int = _ROOM) -> list[str]:
    """What each command is for, and the command, under each other; below that where it would be cut: it is copied as it stands.

    ``most`` cells what it is for may take beside it.
    """
    room = max((cells(head) for head, _ in commands if cells(head) < most), default=0) + 1
    lines = list[str]()
    for head, command in commands:
        shown = view.ink(command, "bold")
        fits = cells(head) < room and not 0 < view.width <= room + cells(command)
        lines += [padded(head, room) + shown] if fits else [*view.folded(head, 0, 2), f"  {shown}"]
    return lines


def _next(view: View, outcome: Outcome, left: Left) -> list[str]:
    """What to type: back or on, then the steps that are left, then where to read more."""
    first, further, todo = back_or_on(view, outcome), more(view, outcome, left), steps(view, outcome, left)
    parts = [told(view, first), todo, told(view, further)] if todo else [told(view, [*first, *further])]
    return [line for part in parts if part for line in ("", *part)]


def more(view: View, outcome: Outcome, left: Left) -> list[tuple[str, str]]:
    """Where to read more: each command with what it is for."""
    found = list[tuple[str, str]]()
    places = _changed(view, outcome)
    if not places and not left.review and view.survey.decisions:
        places = [view.where(view.survey.decisions[0].place)]
    if places:
        found.append((view.say("next-explain"), outcome.again("explain", places[0])))
    kept = any(site.action is Action.KEEP for site in view.survey.decisions)
    if kept and not view.verbose and outcome.done != "scanned":
        found.append((view.say("next-scan"), outcome.again("scan")))
    if not view.survey.decisions:
        found.append((view.say("next-rules"), outcome.again("rules")))
    return [one for one in found if one[1]]


def back_or_on(view: View, outcome: Outcome) -> list[tuple[str, str]]:
    """The command that takes the changes back, or the one that makes them."""
    if not outcome.made:
        return []
    written = outcome.done == "written"
    command = outcome.again("undo" if written else "apply")
    return [(view.say("next-undo" if written else "next-apply"), command)] if command else []


def _changed(view: View, outcome: Outcome) -> list[str]:
    """Lines that change, or would with --unsafe, the most telling first: one that a site is on."""
    survey = view.survey
    found = [view.at(edit.name, view.edit_line(edit)) for edit in leading(outcome.made, survey) if touching(edit, survey)]
    found = found or [view.at(edit.name, view.edit_line(edit)) for edit in outcome.made]
    return found or [view.where(one.place) for one in survey.decisions if one.action is Action.EDIT]
