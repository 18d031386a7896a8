"""One unit as a reviewer sees it in a terminal: what, why, the way from the call to the value, and its diff."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ddp_codemod.edits.units import Unit
from ddp_codemod.model import Action, Applicability, Decision, FileChange
from ddp_codemod.report import text
from ddp_codemod.report.edit_sites import TOLD, sites_of_edits
from ddp_codemod.report.escaping import escape_controls
from ddp_codemod.report.fixes import format_fixes
from ddp_codemod.report.outcome import Outcome
from ddp_codemod.report.summary import format_commands
from ddp_codemod.report.view import View

_COLOURS = {Applicability.SAFE: "green", Applicability.UNSAFE: "yellow", Applicability.MANUAL: "red"}


def format_unit(view: View, shown: Unit, total: int, changes: Sequence[FileChange], parts: Mapping[str, bytes]) -> list[str]:
    """The lines for one unit. ``changes`` and ``parts`` are what it alone does to its files."""
    sure = shown.applicability
    where = view.at(shown.lead.name, view.edit_line(shown.lead))
    head = view.say("review-head", number=shown.number, total=total)
    block = [
        view.ink(f"{head}  {where}", "bold") + f"  {shown.lead.rule}  ",
        *view.folded(view.reason(shown.lead.reason), 2, 2),
    ]
    block[0] += view.ink(view.say(f"applicability-{sure.value}"), _COLOURS[sure])
    for site in sites_of_unit(view, shown)[:TOLD]:
        block += format_trace(view, site)
    others = [edit for edit in shown.edits if edit is not shown.lead]
    if others:
        block.append("  " + view.say("review-together", n=len(others)))
        for edit in others:
            block += view.folded(f"{view.at(edit.name, view.edit_line(edit))}  {view.reason(edit.reason)}", 4, 6)
    block.append("")
    for change in changes:
        source = view.survey.sources.get(change.name)
        encoding = source.file.encoding.removesuffix("-sig") if source else "utf-8"
        diff = parts[change.name].decode(encoding, "backslashreplace").replace("\r\n", "\n")
        block.append(view.ink.diff(escape_controls(diff.rstrip("\n"))))
    return block


def format_closing(view: View, outcome: Outcome, undecided: int, total: int) -> list[str]:
    """What became of a review, and what to type next."""
    result = outcome.made
    block = []
    if result:
        counts = {
            "fixes": format_fixes(view, result),
            "files": len({edit.name for edit in result}),
            "platform": view.survey.platform,
        }
        block.append(view.ink(view.say("summary-written", **counts), "bold"))
    else:
        block.append(view.ink(view.say("review-nothing" if total else "summary-nothing", platform=view.survey.platform), "bold"))
    if undecided:
        block.append(view.say("review-undecided", n=undecided))
    block += text.format_reviews(view, [site for site in view.survey.decisions if site.action is Action.REVIEW])
    block += text.format_uncovered(view, view.survey.uncovered)
    block += text.format_manual(view, [edit for edit in view.survey.edits if edit.applicability is Applicability.MANUAL])
    block += text.format_advisories(view, view.survey.advisories)
    block += text.format_skipped(view, (*view.survey.skipped, *outcome.failed))
    if result:
        block += ["", *format_commands(view, [(view.say("next-undo"), outcome.again("undo"))])]
    return block


def sites_of_unit(view: View, shown: Unit) -> list[Decision]:
    """The sites that a unit is made for."""
    return sites_of_edits((shown.lead, *shown.edits), view.survey)


def format_trace(view: View, site: Decision) -> list[str]:
    """From a call to where its value starts."""
    block = ["  " + view.say("explain-call", where=view.where(site.call), call=escape_controls(view.source_text(site.call)))]
    for step in site.steps[:TOLD]:
        block.append(f"    {view.where(step.place)}  {view.reason(step.reason)}")
    for origin in site.origins[:TOLD]:
        if origin.place != site.place or site.steps:
            block.append("  " + view.say("explain-origin", origin=escape_controls(view.origin(origin))))
    if (left := max(len(site.steps), len(site.origins)) - TOLD) > 0:
        block.append("  " + view.say("way-rest", n=left))
    return [*block, f"  {outcome}"] if (outcome := view.outcome(site)) else block
