"""What every report on a project says first: what was done, what is left, what to type; and then why it was left."""

from __future__ import annotations

from collections.abc import Sequence

from ddp_codemod.model import Action
from ddp_codemod.report import text
from ddp_codemod.report.device_uses import format_device_uses
from ddp_codemod.report.edit_sites import leading_edits, sites_of_edit
from ddp_codemod.report.headline import format_headline, is_nothing_in_part, lacks_device, report_coverage, report_exclusions
from ddp_codemod.report.next_steps import list_next_steps
from ddp_codemod.report.outcome import Left, Outcome, count_remaining
from ddp_codemod.report.sections import kept_section, list_sections
from ddp_codemod.report.table import count_cells, pad_cell
from ddp_codemod.report.view import View

_ROOM = 26  # cells that what a command is for may take beside it
WIDE = 100  # cells of a line where nothing says how wide the screen is
SHORT_LIST = 12  # sites that stay are listed without -v when nothing else happens and they are few


def format_summary(view: View, outcome: Outcome) -> list[str]:
    """What ``scan`` says about a project below its sites."""
    return [*format_opening(view, outcome), *format_details(view, outcome)]


def format_opening(view: View, outcome: Outcome) -> list[str]:
    """The first things: what was done, whether that is all, and what to type next."""
    left = count_remaining(view, outcome)
    block = [*format_headline(view, outcome, left), *report_coverage(view), *_format_next_steps(view, outcome, left)]
    beside = [*format_device_uses(view, outcome, outcome.again("check", "--verbose")), *report_exclusions(view)]
    return [*block, "", *beside] if beside else block


def format_details(view: View, outcome: Outcome) -> list[str]:
    """What was left, each kind under its heading."""
    keep = [decision for decision in view.survey.decisions if decision.action is Action.KEEP]
    few = not outcome.made and not outcome.left and len(keep) <= SHORT_LIST
    scanned = outcome.done == "scanned"
    block: list[str] = []
    for section in list_sections(view, outcome)[scanned:]:  # where every site was printed, the places that need review were too
        block += text.format_section(view, section)
    if keep and not scanned and (view.verbose or few):
        block += text.format_section(view, kept_section(view, keep))
    return block


def format_commands(view: View, commands: Sequence[tuple[str, str]], most: int = _ROOM) -> list[str]:
    """What each command is for, and the command, under each other; below that where it would be cut: it is copied as it is.

    ``most`` cells what it is for may take beside it.
    """
    room = max((count_cells(head) for head, _ in commands if count_cells(head) < most), default=0) + 1
    lines = list[str]()
    for head, command in commands:
        shown = view.ink(command, "bold")
        fits = count_cells(head) < room and not 0 < view.width <= room + count_cells(command)
        lines += [pad_cell(head, room) + shown] if fits else [*view.folded(head, 0, 2), f"  {shown}"]
    return lines


def _format_next_steps(view: View, outcome: Outcome, left: Left) -> list[str]:
    """What to type: back or on, then the steps that are left, then where to read more."""
    first, further, todo = (
        find_next_command(view, outcome, left),
        list_references(view, outcome, left),
        list_next_steps(view, outcome, left),
    )
    parts = (
        [format_commands(view, first), todo, format_commands(view, further)]
        if todo
        else [format_commands(view, [*first, *further])]
    )
    return [line for part in parts if part for line in ("", *part)]


def list_references(view: View, outcome: Outcome, left: Left) -> list[tuple[str, str]]:
    """Where to read more: each command with what it is for."""
    found = list[tuple[str, str]]()
    places = _find_changed_lines(view, outcome)
    if not places and not left.review and view.survey.decisions:
        places = [view.where(view.survey.decisions[0].place)]
    if places:
        changes = outcome.made or any(one.action is Action.EDIT for one in view.survey.decisions)
        found.append((view.say("next-explain" if changes else "next-explain-kept"), outcome.again("explain", places[0])))
    kept = any(site.action is Action.KEEP for site in view.survey.decisions)
    if kept and not view.verbose and outcome.done != "scanned":
        found.append((view.say("next-scan"), outcome.again("scan")))
    if not view.survey.decisions:
        found.append((view.say("next-rules"), outcome.again("rules")))
    return [one for one in found if one[1]]


def find_next_command(view: View, outcome: Outcome, left: Left) -> list[tuple[str, str]]:
    """The command that takes the changes back, or the one that makes them."""
    written = outcome.done == "written"
    if is_nothing_in_part(outcome):
        return [(view.say("next-whole"), outcome.whole)]
    if not outcome.made or (not written and lacks_device(view, left)):  # the steps below have the whole port's commands
        return []
    command = outcome.again("undo" if written else "apply")
    return [(view.say("next-undo" if written else "next-apply"), command)] if command else []


def _find_changed_lines(view: View, outcome: Outcome) -> list[str]:
    """Lines that change, or would with --unsafe, the most telling first: one that a site is on."""
    survey = view.survey
    found = [
        view.at(edit.name, view.edit_line(edit)) for edit in leading_edits(outcome.made, survey) if sites_of_edit(edit, survey)
    ]
    found = found or [view.at(edit.name, view.edit_line(edit)) for edit in outcome.made]
    return found or [view.where(one.place) for one in survey.decisions if one.action is Action.EDIT]
