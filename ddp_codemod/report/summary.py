"""What every report on a project says first: what was done, what is left, what to type; and then why it was left."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from ddp_codemod.model import Action, Applicability, Edit, Skipped
from ddp_codemod.report import text
from ddp_codemod.report.kinds import devices, is_device
from ddp_codemod.report.table import cells
from ddp_codemod.report.touching import leading, touching
from ddp_codemod.report.view import View

UNKNOWN = "?"  # among what a site resolves to
FEW_PLACES = 3  # that a person has to look at are named in the first lines
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
    survey, counts = view.survey, _counts(view, outcome)
    block = [*_headline(view, outcome)]
    block += view.folded(view.say("summary-counts", **counts), 0, 2)
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
    return block + _next(view, outcome, bool(counts["kept"]))


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
    return [*_headline(view, outcome), *(line for key, command in _going_on(view, outcome) for line in told(view, key, command))]


def told(view: View, key: str, command: str) -> list[str]:
    """A command and what it is for, on one line; below it where it would be cut: it is copied as it stands."""
    line = view.say(key, command=command)
    if view.width and cells(line) >= view.width:
        return [view.say(key, command="").rstrip(), "  " + view.ink(command, "bold")]
    return [view.say(key, command=view.ink(command, "bold"))]


def _counts(view: View, outcome: Outcome) -> dict[str, int]:
    actions = [decision.action for decision in view.survey.decisions]
    kept, review = actions.count(Action.KEEP), actions.count(Action.REVIEW)
    edited = len(actions) - kept - review
    return {"files": view.survey.files_seen, "sites": len(actions), "edited": edited, "kept": kept, "review": review}


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
    if left := _left(view, outcome):
        block += [view.ink(one, "bold", "yellow") for one in view.folded(view.say("summary-left", what=left), 0, 2)]
        block += _to_look_at(view)
    elif edits and outcome.done != "scanned" and not survey.hidden:
        block += view.folded(_complete(view), 0, 2)
    return block


def _to_look_at(view: View) -> list[str]:
    """Where a person has to look, if that is at few places: why, each says further down."""
    survey = view.survey
    places = [one.place for one in survey.decisions if one.action is Action.REVIEW] + [one.place for one in survey.unaccounted]
    where = list(dict.fromkeys(map(view.where, places)))
    if not 0 < len(where) <= FEW_PLACES:
        return []
    return view.folded(view.say("summary-look-at", places=view.say("list-comma").join(where)), 0, 2)


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
    """The commands that do something: back, or on."""
    commands: list[tuple[str, str]] = []
    if outcome.made and outcome.done == "written":
        commands.append(("next-undo", outcome.again("undo")))
    elif outcome.made:
        commands.append(("next-apply", outcome.again("apply")))
    if any(edit.applicability is Applicability.UNSAFE for edit in outcome.left):
        commands.append(("next-unsafe", outcome.again("apply", "--unsafe")))
    about = view.survey.devices
    if about is not None and about.entries and any(is_device(decision.rule) for decision in view.survey.decisions):
        commands.append(("next-vendor", outcome.again("apply", "--rule", about.vendor, "--unsafe")))
    return [(key, command) for key, command in commands if command]


def _next(view: View, outcome: Outcome, kept: bool) -> list[str]:
    commands = _going_on(view, outcome)
    if places := _telling(view, outcome):
        commands.append(("next-explain", outcome.again("explain", places[0])))
    if kept and not view.verbose and outcome.done != "scanned":
        commands.append(("next-scan", outcome.again("scan")))
    if not view.survey.decisions:
        commands.append(("next-rules", outcome.again("rules")))
    return ["", *(line for key, command in commands for line in told(view, key, command))] if commands else []


def _telling(view: View, outcome: Outcome) -> list[str]:
    """Lines that ``explain`` has something to say of, the most telling first: one that changes, one that is left, any."""
    survey = view.survey
    found = [view.at(edit.name, view.edit_line(edit)) for edit in leading(outcome.made, survey) if touching(edit, survey)]
    found = found or [view.at(edit.name, view.edit_line(edit)) for edit in outcome.made]
    found = found or [view.where(one.place) for one in survey.decisions if one.action is not Action.KEEP]
    found = found or [view.where(one.place) for one in survey.decisions]
    return found or [view.where(one.place) for one in survey.unaccounted]
