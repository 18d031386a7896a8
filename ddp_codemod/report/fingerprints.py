"""The findings of a survey as other programs count them: each with a mark by which it is known again when its line moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from ddp_codemod.model import Action, Advisory, Applicability, Decision, Edit, Reason, Survey, Uncovered
from ddp_codemod.report.edit_sites import leading_edits

REVIEW = "for-review"  # the rule of sites that no rule speaks of
UNCOVERED = "uncovered"  # the rule of names that nothing else speaks of


class FingerprintedFinding(Struct, frozen=True):
    """One finding. ``mark`` depends on its rule, its file, the text of its line, and how many like it are above it."""

    rule: str
    name: str
    line: int
    reason: Reason
    item: Edit | Decision | Uncovered | Advisory
    mark: str
    sure: Applicability = Applicability.MANUAL


def fingerprint_findings(survey: Survey) -> list[FingerprintedFinding]:
    """What a user or ``apply`` has to do, and the notes."""
    import hashlib  # not in what every run imports
    import json

    seen: Counter[bytes] = Counter()
    texts: dict[tuple[str, str, int], Any] = {}  # thousands of findings may be on one line that is long
    result: list[FingerprintedFinding] = []
    for rule, name, line, reason, item in sorted(_find_all(survey), key=lambda one: (one[1], one[2], one[0])):
        where = (rule, name, line) if line else (rule, reason.key, 0)
        if (begun := texts.get(where)) is None or not line:
            key = json.dumps([rule, name, _find_line_text(survey, name, line) if line else reason.key])
            begun = texts[where] = hashlib.sha256(key.encode())
        made_of = begun.copy()
        seen[begun.digest()] += 1
        made_of.update(str(seen[begun.digest()]).encode())
        mark = made_of.hexdigest()[:32]
        sure = item.applicability if isinstance(item, Edit) else Applicability.MANUAL
        result.append(FingerprintedFinding(rule, name, line, reason, item, mark, sure))
    return result


def _find_all(survey: Survey) -> Iterator[tuple[str, str, int, Reason, Edit | Decision | Uncovered | Advisory]]:
    for edit in leading_edits(survey.edits, survey):
        source = survey.sources.get(edit.name)
        line = source.position(edit.start if edit.anchor is None else edit.anchor)[0] if source else 0
        yield edit.rule, edit.name, line, edit.reason, edit
    for site in survey.decisions:
        if site.action is Action.REVIEW:
            source = survey.sources.get(site.place.name)
            line = source.position(site.place.start)[0] if source else 0
            yield site.rule or REVIEW, site.place.name, line, site.reason, site
    for left in survey.uncovered:
        yield UNCOVERED, left.place.name, left.line, left.reason, left
    for note in survey.advisories:
        yield note.rule, note.name, note.line, note.message, note


def _find_line_text(survey: Survey, name: str, line: int) -> str:
    source = survey.sources.get(name)
    if source is None:
        return ""
    lines = source.file.text.splitlines()
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""
