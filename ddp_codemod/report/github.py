"""The report for GitHub Actions: a workflow command a line, which GitHub shows at its place in a pull request.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ddp_codemod.messages import render, text
from ddp_codemod.model import Action, Edit, Place, Skipped
from ddp_codemod.report.escaping import escape_controls
from ddp_codemod.report.proposals import Proposal, make_proposals, position_of, shorten_block
from ddp_codemod.report.sarif import REVIEW, UNCOVERED, Scope


def dumps(scope: Scope, failed: Iterable[Edit] = (), unmade: Iterable[Skipped] = ()) -> bytes:
    """The commands as UTF-8, the ones that count first: GitHub shows only ten of a kind for each step."""
    survey = scope.survey
    lines = [_format_proposal(scope, proposal) for proposal in make_proposals(survey, failed)]
    for decision in survey.decisions:
        if decision.action is Action.REVIEW:
            title = f"{decision.rule or REVIEW} ({text('action-review', scope.lang)})"
            lines.append(
                _format_command("notice", _locate_place(scope, decision.place), title, render(decision.reason, scope.lang))
            )
    for left in survey.uncovered:
        lines.append(_format_command("notice", _locate_place(scope, left.place), UNCOVERED, render(left.reason, scope.lang)))
    for advisory in survey.advisories:
        where = {"file": scope.path(advisory.name), "line": str(advisory.line)} if advisory.line else {}
        lines.append(_format_command("notice", where, advisory.rule, render(advisory.message, scope.lang)))
    for skipped in (*survey.skipped, *unmade):
        kind = "warning" if skipped.candidate else "notice"
        title = text("machine-skipped", scope.lang)
        lines.append(_format_command(kind, {"file": scope.path(skipped.name)}, title, render(skipped.reason, scope.lang)))
    lines.sort(key=lambda line: not line.startswith("::warning"))
    return "".join(line + "\n" for line in lines).encode("utf-8", "replace")


def _format_proposal(scope: Scope, proposal: Proposal) -> str:
    unit = proposal.unit
    message = "\n".join([render(unit.lead.reason, scope.lang), *_format_diff(proposal)])
    title = f"{unit.lead.rule} ({text(f'applicability-{unit.applicability.value}', scope.lang)})"
    return _format_command(
        "warning" if scope.counts(unit.applicability) else "notice", _locate_place(scope, proposal.place), title, message
    )


def _format_diff(proposal: Proposal) -> Iterator[str]:
    for block in proposal.blocks:
        if block.source.name == proposal.unit.lead.name:
            old, new = shorten_block(block)
            yield from (f"-{line}" for line in old.splitlines())
            yield from (f"+{line}" for line in new.splitlines())


def _locate_place(scope: Scope, place: Place) -> dict[str, str]:
    where = {"file": scope.path(place.name)}
    source = scope.source(place.name)
    if source is None:
        return where
    (line, column), (end_line, end_column) = position_of(source, place.start), position_of(source, place.end)
    where |= {"line": str(line), "endLine": str(end_line)}
    if line == end_line:  # GitHub takes columns for one line only
        where |= {"col": str(column), "endColumn": str(max(end_column - 1, column))}
    return where


def _format_command(kind: str, where: dict[str, str], title: str, message: str) -> str:
    properties = ",".join(
        f"{name}={_escape_property(value)}" for name, value in {**where, "title": f"ddp-codemod: {title}"}.items()
    )
    return f"::{kind} {properties}::{_escape_data(message)}"


def _escape_data(value: str) -> str:
    return escape_controls(value).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(value: str) -> str:
    return _escape_data(value).replace(":", "%3A").replace(",", "%2C")
