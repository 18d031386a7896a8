"""The report for reviewdog: rdjson, with the changes as suggestions.

https://github.com/reviewdog/reviewdog/tree/master/proto/rdf
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ddp_codemod.edits.blocks import Block, build_blocks, split_lines
from ddp_codemod.messages import render, text
from ddp_codemod.model import Action, Edit, Place, Skipped, Source
from ddp_codemod.report.ascii_json import encode_json
from ddp_codemod.report.proposals import Proposal, make_proposals, position_of
from ddp_codemod.report.sarif import REVIEW, UNCOVERED, Scope


def dumps(scope: Scope, failed: Iterable[Edit] = (), unmade: Iterable[Skipped] = ()) -> bytes:
    """The document as bytes, ASCII only."""
    survey = scope.survey
    found: list[dict[str, Any]] = []
    result = make_proposals(survey, failed)
    counting = [proposal for proposal in result if scope.counts(proposal.unit.applicability)]
    found += _encode_proposals(scope, counting, "WARNING")
    found += _encode_proposals(scope, [proposal for proposal in result if not scope.counts(proposal.unit.applicability)], "INFO")
    for decision in survey.decisions:
        if decision.action is Action.REVIEW:
            message = render(decision.reason, scope.lang)
            found.append(_encode_entry(scope, message, _encode_place(scope, decision.place), "INFO", decision.rule or REVIEW))
    for left in survey.uncovered:
        found.append(_encode_entry(scope, render(left.reason, scope.lang), _encode_place(scope, left.place), "INFO", UNCOVERED))
    for advisory in survey.advisories:
        if advisory.line:  # reviewdog has no place for a note about the whole project
            place = {"path": scope.path(advisory.name), "range": {"start": {"line": advisory.line}}}
            found.append(_encode_entry(scope, render(advisory.message, scope.lang), place, "INFO", advisory.rule))
    for skipped in (*survey.skipped, *unmade):
        severity = "WARNING" if skipped.candidate else "INFO"
        found.append(
            _encode_entry(scope, render(skipped.reason, scope.lang), {"path": scope.path(skipped.name)}, severity, "skipped")
        )
    found.sort(key=lambda entry: (entry["location"]["path"], entry["location"].get("range", {}).get("start", {}).get("line", 0)))
    document = {"source": {"name": "ddp-codemod"}, "severity": "WARNING", "diagnostics": found}
    return encode_json(document)


def _encode_proposals(scope: Scope, found: list[Proposal], severity: str) -> Iterator[dict[str, Any]]:
    """One entry for each stretch of lines: reviewdog takes a suggestion only for the lines that the entry is about, and one.

    Changes of different units on one line are one suggestion.
    """
    places: dict[int, list[str]] = {}  # for each edit, the places of its units
    files: dict[str, list[Edit]] = {}
    for proposal in found:
        lead = proposal.unit.lead
        if not proposal.blocks:
            reason = render(lead.reason, scope.lang)
            yield _encode_entry(scope, reason, _encode_place(scope, proposal.place), severity, lead.rule)
            continue
        line, _ = position_of(scope.survey.sources[lead.name], proposal.place.start)
        for edit in proposal.unit.edits:
            if len(proposal.blocks) > 1:
                places.setdefault(id(edit), []).append(f"{scope.path(lead.name)}:{line}")
            files.setdefault(edit.name, []).append(edit)
    for name, edits in files.items():
        source = scope.survey.sources[name]
        for block in build_blocks(source, edits):
            message = " ".join(dict.fromkeys(render(edit.reason, scope.lang) for edit in block.edits))
            if together := list(dict.fromkeys(place for edit in block.edits for place in places.get(id(edit), ()))):
                message += " " + text("rdjson-together", scope.lang, lead=", ".join(together))
            where, suggestion = _encode_suggestion(block)
            entry = _encode_entry(scope, message, {"path": scope.path(name), "range": where}, severity, block.edits[0].rule)
            yield {**entry, "suggestions": [suggestion]}


def _encode_suggestion(block: Block) -> tuple[dict[str, Any], dict[str, Any]]:
    """Whole lines: a range without columns, and their new text without the last line's ending.

    An insertion takes in the line that it comes before, since a range has at least one line.
    """
    text, start, end = block.source.file.text, block.start, block.end
    new = block.new(block.edits)
    if start == end:
        if start < len(text):
            end = start + len(split_lines(text[start:])[0])
            new += text[start:end]
        else:
            start = text.rfind("\n", 0, max(start - 1, 0)) + 1
            new = text[start:end] + new
    first = text.count("\n", 0, start) + 1
    where = {"start": {"line": first}, "end": {"line": first + max(len(split_lines(text[start:end])), 1) - 1}}
    return where, {"range": where, "text": new.removesuffix("\n").removesuffix("\r")}


def _encode_entry(scope: Scope, message: str, location: dict[str, Any], severity: str, code: str) -> dict[str, Any]:
    fix = scope.rules.rule(code)
    named = {"value": code, **({"url": fix.source[0]} if fix else {})}
    return {"message": message, "location": location, "severity": severity, "code": named}


def _encode_place(scope: Scope, place: Place) -> dict[str, Any]:
    source = scope.source(place.name)
    if source is None:
        return {"path": scope.path(place.name)}
    return {
        "path": scope.path(place.name),
        "range": {"start": _encode_position(source, place.start), "end": _encode_position(source, place.end)},
    }


def _encode_position(source: Source, offset: int) -> dict[str, int]:
    """Columns are bytes of UTF-8, from 1."""
    line, column = position_of(source, offset)
    start = source.file.line_starts[line - 1]
    return {"line": line, "column": len(source.file.text[start : start + column - 1].encode("utf-8", "surrogatepass")) + 1}
