"""What every report on a project says first: what was done, what is left, what to type; and then why it was left."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from ddp_codemod.model import Action, Applicability, Edit, Skipped
from ddp_codemod.report import text
from ddp_codemod.report.kinds import devices, is_device
from ddp_codemod.report.table import cells, padded
from ddp_codemod.report.touching import leading, touching
from ddp_codemod.report.view import View

UNKNOWN = "?"  # among what a site resolves to
FEW_PLACES = 3  # that a person has to look at are named in the first lines
_ROOM = 26  # cells that what a command is for may take beside it
SHORT_LIST = 12  # sites that stay are listed without -v when nothing else happens and they are few


class Outcome(Struct, frozen=True):
    """What became of a survey: ``failed`` are files whose edits could not be rendered."""

    done: str  # "written", "shown" (as a patch), "found" (listed) or "scanned" (every site was printed)
    made: tuple[Edit, ...] = ()  # the edits in the patch, or those that apply would make
    left: tuple[Edit, ...] = ()  # the others
    failed: tuple[Skipped, ...] = ()
    again: Callable[..., str] = lambda command, *more: command  # what to type next; "" where there is nothing


def summary(view: View, outcome: Outcome) -> list[str]:
    """What ``check``, ``diff`` and ``scan`` say about a project."""
    return [*opening(view, outcome), *details(view, outcome)]


def opening(view: View, outcome: Outcome) -> list[str]:
    """The first things: what was done, whether that is all, and what to type next."""
    survey = view.survey
    block = [*_headline(view, outcome), *_counted(view, outcome)]
    if survey.ignored:
        block += view.folded(view.say("summary-ignored", n=survey.ignored), 0, 2)
    if survey.hidden:
        block += view.folded(view.say("summary-hidden", n=survey.hidden), 0, 2)
    block += devices(view)
    if survey.beyond:
        block += view.folded(view.say("summary-beyond", n=survey.beyond), 0, 2)
    if survey.unstated and survey.decisions:
        packages = view.say("list-comma").join(survey.unstated)
        block += view.folded(view.say("version-unstated", package=packages), 0, 2)
    if survey.excluded:
        block += view.folded(view.say("summary-excluded", n=survey.excluded), 0, 2)
    return block + _next(view, outcome)


def details(view: View, outcome: Outcome) -> list[str]:
    """What was left, each kind under its heading."""
    survey = view.survey
    keep = [decision for decision in survey.decisions if decision.action is Action.KEEP]
    few = not outcome.made and not outcome.left and len(keep) <= SHORT_LIST
    scanned = outcome.done == "scanned"
    block = []
    if not scanned:
        block += text.reviews(view, [decision for decision in survey.decisions if decision.action is Action.REVIEW])
    block += text.unaccounted(view, survey.unaccounted)
    block += text.unsafe(view, outcome.left)
    block += text.manual(view, outcome.left)
    block += text.skipped(view, (*survey.skipped, *outcome.failed))
    block += text.advisories(view, survey.advisories)
    if keep and not scanned and (view.verbose or few):
        block += text.kept(view, keep)
    return block


def closing(view: View, outcome: Outcome) -> list[str]:
    """The first things once more, for a reader who stands at the end of a long patch: what was done, is left, goes on."""
    return [*_headline(view, outcome), *told(view, _going_on(view, outcome))]


def told(view: View, commands: Sequence[tuple[str, str]]) -> list[str]:
    """What each command is for, and the command, under each other; below that where it would be cut: it is copied as it stands."""
    room = max((cells(head) for head, _ in commands if cells(head) < _ROOM), default=0) + 1
    lines = list[str]()
    for head, command in commands:
        shown = view.ink(command, "bold")
        fits = cells(head) < room and not 0 < view.width <= room + cells(command)
        lines += [padded(head, room) + shown] if fits else [*view.folded(head, 0, 2), f"  {shown}"]
    return lines


def _counted(view: View, outcome: Outcome) -> list[str]:
    """How many files were read, and what becomes of the places that were looked at in them."""
    survey = view.survey
    if not survey.decisions:
        return view.folded(view.say("summary-files", n=survey.files_seen), 0, 2)
    kinds = dict.fromkeys(Applicability, 0)
    for site in survey.decisions:
        kinds[site.applicability] += site.action is Action.EDIT
    left = kinds[Applicability.UNSAFE] if any(edit.applicability is Applicability.UNSAFE for edit in outcome.left) else 0
    now = sum(kinds.values()) - kinds[Applicability.MANUAL] - left
    counts = {
        "count-changed" if outcome.done == "written" else "count-to-change": now,
        "count-unsafe": left,
        "count-manual": kinds[Applicability.MANUAL],
        "count-kept": sum(site.action is Action.KEEP for site in survey.decisions),
        "count-review": sum(site.action is Action.REVIEW for site in survey.decisions),
    }
    what = view.say("list-comma").join(view.say(key, n=n) for key, n in counts.items() if n)
    line = view.say("summary-counts", files=survey.files_seen, sites=len(survey.decisions), what=what)
    return view.folded(line, 0, 2)


def _headline(view: View, outcome: Outcome) -> list[str]:
    survey = view.survey
    edits, files = len(outcome.made), len({edit.name for edit in outcome.made})
    if edits:
        key = {"written": "summary-written", "shown": "summary-shown"}.get(outcome.done, "summary-found")
        line = view.say(key, edits=edits, files=files, platform=survey.platform)
    elif survey.hidden:
        line = view.say("summary-nothing-here", platform=survey.platform)
    elif (
        not survey.decisions and not outcome.left and not survey.unaccounted and not any(note.open for note in survey.advisories)
    ):
        line = view.say("summary-no-sites", platform=survey.platform)
    else:
        none = "summary-none-made" if _left(view, outcome) else "summary-nothing"
        line = view.say("summary-no-safe" if outcome.left else none, platform=survey.platform)
    block = [view.ink(one, "bold") for one in view.folded(line, 0, 2)]
    if unsafe := sum(edit.applicability is Applicability.UNSAFE for edit in outcome.made):
        block += view.folded(view.say("summary-unsafe", n=unsafe), 0, 2)
    if left := _left(view, outcome):
        block += [view.ink(one, "bold", "yellow") for one in view.folded(view.say("summary-left", what=left), 0, 2)]
        block += _to_look_at(view)
    elif edits and outcome.done != "scanned" and not survey.hidden:
        block += view.folded(_complete(view), 0, 2)
    return block


def _to_look_at(view: View) -> list[str]:
    """Where a person has to look: why, each says further down."""
    where = _for_a_person(view)
    if not where:
        return []
    if len(where) <= FEW_PLACES:
        return view.folded(view.say("summary-look-at", places=view.say("list-comma").join(where)), 0, 2)
    return view.folded(view.say("summary-look-below", place=where[0], n=len(where) - 1), 0, 2)


def _for_a_person(view: View) -> list[str]:
    survey = view.survey
    places = [one.place for one in survey.decisions if one.action is Action.REVIEW] + [one.place for one in survey.unaccounted]
    return list(dict.fromkeys(map(view.where, places)))


def _complete(view: View) -> str:
    """That nothing else is to be done, as far as that is known."""
    made = (site for site in view.survey.decisions if site.action is Action.EDIT)
    if open_ := sum(UNKNOWN in site.resolves_to for site in made):
        return view.say("summary-open", n=open_)
    notes = len(view.survey.advisories)
    return view.say("summary-complete-notes" if notes else "summary-complete", n=notes)


def _left(view: View, outcome: Outcome) -> str:
    """What remains to be done, so that nobody takes the job for finished: "" where nothing does."""
    review = sum(decision.action is Action.REVIEW for decision in view.survey.decisions)
    ported = sum(
        edit.applicability is Applicability.UNSAFE and is_device(edit.rule) for edit in leading(outcome.left, view.survey)
    )
    broken = sum(skipped.candidate for skipped in (*view.survey.skipped, *outcome.failed))
    left = leading(outcome.left, view.survey)
    counts = {
        "left-count-review": review,
        "left-count-unaccounted": len(view.survey.unaccounted),
        "left-count-notes": sum(note.open for note in view.survey.advisories),
        "left-count-device": ported,
        "left-count-unsafe": sum(edit.applicability is Applicability.UNSAFE for edit in left) - ported,
        "left-count-manual": sum(edit.applicability is Applicability.MANUAL for edit in left),
        "left-count-skipped": broken,
    }
    return view.say("list-comma").join(view.say(key, n=n) for key, n in counts.items() if n)


def _going_on(view: View, outcome: Outcome) -> list[tuple[str, str]]:
    """The commands that do something, back or on, each with what it is for."""
    commands: list[tuple[str, str]] = []
    if outcome.made and outcome.done == "written":
        commands.append((view.say("next-undo"), outcome.again("undo")))
    elif outcome.made:
        commands.append((view.say("next-apply"), outcome.again("apply")))
    unsafe = sum(edit.applicability is Applicability.UNSAFE for edit in leading(outcome.left, view.survey))
    if unsafe:
        commands.append((view.say("next-unsafe", n=unsafe), outcome.again("apply", "--unsafe")))
    about = view.survey.devices
    if about is not None and about.entries and any(is_device(decision.rule) for decision in view.survey.decisions):
        commands.append((view.say("next-vendor"), outcome.again("apply", "--rule", about.vendor, "--unsafe")))
    return [(head, command) for head, command in commands if command]


def _next(view: View, outcome: Outcome) -> list[str]:
    commands = _going_on(view, outcome)
    changed, left = _changed(view, outcome), _for_a_person(view)
    for key, places in (("next-explain", changed), ("next-explain-left", left)):
        if places:
            commands.append((view.say(key), outcome.again("explain", places[0])))
    if not changed and not left and view.survey.decisions:
        commands.append((view.say("next-explain"), outcome.again("explain", view.where(view.survey.decisions[0].place))))
    kept = any(site.action is Action.KEEP for site in view.survey.decisions)
    if kept and not view.verbose and outcome.done != "scanned":
        commands.append((view.say("next-scan"), outcome.again("scan")))
    if not view.survey.decisions:
        commands.append((view.say("next-rules"), outcome.again("rules")))
    commands = [(head, command) for head, command in commands if command]
    return ["", *told(view, commands)] if commands else []


def _changed(view: View, outcome: Outcome) -> list[str]:
    """Lines that change, or would with --unsafe, the most telling first: one that a site is on."""
    survey = view.survey
    found = [view.at(edit.name, view.edit_line(edit)) for edit in leading(outcome.made, survey) if touching(edit, survey)]
    found = found or [view.at(edit.name, view.edit_line(edit)) for edit in outcome.made]
    return found or [view.where(one.place) for one in survey.decisions if one.action is Action.EDIT]
