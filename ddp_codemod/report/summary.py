"""What every report on a project says first: what was done, what is left, what to type; and then why it was left."""

from __future__ import annotations

from collections.abc import Sequence

from ddp_codemod.model import Action, Applicability
from ddp_codemod.report import text
from ddp_codemod.report.gist import gist
from ddp_codemod.report.kinds import devices, of_device
from ddp_codemod.report.outcome import Left, Outcome, counted, left_of
from ddp_codemod.report.steps import FEW_PLACES, steps
from ddp_codemod.report.table import cells, padded
from ddp_codemod.report.touching import leading, touching
from ddp_codemod.report.view import View

UNKNOWN = "?"  # among what a site resolves to
_ROOM = 26  # cells that what a command is for may take beside it
SHORT_LIST = 12  # sites that stay are listed without -v when nothing else happens and they are few


def summary(view: View, outcome: Outcome) -> list[str]:
    """What ``check``, ``diff`` and ``scan`` say about a project."""
    return [*opening(view, outcome), *details(view, outcome)]


def opening(view: View, outcome: Outcome) -> list[str]:
    """The first things: what was done, whether that is all, and what to type next."""
    survey = view.survey
    left = left_of(view, outcome)
    block = [*_headline(view, outcome, left), *_counted(view, outcome), *_next(view, outcome, left)]
    besides = devices(view, outcome.again("check", "--verbose"))
    if survey.ignored:
        besides += view.folded(view.say("summary-ignored", n=survey.ignored), 0, 2)
    if survey.hidden:
        besides += view.folded(view.say("summary-hidden", n=survey.hidden), 0, 2)
    if survey.beyond:
        besides += view.folded(of_device(view, "summary-beyond", survey.beyond), 0, 2)
    if survey.unported:
        besides += view.folded(view.say("summary-unported", n=survey.unported), 0, 2)
    if survey.unstated and survey.decisions:
        packages = view.say("list-comma").join(survey.unstated)
        besides += view.folded(view.say("version-unstated", package=packages), 0, 2)
    if survey.excluded:
        besides += view.folded(view.say("summary-excluded", n=survey.excluded), 0, 2)
    return [*block, "", *besides] if besides else block


def details(view: View, outcome: Outcome) -> list[str]:
    """What was left, each kind under its heading."""
    survey = view.survey
    keep = [decision for decision in survey.decisions if decision.action is Action.KEEP]
    few = not outcome.made and not outcome.left and len(keep) <= SHORT_LIST
    scanned = outcome.done == "scanned"
    block = []
    if not scanned:
        block += text.reviews(view, view.for_a_person())
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
    left = left_of(view, outcome)
    return [*_headline(view, outcome, left), *told(view, _back_or_on(view, outcome)), *steps(view, outcome, left)]


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


def _headline(view: View, outcome: Outcome, left: Left) -> list[str]:
    """What was done, and whether that is all."""
    survey = view.survey
    edits, files = len(outcome.made), len({edit.name for edit in outcome.made})
    if edits:
        key = {"written": "summary-written", "shown": "summary-shown"}.get(outcome.done, "summary-found")
        what = gist(view, outcome.made)
        line = view.say(f"{key}-as" if what else key, edits=edits, files=files, platform=survey.platform, what=what)
    elif survey.elsewhere:
        line = view.say("summary-elsewhere", platform=survey.platform, other=survey.elsewhere)
    elif survey.hidden:
        line = view.say("summary-nothing-here", platform=survey.platform)
    elif (
        not survey.decisions and not outcome.left and not survey.unaccounted and not any(note.open for note in survey.advisories)
    ):
        line = view.say("summary-no-sites", platform=survey.platform)
    else:
        none = "summary-none-made" if counted(view, left) else "summary-nothing"
        line = view.say("summary-no-safe" if outcome.left else none, platform=survey.platform)
    block = [*_half(view, outcome, left), *(view.ink(one, "bold") for one in view.folded(line, 0, 2))]
    block += _unsafe(view, outcome)
    if remains := counted(view, left):
        block += [view.ink(one, "bold", "yellow") for one in view.folded(view.say("summary-left", what=remains), 0, 2)]
    elif edits and outcome.done != "scanned" and not survey.hidden and not survey.elsewhere:
        block += view.folded(_complete(view), 0, 2)
    elif not edits and (notes := len(survey.advisories)) and outcome.done != "scanned":
        block += view.folded(view.say("summary-notes", n=notes), 0, 2)
    return block


def _half(view: View, outcome: Outcome, left: Left) -> list[str]:
    """That the code asks for a device which the machine lacks until the rest is done, and the command that does all of it."""
    about = view.survey.devices
    if not left.device or about is None or not about.new or outcome.done not in ("written", "shown"):
        return []
    said = view.say("summary-half", n=left.device, old=about.old, new=about.new, platform=view.survey.platform)
    command = outcome.again("apply", "--unsafe")
    head = [view.ink(one, "bold", "yellow") for one in view.folded(said, 0, 2)]
    return [*head, f"  {view.ink(command, 'bold')}"] if command else head


def _unsafe(view: View, outcome: Outcome) -> list[str]:
    """Which of the changes that were made are unsafe: the first by their places; the list of changes marks all."""
    unsafe = [edit for edit in outcome.made if edit.applicability is Applicability.UNSAFE]
    if not unsafe:
        return []
    places = list(dict.fromkeys(view.at(edit.name, view.edit_line(edit)) for edit in unsafe))
    count = len(places)
    if count > FEW_PLACES + 1:
        places = [*places[:FEW_PLACES], view.say("summary-unsafe-more", n=count - FEW_PLACES)]
    # two changes of one line are one place: then both numbers are said, so that what is named adds up
    key = "summary-unsafe" if count == len(unsafe) else "summary-unsafe-at"
    return view.folded(view.say(key, n=len(unsafe), places=count, which=view.say("list-comma").join(places)), 0, 2)


def _complete(view: View) -> str:
    """That nothing else is to be done, as far as that is known."""
    made = (site for site in view.survey.decisions if site.action is Action.EDIT)
    # a safe edit stands at the call then, and takes whatever comes in
    if open_ := sum(UNKNOWN in site.resolves_to and site.applicability is Applicability.UNSAFE for site in made):
        return view.say("summary-open", n=open_)
    notes = len(view.survey.advisories)
    return view.say("summary-complete-notes" if notes else "summary-complete", n=notes)


def _next(view: View, outcome: Outcome, left: Left) -> list[str]:
    """What to type: back or on, then the steps that are left, then where to read more."""
    first = _back_or_on(view, outcome)
    more = list[tuple[str, str]]()
    places = _changed(view, outcome)
    if not places and not left.review and view.survey.decisions:
        places = [view.where(view.survey.decisions[0].place)]
    if places:
        more.append((view.say("next-explain"), outcome.again("explain", places[0])))
    kept = any(site.action is Action.KEEP for site in view.survey.decisions)
    if kept and not view.verbose and outcome.done != "scanned":
        more.append((view.say("next-scan"), outcome.again("scan")))
    if not view.survey.decisions:
        more.append((view.say("next-rules"), outcome.again("rules")))
    todo = steps(view, outcome, left)
    if todo:
        parts = [told(view, first), todo, told(view, [one for one in more if one[1]])]
    else:
        parts = [told(view, [*first, *(one for one in more if one[1])])]
    return [line for part in parts if part for line in ("", *part)]


def _back_or_on(view: View, outcome: Outcome) -> list[tuple[str, str]]:
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
