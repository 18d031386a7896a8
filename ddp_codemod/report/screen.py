"""What ``apply`` and ``diff`` say before a patch, on one screen: what does not work yet, what changed, what needs review, what to type."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import zip_longest

from msgspec import Struct
from msgspec.structs import replace

from ddp_codemod.model import Action, Applicability
from ddp_codemod.report import sections, text
from ddp_codemod.report.brief import (
    CHANGED,
    COUNT,
    GONE,
    KINDS,
    REASONS,
    WHOLE,
    condense_section,
    cut_lines,
    list_places,
)
from ddp_codemod.report.device_kinds import is_device_rule
from ddp_codemod.report.device_uses import MOST, format_device_uses, ordered_kinds
from ddp_codemod.report.finding_groups import Listed
from ddp_codemod.report.fixes import lead_fixes
from ddp_codemod.report.headline import (
    format_headline,
    report_broken_state,
    report_completion,
    report_coverage,
    report_done,
    report_exclusions,
    report_remaining,
)
from ddp_codemod.report.ink import strip_colors
from ddp_codemod.report.next_steps import list_next_steps
from ddp_codemod.report.outcome import Left, Outcome, count_remaining
from ddp_codemod.report.sections import Section
from ddp_codemod.report.start_lines import format_start_commands
from ddp_codemod.report.summary import SHORT_LIST, WIDE, find_next_command, format_commands, list_references
from ddp_codemod.report.table import count_cells
from ddp_codemod.report.view import View

SCREEN = 40  # lines that a user sees at once
_GIVING = (
    *("more", "top", "aside", "left-kept", "left-advisories", "left-skipped", "left-unsafe", "cost", CHANGED),
    *("left-manual", "left-uncovered", "devices", "left-review"),
)  # what gives way first
_NOTES = "left-advisories"  # may be about the changes: once these are written, no command lists them again
_ROWS = (MOST, 3, 0, 0)  # of the table of devices, level by level


class _Part(Struct, frozen=True):
    """A part of the screen: what it is at each of its levels, the fullest first."""

    name: str
    at: Callable[[int], Listed]
    levels: int = 1


def format_screen(view: View, outcome: Outcome, room: int = SCREEN, listed: bool = True) -> list[str]:
    """All that there is to say where the reader asked for it, else at most ``room`` lines; ``listed``: with the changes and their cost."""
    left = count_remaining(view, outcome)
    parts = _make_parts(view, outcome, left, listed)
    if view.verbose:
        return _join_parts([part.at(WHOLE).lines for part in parts])
    at = {part.name: cache(part.at) for part in parts}

    def lines(levels: Mapping[str, int]) -> list[str]:
        chosen = {name: result(levels[name]) for name, result in at.items()}
        close = [name in ("top", "cost") or levels[name] >= COUNT for name in chosen]
        told = _format_omissions(view, outcome, left, chosen)
        return _join_parts([*(one.lines for one in chosen.values()), told], [*close, False])

    giving = sorted(_GIVING, key=lambda name: outcome.done == "written" and name == _NOTES)
    return lines(_choose_levels(parts, giving, lambda levels: count_rows(view, lines(levels)) <= room))


def _join_parts(parts: Sequence[list[str]], close: Sequence[bool] = ()) -> list[str]:
    """The lines of the parts, with an empty one between two of them that are not ``close`` to each other."""
    block: list[str] = []
    before = False
    for lines, near in zip_longest(parts, close):
        if lines:
            block += lines if not block or (near and before) else ["", *lines]
            before = bool(near)
    return block


def format_closing(view: View, outcome: Outcome) -> list[str]:
    """The first things once more, for a reader who is at the end of a long patch: what was done, is left, goes on."""
    left = count_remaining(view, outcome)
    return [
        *format_headline(view, outcome, left),
        *format_commands(view, find_next_command(view, outcome, left)),
        *list_next_steps(view, outcome, left, short=True),
    ]


def count_rows(view: View, lines: Sequence[str]) -> int:
    """How many lines of the screen they take."""
    width = view.width or WIDE
    return sum(max(-(-count_cells(strip_colors(line)) // width), 1) for line in lines)


def _choose_levels(parts: Sequence[_Part], order: Sequence[str], fits: Callable[[Mapping[str, int]], bool]) -> dict[str, int]:
    """The fullest levels that fit: all give way in turn, and then what matters most takes back what is left."""
    levels = {part.name: WHOLE for part in parts}
    last = {part.name: part.levels - 1 for part in parts}
    giving = [name for name in order if name in last]
    for level, name in ((level, name) for level in range(1, GONE + 1) for name in giving):
        if fits(levels):
            break
        levels[name] = min(level, last[name])
    for level, name in ((level, name) for level in (COUNT, KINDS, REASONS, WHOLE) for name in reversed(giving)):
        if level < levels[name] and fits({**levels, name: level}):
            levels[name] = level
    return levels


def _make_parts(view: View, outcome: Outcome, left: Left, listed: bool) -> list[_Part]:
    survey = view.survey
    keep = [one for one in survey.decisions if one.action is Action.KEEP]
    few = not outcome.made and not outcome.left and len(keep) <= SHORT_LIST
    left_edits = [one for one in outcome.left if view.verbose or not is_device_rule(one.rule)]  # those of devices are in a table
    urgent = sorted(survey.advisories, key=lambda note: (not note.open, note.rule not in view.first))
    notes = _make_section_part(view, sections.advisories_section(view, urgent))
    stops = any(note.open for note in urgent)  # a program fails until somebody acts on one
    remains = report_remaining(view, left)

    def top(level: int) -> Listed:
        ends = (
            [*remains, *report_done(view, outcome, left)]
            if remains
            else [*report_done(view, outcome, left), *report_completion(view, outcome)]
        )
        return Listed([*report_broken_state(view, outcome, left, short=level > 0), *ends])

    cost = view.say("platform-cost", cost=outcome.cost) if outcome.cost and listed else ""
    return [
        _Part("top", top, 2),
        *(
            [_make_section_part(view, sections.changes_section(view, outcome.made, _has_unsure_edits(outcome)))]
            if listed and outcome.made
            else []
        ),
        _Part("cost", lambda level: cut_lines(view, cost, 0, 1) if level else Listed(view.folded(cost, 0, 2) if cost else []), 2),
        *([notes] if stops else []),
        _make_section_part(view, sections.reviews_section(view, view.for_a_person()), COUNT),
        _make_section_part(view, sections.uncovered_section(view, survey.uncovered), COUNT),
        _Part("devices", lambda level: _format_devices(view, outcome, level), len(_ROWS)),
        _make_section_part(view, sections.unsafe_section(view, left_edits)),
        _make_section_part(view, sections.manual_section(view, outcome.left)),
        _make_section_part(view, sections.skipped_section(view, (*survey.skipped, *outcome.failed))),
        *([] if stops else [notes]),
        *([_make_section_part(view, sections.kept_section(view, keep))] if view.verbose or few else []),
        _Part("aside", lambda level: Listed(_format_exclusions(view, outcome, level)), 2),
        _make_fixed_part("on", _format_next_steps(view, outcome, left)),
        _Part("more", lambda level: _format_references(view, outcome, left, level), 2),
    ]


def _make_fixed_part(name: str, lines: list[str]) -> _Part:
    return _Part(name, lambda level: Listed(lines))


def _make_section_part(view: View, section: Section, least: int = GONE) -> _Part:
    if view.verbose:
        return _make_fixed_part(section.heading, text.format_section(view, section))
    return _Part(section.heading, lambda level: condense_section(view, section, level), least + 1)


def _has_unsure_edits(outcome: Outcome) -> bool:
    return any(edit.applicability is not Applicability.SAFE for edit in outcome.made)


def _format_next_steps(view: View, outcome: Outcome, left: Left) -> list[str]:
    """The command that takes the changes back or makes them, and the steps that are left."""
    first, todo = format_commands(view, find_next_command(view, outcome, left)), list_next_steps(view, outcome, left, short=True)
    starts = [] if left.device else format_start_commands(view, outcome)  # without its device it does not run yet
    return [line for part in (first, todo, starts) if part for line in ("", *part)][1:]


def _format_exclusions(view: View, outcome: Outcome, level: int) -> list[str]:
    """What was read, and what was left alone."""
    if level == WHOLE or not view.width:
        return [*report_coverage(view, level > WHOLE), *report_exclusions(view)]
    apart = replace(view, width=0)
    return view.folded(" ".join([*report_coverage(apart, True), *report_exclusions(apart)]), 0, 2)


def _format_references(view: View, outcome: Outcome, left: Left, level: int) -> Listed:
    """Where to read more."""
    lines = format_commands(view, list_references(view, outcome, left)) if level == WHOLE else []
    return Listed(lines)


def _format_devices(view: View, outcome: Outcome, level: int) -> Listed:
    """The uses of the other device; those that are left with their places, which no list names besides."""
    where: dict[str, list[tuple[str, int]]] = {}
    for edit in lead_fixes(outcome.left, view.survey, Applicability.UNSAFE):  # not the imports that come with them
        if is_device_rule(edit.rule):
            where.setdefault(edit.rule, []).append((edit.name, view.edit_line(edit)))
    found = {rule: list(dict.fromkeys(at)) for rule, at in where.items()}
    arguments: dict[str, str] = {}
    left = sum(map(len, found.values()))
    for rule, _ in ordered_kinds(view, outcome)[: _ROWS[level]] if level == WHOLE and not view.verbose else ():
        if rule in found:
            named = list_places(view, found[rule])
            arguments[rule] = named.lines[0]
            left -= len(found[rule]) - named.left
    if level == len(_ROWS) - 1:
        return Listed([], left)
    lines = format_device_uses(
        view, outcome, outcome.again("check", "--verbose") if view.verbose else "", _ROWS[level], arguments
    )
    return Listed(lines, left)


def _format_omissions(view: View, outcome: Outcome, left: Left, chosen: Mapping[str, Listed]) -> list[str]:
    """How much is not named, and the command that lists all of it.

    Changes that are written are no longer findings: what is on record of them is listed by another command.
    """
    written = outcome.done == "written"
    told = [one for name, one in chosen.items() if not (written and name == CHANGED)]
    n = sum(one.left for one in told)
    cut = any(one.cut for one in told)
    commands: list[tuple[str, str]] = []
    if n or cut:
        message = view.say("screen-out" if n and cut else "screen-out-places" if n else "screen-out-reasons", n=n)
        commands.append((message, outcome.again("check", "-v")))
    changes = chosen.get(CHANGED)
    if written and changes is not None and (changes.left or changes.cut):
        commands.append((view.say("screen-out-changes"), outcome.again("record")))
    return format_commands(view, commands, WIDE)
