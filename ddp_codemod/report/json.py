"""The report for programs: version 3 of the document that schema.json describes."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

from ddp_codemod.edits.lines import preview_lines
from ddp_codemod.messages import render
from ddp_codemod.model import Advisory, Decision, Edit, Place, Skipped, Survey, Uncovered
from ddp_codemod.report.ascii_json import encode_json
from ddp_codemod.report.view import shorten_text

VERSION = 3
SCHEMA = Path(__file__).with_name("schema.json")


def dumps(
    survey: Survey,
    lang: str,
    edits: Iterable[Edit] | None = None,
    applied: Collection[Edit] = (),
    failed: Iterable[Skipped] = (),
) -> bytes:
    """The document as bytes, ASCII only: the same on every console.

    ``edits`` stand for the survey's own where recipes were rendered; ``applied`` are those that were written.
    """
    shown = survey.edits if edits is None else edits
    document = {
        "version": VERSION,
        "platform": survey.platform,
        "sites": _sort_entries(_encode_site(survey, decision, lang) for decision in survey.decisions),
        "edits": _sort_entries(_encode_edit(survey, edit, lang, edit in applied) for edit in shown),
        "advisories": _sort_entries(_encode_advisory(advisory, lang) for advisory in survey.advisories),
        "uncovered": _sort_entries(_encode_uncovered(survey, left, lang) for left in survey.uncovered),
        "unfollowed": _sort_entries(_encode_unfollowed(survey, place) for place in survey.unfollowed),
        "skipped": _sort_entries(_encode_skipped(skipped, lang) for skipped in (*survey.skipped, *failed)),
    }
    return encode_json(document)


def _sort_entries(entries: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    result = sorted(entries, key=_sort_key)
    alike = [
        list(group) for _, group in groupby(result, _sort_key)
    ]  # only what is at one place is told apart by all that it says
    return [entry for group in alike for entry in (sorted(group, key=json.dumps) if len(group) > 1 else group)]


def _sort_key(entry: dict[str, Any]) -> tuple[str, int, int]:
    return entry["path"], entry.get("line", 0), entry.get("column", 0)


def _encode_site(survey: Survey, decision: Decision, lang: str) -> dict[str, Any]:
    line, column = _find_position(survey, decision.place, decision.place.start)
    end_line, end_column = _find_position(survey, decision.place, decision.place.end)
    return {
        "path": decision.place.name,
        "line": line,
        "column": column,
        "end_line": end_line,
        "end_column": end_column,
        "surface": decision.surface,
        "parameter": decision.parameter,
        "value": decision.value,
        "resolves_to": list(decision.resolves_to),
        "origins": [_encode_origin(survey, origin.place, origin.kind.value) for origin in decision.origins],
        "action": decision.action.value,
        "applicability": decision.applicability.value,
        "rule": decision.rule,
        "reason": render(decision.reason, lang),
    }


def _encode_origin(survey: Survey, place: Place, kind: str) -> dict[str, Any]:
    line, column = _find_position(survey, place, place.start)
    source = survey.sources.get(place.name)
    return {
        "path": place.name,
        "line": line,
        "column": column,
        "kind": kind,
        "value": shorten_text(source.text[place.start : place.end]) if source else "",
    }


def _encode_edit(survey: Survey, edit: Edit, lang: str, applied: bool) -> dict[str, Any]:
    preview = preview_lines(survey.sources[edit.name], edit)
    return {
        "path": edit.name,
        "line": preview.line,
        "end_line": preview.end_line,
        "rule": edit.rule,
        "applicability": edit.applicability.value,
        "applied": applied,
        "before": preview.before,
        "after": preview.after,
        **({"truncated": True} if preview.cut else {}),
        "reason": render(edit.reason, lang),
    }


def _encode_advisory(advisory: Advisory, lang: str) -> dict[str, Any]:
    return {"path": advisory.name, "line": advisory.line, "rule": advisory.rule, "message": render(advisory.message, lang)}


def _encode_uncovered(survey: Survey, left: Uncovered, lang: str) -> dict[str, Any]:
    end_line, _ = _find_position(survey, left.place, left.place.end)
    return {
        "path": left.place.name,
        "line": left.line,
        "end_line": end_line,
        "text": left.text,
        "reason": render(left.reason, lang),
    }


def _encode_unfollowed(survey: Survey, place: Place) -> dict[str, Any]:
    return {"path": place.name, "line": _find_position(survey, place, place.start)[0]}


def _encode_skipped(skipped: Skipped, lang: str) -> dict[str, Any]:
    return {"path": skipped.name, "reason": render(skipped.reason, lang)}


def _find_position(survey: Survey, place: Place, offset: int) -> tuple[int, int]:
    source = survey.sources.get(place.name)
    return source.position(offset) if source else (0, 0)
