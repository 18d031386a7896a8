"""The end of every report on a project: what was found, what was left and why, and what to type next."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from ddp_codemod.model import Action, Edit, Skipped
from ddp_codemod.report import text
from ddp_codemod.report.view import View, leading

SHORT_LIST = 12  # sites that stay are listed without -v when nothing else happens and they are few


class Outcome(Struct, frozen=True):
    """What became of a survey: ``failed`` are files whose edits could not be rendered."""

    done: str  # "written", "shown" (as a patch), "found" (listed) or "scanned" (every site was printed)
    made: tuple[Edit, ...] = ()  # the edits in the patch, or those that apply would make
    left: tuple[Edit, ...] = ()  # the others
    failed: tuple[Skipped, ...] = ()
    again: Callable[..., str] = lambda command, *more: command


def summary(view: View, outcome: Outcome) -> list[str]:
    """The closing lines of ``apply``, ``diff``, ``check`` and ``scan``."""
    survey = view.survey
    keep = [decision for decision in survey.decisions if decision.action is Action.KEEP]
    review = [decision for decision in survey.decisions if decision.action is Action.REVIEW]
    block = [_headline(view, outcome)]
    counts = {"files": survey.files_seen, "sites": len(survey.decisions), "kept": len(keep), "review": len(review)}
    block.append(view.say("summary-counts", **counts))
    if survey.ignored:
        block.append(view.say("summary-ignored", n=survey.ignored))
    if survey.unstated and survey.decisions:
        block.append(view.say("version-unstated", package=view.say("list-comma").join(survey.unstated)))
    if survey.excluded:
        block.append(view.say("summary-excluded", n=survey.excluded))
    if (
        keep
        and (view.verbose or (not outcome.made and not outcome.left and len(keep) <= SHORT_LIST))
        and outcome.done != "scanned"
    ):
        block += text.kept(view, keep)
    if outcome.done != "scanned":
        block += text.reviews(view, review)
    block += text.unaccounted(view, survey.unaccounted)
    block += text.unsafe(view, outcome.left, outcome.again("apply", "--unsafe"))
    block += text.manual(view, outcome.left)
    block += text.advisories(view, survey.advisories)
    block += text.skipped(view, (*survey.skipped, *outcome.failed))
    return block + _next(view, outcome, bool(keep))


def _headline(view: View, outcome: Outcome) -> str:
    survey = view.survey
    edits, files = len(outcome.made), len({edit.name for edit in outcome.made})
    if edits:
        key = {"written": "summary-written", "shown": "summary-shown"}.get(outcome.done, "summary-found")
        line = view.say(key, edits=edits, files=files, platform=survey.platform)
    elif not survey.decisions and not outcome.left and not survey.unaccounted:
        line = view.say("summary-no-sites", platform=survey.platform)
    else:
        line = view.say("summary-no-safe" if outcome.left else "summary-nothing", platform=survey.platform)
    left = _left(view, outcome)
    return view.ink(line, "bold") + (" " + view.ink(view.say("summary-left", what=left), "bold", "yellow") if left else "")


def _left(view: View, outcome: Outcome) -> str:
    """What remains to be done, so that nobody takes the job for finished: "" where nothing does."""
    review = sum(decision.action is Action.REVIEW for decision in view.survey.decisions)
    broken = sum(skipped.candidate for skipped in (*view.survey.skipped, *outcome.failed))
    counts = {
        "left-count-review": review,
        "left-count-unaccounted": len(view.survey.unaccounted),
        "left-count-edits": len(leading(outcome.left, view.survey)),
        "left-count-skipped": broken,
    }
    return view.say("list-comma").join(view.say(key, n=n) for key, n in counts.items() if n)


def _next(view: View, outcome: Outcome, kept: bool) -> list[str]:
    commands: list[tuple[str, str]] = []
    if outcome.made and outcome.done == "written":
        commands.append(("next-undo", outcome.again("undo")))
    elif outcome.made:
        commands.append(("next-apply", outcome.again("apply")))
    places = [decision.place for decision in view.survey.decisions if decision.action is not Action.KEEP] or [
        decision.place for decision in view.survey.decisions
    ]
    places = places or [one.place for one in view.survey.unaccounted]
    if places:
        commands.append(("next-explain", outcome.again("explain", view.where(places[0]))))
    if kept and not view.verbose and outcome.done != "scanned":
        commands.append(("next-scan", outcome.again("scan")))
    if not view.survey.decisions:
        commands.append(("next-rules", outcome.again("rules")))
    return ["", *(view.say(key, command=view.ink(command, "bold")) for key, command in commands)] if commands else []
