"""The report for code scanning: SARIF 2.1.0, with the changes as fixes.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import quote

from msgspec import Struct

from ddp_codemod import __version__
from ddp_codemod.catalog.load import Rules
from ddp_codemod.edits.lines import LONGEST
from ddp_codemod.messages import in_language, render, text
from ddp_codemod.model import Action, Advisory, Applicability, Decision, Edit, Origin, Place, Skipped, Source, Survey, Uncovered
from ddp_codemod.report.ascii_json import encode_json
from ddp_codemod.report.edit_sites import TOLD
from ddp_codemod.report.proposals import Proposal, make_proposals, position_of, shrink_replacement

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
REVIEW = "for-review"  # the rule of sites that no rule speaks of
UNCOVERED = "uncovered"  # the rule of names that nothing else speaks of
BASE = "%SRCROOT%"
Starts = dict[int, dict[tuple[str, int], Origin]]  # of sites whose value starts in very many places: the starts by their places


class Scope(Struct, frozen=True):
    """What a document is made with: ``prefix`` leads from the top of the repository to the root, "" or ending in a slash."""

    survey: Survey
    rules: Rules
    lang: str = "en"
    prefix: str = ""
    unsafe: bool = False  # whether unsafe edits count

    def source(self, name: str) -> Source | None:
        """A file of the survey."""
        return self.survey.sources.get(name)

    def counts(self, applicability: Applicability) -> bool:
        """Whether ``apply`` with the same options would make an edit."""
        return applicability is Applicability.SAFE or (self.unsafe and applicability is Applicability.UNSAFE)

    def path(self, name: str) -> str:
        """A file's name from the top of the repository."""
        return self.prefix + name


