"""What ``apply`` and ``diff`` say before a patch, on one screen: what does not work yet, what changed, what needs review, what to type."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import zip_longest

from msgspec import Struct
from msgspec.structs import replace

from ddp_codemod.model import Action, Applicability, Start
from ddp_codemod.report import sections, text
from ddp_codemod.report.brief import CHANGED, COUNT, GONE, KINDS, REASONS, WHOLE, brief, cut, places
from ddp_codemod.report.grouped import Listed
from ddp_codemod.report.headline import besides, complete, coverage, done, half, headline, missing
from ddp_codemod.report.ink import plain
from ddp_codemod.report.kinds import MOST, devices, is_device, launched, ordered_kinds
from ddp_codemod.report.outcome import Left, Outcome, left_of
from ddp_codemod.report.sections import Section
from ddp_codemod.report.steps import steps
from ddp_codemod.report.summary import SHORT_LIST, back_or_on, more, told
from ddp_codemod.report.table import cells
from ddp_codemod.report.view import View

SCREEN = 40  # lines that a person sees at once
RANKS = 2  # processes that show whether ranks train together
WIDE = 100  # cells of a line where nothing says how wide the screen is
_GIVING = (
    *("more", "top", "aside", "left-kept", "left-advisories", "left-skipped", "left-unsafe", "cost", CHANGED),
    *("left-manual", "left-unaccounted", "devices", "left-review"),
)  # what gives way first
_ROWS = (MOST, 3, 0, 0)  # of the table of devices, level by level


class _Part(Struct, frozen=True):
    """A part of the screen: what it is at each of its levels, the fullest first."""

    name: str
    at: Callable[[int], Listed]
    levels: int = 1


def screen(view: View, outcome: Outcome, room: int = SCREEN, listed: bool = True) -> list[str]:
    """All that there is to say where the reader asked for it, else at most ``room`` lines; ``listed``: with the changes and their cost."""
    parts = _parts(view, outcome, left_of(view, outcome), listed)
    if view.verbose:
        return _joined([part.at(WHOLE).lines for part in parts])
    at = {part.name: cache(part.at) for part in parts}

    def lines(levels: Mapping[str, int]) -> list[str]:
        chosen = {name: made(levels[name]) for name, made in at.items()}
        close = [name in ("top", "cost") or levels[name] >= COUNT for name in chosen]
        return _joined([*(one.lines for one in chosen.values()), _left_out(view, outcome, chosen)], [*close, False])

    return lines(_fitting(parts, lambda levels: rows(view, lines(levels)) <= room))


def _joined(parts: Sequence[list[str]], close: Sequence[bool] = ()) -> list[str]:
    """The lines of the parts, with an empty one between two of them that are not ``close`` to each other."""
    block: list[str] = []
    before = False
    for lines, near in zip_longest(parts, close):
        if lines:
            block += lines if not block or (near and before) else ["", *lines]
            before = bool(near)
    return block


def closing(view: View, outcome: Outcome) -> list[str]:
    """The first things once more, for a reader who stands at the end of a long patch: what was done, is left, goes on."""
    left = left_of(view, outcome)
    return [*headline(view, outcome, left), *told(view, back_or_on(view, outcome)), *steps(view, outcome, left, short=True)]


def rows(view: View, lines: Sequence[str]) -> int:
    """How many lines of the screen they take."""
    width = view.width or WIDE
    return sum(max(-(-cells(plain(line)) // width), 1) for line in lines)


def _fitting(parts: Sequence[_Part], fits: Callable[[Mapping[str, int]], bool]) -> dict[str, int]:
    """The fullest levels that fit: all give way in turn, and then what matters most takes back what is left."""
    levels = {part.name: WHOLE for part in parts}
    last = {part.name: part.levels - 1 for part in parts}
    giving = [name for name in _GIVING if name in last]
    for level, name in ((level, name) for level in range(1, GONE + 1) for name in giving):
        if fits(levels):
            break
        levels[name] = min(level, last[name])
    for level, name in ((level, name) for level in (COUNT, KINDS, REASONS, WHOLE) for name in reversed(giving)):
        if level < levels[name] and fits({**levels, name: level}):
            levels[name] = level
    return levels


def _parts(view: View, outcome: Outcome, left: Left, listed: bool) -> list[_Part]:
    survey = view.survey
    keep = [one for one in survey.decisions if one.action is Action.KEEP]
    few = not outcome.made and not outcome.left and len(keep) <= SHORT_LIST
    left_edits = [one for one in outcome.left if view.verbose or not is_device(one.rule)]  # those of devices stand in a table
    urgent = sorted(survey.advisories, key=lambda note: (not note.open, note.rule not in view.first))
    notes = _of(view, sections.advisories(view, urgent))
    stops = any(note.open for note in urgent)  # a program fails until somebody acts on one
    remains = missing(view, left)

    def top(level: int) -> Listed:
        ends = [*remains, *done(view, outcome, left)] if remains else [*done(view, outcome, left), *complete(view, outcome)]
        return Listed([*half(view, outcome, left, short=level > 0), *ends])

    cost = view.say("platform-cost", cost=outcome.cost) if outcome.cost and listed else ""
    return [
        _Part("top", top, 2),
        *([_of(view, sections.changed(view, outcome.made, _unsure(outcome)))] if listed and outcome.made else []),
        _Part("cost", lambda level: cut(view, cost, 0, 1) if level else Listed(view.folded(cost, 0, 2) if cost else []), 2),
        *([notes] if stops else []),
        _of(view, sections.reviews(view, view.for_a_person()), COUNT),
        _of(view, sections.unaccounted(view, survey.unaccounted), COUNT),
        _Part("devices", lambda level: _devices(view, outcome, level), len(_ROWS)),
        _of(view, sections.unsafe(view, left_edits)),
        _of(view, sections.manual(view, outcome.left)),
        _of(view, sections.skipped(view, (*survey.skipped, *outcome.failed))),
        *([] if stops else [notes]),
        *([_of(view, sections.kept(view, keep))] if view.verbose or few else []),
        _Part("aside", lambda level: Listed(_aside(view, outcome, level)), 2),
        _fixed("on", _on(view, outcome, left)),
        _Part("more", lambda level: _more(view, outcome, left, level), 2),
    ]


def _fixed(name: str, lines: list[str]) -> _Part:
    return _Part(name, lambda level: Listed(lines))


def _of(view: View, section: Section, least: int = GONE) -> _Part:
    if view.verbose:
        return _fixed(section.heading, text.whole(view, section))
    return _Part(section.heading, lambda level: brief(view, section, level), least + 1)


def _unsure(outcome: Outcome) -> bool:
    return any(edit.applicability is not Applicability.SAFE for edit in outcome.made)


def _on(view: View, outcome: Outcome, left: Left) -> list[str]:
    """The command that takes the changes back or makes them, and the steps that are left."""
    first, todo = told(view, back_or_on(view, outcome)), steps(view, outcome, left, short=True)
    starts = _starts(view, outcome)
    return [line for part in (first, todo, starts) if part for line in ("", *part)][1:]


def _starts(view: View, outcome: Outcome) -> list[str]:
    """The command that starts the program, where it is plain which one that is."""
    lines: list[str] = []
    starts = view.survey.starts if outcome.made else ()
    variable = next(iter(launched(view, outcome.made)), None)
    for one in starts:
        command = f"{variable}={RANKS} {one.command}" if one.counts and variable is not None else one.command
        lines += _start(view, "screen-start", one, command)
        if one.counts and variable is None:
            lines += view.folded(view.say("screen-start-counts"), 2, 2)
    for one in starts[:1] if outcome.done == "written" else ():
        lines += _start(view, "screen-verify", one, outcome.again("verify", one.folder, one.command))
    return lines


def _start(view: View, key: str, start: Start, command: str) -> list[str]:
    folder = view.path(start.folder or ".")
    said = view.say(key) if folder == "." else view.say(f"{key}-in", folder=folder)
    return told(view, [(said, command)], WIDE)


def _aside(view: View, outcome: Outcome, level: int) -> list[str]:
    """What was read, and what was left alone."""
    if level == WHOLE or not view.width:
        return [*coverage(view, outcome, level > WHOLE), *besides(view)]
    apart = replace(view, width=0)
    return view.folded(" ".join([*coverage(apart, outcome, True), *besides(apart)]), 0, 2)


def _more(view: View, outcome: Outcome, left: Left, level: int) -> Listed:
    """Where to read more."""
    lines = told(view, more(view, outcome, left)) if level == WHOLE else []
    return Listed(lines)


def _devices(view: View, outcome: Outcome, level: int) -> Listed:
    """The uses of the other device; those that are left with their places, which no list names besides."""
    where: dict[str, list[tuple[str, int]]] = {}
    for edit in outcome.left:
        if is_device(edit.rule) and edit.applicability is Applicability.UNSAFE:
            where.setdefault(edit.rule, []).append((edit.name, view.edit_line(edit)))
    found = {rule: list(dict.fromkeys(at)) for rule, at in where.items()}
    said: dict[str, str] = {}
    left = sum(map(len, found.values()))
    for rule, _ in ordered_kinds(view.survey)[: _ROWS[level]] if level == WHOLE and not view.verbose else ():
        if rule in found:
            named = places(view, found[rule])
            said[rule] = named.lines[0]
            left -= len(found[rule]) - named.left
    if level == len(_ROWS) - 1:
        return Listed([], left)
    lines = devices(view, outcome.again("check", "--verbose") if view.verbose else "", _ROWS[level], said)
    return Listed(lines, left)


def _left_out(view: View, outcome: Outcome, chosen: Mapping[str, Listed]) -> list[str]:
    """How much is not named, and the command that names all of it. The changes themselves are in the patch."""
    n = sum(one.left for name, one in chosen.items() if (name, outcome.done) != (CHANGED, "written"))
    cut = any(one.cut for one in chosen.values())
    if not n and not cut:
        return []
    said = view.say("screen-out" if n and cut else "screen-out-places" if n else "screen-out-reasons", n=n)
    return told(view, [(said, outcome.again("check", "-v"))], WIDE)