def dumps(scope: Scope, failed: Iterable[Edit] = (), unmade: Iterable[Skipped] = ()) -> bytes:
    """The document as bytes, ASCII only. ``failed`` edits get no fix; ``unmade`` says why."""
    survey = scope.survey
    starts: Starts = {}
    results = [_encode_proposal(scope, proposal, starts) for proposal in make_proposals(survey, failed)]
    results += [_encode_review(scope, decision) for decision in survey.decisions if decision.action is Action.REVIEW]
    results += [_encode_uncovered(scope, left) for left in survey.uncovered]
    results += [_encode_note(scope, advisory) for advisory in survey.advisories if advisory.line]
    results.sort(key=_sort_key)
    ids = list(dict.fromkeys(result["ruleId"] for result in results))
    seen: dict[str, int] = {}
    for result in results:
        result["ruleIndex"] = ids.index(result["ruleId"])
        known = _make_fingerprint(result)
        seen[known] = seen.get(known, 0) + 1
        result["partialFingerprints"] = {
            "ddpCodemod/v1": hashlib.sha256(f"{known}{seen[known]}".encode("ascii")).hexdigest()[:32]
        }
    notifications = [_encode_project_note(scope, advisory) for advisory in survey.advisories if not advisory.line]
    notifications += [_encode_skipped(scope, skipped) for skipped in (*survey.skipped, *unmade)]
    run = {
        "tool": {"driver": _encode_driver(scope, ids)},
        "columnKind": "unicodeCodePoints",
        "newlineSequences": ["\r\n", "\n"],
        "originalUriBaseIds": {BASE: {"description": {"text": text("sarif-base", scope.lang)}}},
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notifications}],
        "results": results,
        "properties": {"platform": survey.platform},
    }
    return encode_json({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _encode_driver(scope: Scope, ids: list[str]) -> dict[str, Any]:
    return {"name": "ddp-codemod", "semanticVersion": __version__, "rules": [_encode_rule(scope, ident) for ident in ids]}


def _encode_rule(scope: Scope, ident: str) -> dict[str, Any]:
    lang, fix = scope.lang, scope.rules.rule(ident)
    if fix is not None:
        body = in_language(fix, "text", lang).strip()
        links = "\n".join(f"- <{source}>" for source in fix.source)
        return {
            "id": ident,
            "shortDescription": {"text": in_language(fix, "title", lang)},
            "fullDescription": {"text": body},
            "help": {"text": body, "markdown": f"{body}\n\n{links}"},
            "helpUri": fix.source[0],
            "defaultConfiguration": {"level": "warning"},
        }
    return {"id": ident, "shortDescription": {"text": text("sarif-other-rule", lang)}, "defaultConfiguration": {"level": "note"}}


def _encode_proposal(scope: Scope, proposal: Proposal, starts: Starts) -> dict[str, Any]:
    unit = proposal.unit
    result: dict[str, Any] = {
        "ruleId": unit.lead.rule,
        "level": "warning" if scope.counts(unit.applicability) else "note",
        "message": {"text": render(unit.lead.reason, scope.lang)},
        "locations": [_encode_location(scope, proposal.place)],
        "properties": {"applicability": unit.applicability.value, "platform": scope.survey.platform},
    }
    if calls := [site.call for site in proposal.sites[:TOLD] if site.call != proposal.place]:
        result["relatedLocations"] = [
            _encode_location(scope, call, text("sarif-call", scope.lang)) for call in dict.fromkeys(calls)
        ]
    if flows := [_encode_code_flow(scope, site, _select_origins(site, proposal.place, starts)) for site in proposal.sites[:TOLD]]:
        result["codeFlows"] = flows
    if proposal.blocks:
        result["fixes"] = [_encode_fix(scope, proposal)]
    return result


def _encode_fix(scope: Scope, proposal: Proposal) -> dict[str, Any]:
    changes: dict[str, list[dict[str, Any]]] = {}
    for block in proposal.blocks:
        replacement = shrink_replacement(block)
        entry = {
            "deletedRegion": _encode_region(block.source.file, replacement.start, replacement.end),
            "insertedContent": {"text": replacement.text},
        }
        changes.setdefault(block.source.name, []).append(entry)
    files = [{"artifactLocation": _encode_artifact(scope, name), "replacements": entries} for name, entries in changes.items()]
    return {"description": {"text": text("sarif-fix", scope.lang, platform=scope.survey.platform)}, "artifactChanges": files}


def _select_origins(site: Decision, place: Place, known: Starts) -> Sequence[Origin]:
    """Where the value of a site starts; where that is in very many places, the one that a change is about before some others."""
    if len(site.origins) <= TOLD:
        return site.origins
    if id(site) not in known:
        known[id(site)] = {(origin.place.name, origin.place.start): origin for origin in reversed(site.origins)}
    own = known[id(site)].get((place.name, place.start))
    first = [origin for origin in site.origins[:TOLD] if origin is not own]
    return [own, *first[: TOLD - 1]] if own is not None else first


def _encode_code_flow(scope: Scope, site: Decision, starts: Sequence[Origin]) -> dict[str, Any]:
    """From where the value starts to the call."""
    steps: list[dict[str, Any]] = []
    for origin in starts:
        steps.append(_encode_location(scope, origin.place, text(f"origin-{origin.kind}", scope.lang)))
    steps += [_encode_location(scope, step.place, render(step.reason, scope.lang)) for step in reversed(site.steps[:TOLD])]
    steps.append(_encode_location(scope, site.call, text("sarif-call", scope.lang)))
    return {"threadFlows": [{"locations": [{"location": step} for step in steps]}]}


def _encode_review(scope: Scope, site: Decision) -> dict[str, Any]:
    return {
        "ruleId": site.rule or REVIEW,
        "level": "note",
        "message": {"text": render(site.reason, scope.lang)},
        "locations": [_encode_location(scope, site.place)],
        "codeFlows": [_encode_code_flow(scope, site, site.origins[:TOLD])],
        "properties": {"applicability": "manual", "platform": scope.survey.platform},
    }


def _encode_uncovered(scope: Scope, left: Uncovered) -> dict[str, Any]:
    message = {"text": render(left.reason, scope.lang)}
    return {"ruleId": UNCOVERED, "level": "note", "message": message, "locations": [_encode_location(scope, left.place)]}


def _encode_note(scope: Scope, advisory: Advisory) -> dict[str, Any]:
    place = {
        "physicalLocation": {"artifactLocation": _encode_artifact(scope, advisory.name), "region": {"startLine": advisory.line}}
    }
    message = {"text": render(advisory.message, scope.lang)}
    return {"ruleId": advisory.rule, "level": "note", "message": message, "locations": [place]}


def _encode_project_note(scope: Scope, advisory: Advisory) -> dict[str, Any]:
    return {"level": "note", "message": {"text": f"{advisory.rule}: {render(advisory.message, scope.lang)}"}}


def _encode_skipped(scope: Scope, skipped: Skipped) -> dict[str, Any]:
    place = {"physicalLocation": {"artifactLocation": _encode_artifact(scope, skipped.name)}}
    level = "warning" if skipped.candidate else "note"
    return {"level": level, "message": {"text": render(skipped.reason, scope.lang)}, "locations": [place]}


def _encode_location(scope: Scope, place: Place, message: str = "") -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": _encode_artifact(scope, place.name)}
    source = scope.source(place.name)
    if source is not None:
        physical["region"] = _encode_region(source, place.start, place.end)
        if place.end - place.start <= LONGEST:
            physical["region"]["snippet"] = {"text": source.text[place.start : place.end]}
    return {"physicalLocation": physical, **({"message": {"text": message}} if message else {})}


def _encode_region(source: Source, start: int, end: int) -> dict[str, Any]:
    (line, column), (end_line, end_column) = position_of(source, start), position_of(source, end)
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


def _encode_artifact(scope: Scope, name: str) -> dict[str, str]:
    raw = os.fsencode(scope.path(name)) if os.name != "nt" else scope.path(name).encode("utf-8", "surrogateescape")
    return {"uri": quote(raw, safe="/-._~"), "uriBaseId": BASE}


def _sort_key(result: dict[str, Any]) -> tuple[str, int, int, str]:
    place = result["locations"][0]["physicalLocation"]
    region = place.get("region", {})
    return place["artifactLocation"]["uri"], region.get("startLine", 0), region.get("startColumn", 0), json.dumps(result)


def _make_fingerprint(result: dict[str, Any]) -> str:
    """What a result is known by when its line moves: code scanning tells old results from new ones by it."""
    place = result["locations"][0]["physicalLocation"]
    snippet = place.get("region", {}).get("snippet", {}).get("text", "")
    return json.dumps([result["ruleId"], place["artifactLocation"]["uri"], snippet])
