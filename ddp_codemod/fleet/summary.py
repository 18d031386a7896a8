"""``summary.json`` and ``summary.csv``: the whole run for other programs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

from ddp_codemod.fleet.estimate import Estimate
from ddp_codemod.fleet.model import Outcome
from ddp_codemod.fleet.totals import Totals, by_effort, totals
from ddp_codemod.write.clone import without_secret

VERSION = 2
COLUMNS = (
    "repository", "platform", "ref", "commit", "state", "detail", "effort", "edits", "files", "review", "not_applied", "notes", "skipped",
    "python_files", "seconds", "memory", "attempts", "folder",
)  # fmt: skip


def state(outcome: Outcome) -> str:
    """In one word: "edited", "review", "nothing", or the trouble."""
    if outcome.trouble is not None:
        return outcome.trouble.value
    return "edited" if outcome.edits else "review" if outcome.effort else "nothing"


def row(outcome: Outcome) -> dict[str, Any]:
    """One repository."""
    known = {name: getattr(outcome, name) for name in COLUMNS if name not in ("state", "repository")}
    return {name: known.get(name) for name in COLUMNS} | {
        "repository": without_secret(outcome.repository),
        "state": state(outcome),
        "seconds": round(outcome.seconds, 3),
    }


def document(outcomes: Sequence[Outcome], estimate: Estimate | None = None, planned: int | None = None) -> bytes:
    """``summary.json``; the repositories stand as on the page."""
    sums = totals(outcomes)
    counts = [
        {"framework": framework, "kind": kind, "action": action, "sites": sites}
        for (framework, kind, action), sites in sorted(sums.sites.items())
    ]
    made: dict[str, Any] = {
        "version": VERSION,
        "totals": _sums(sums),
        "troubles": dict(sorted(sums.troubles.items())),
        "sites": counts,
        "planned": len(outcomes) if planned is None else planned,
        "estimate": None if estimate is None else estimate.document(),
        "repositories": [row(outcome) for outcome in by_effort(outcomes)],
    }
    return (json.dumps(made, indent=1) + "\n").encode("ascii")


def _sums(sums: Totals) -> dict[str, Any]:
    names = (
        "repositories", "edited", "review", "failed", "edits", "files", "review_sites", "not_applied", "skipped", "python_files",
    )  # fmt: skip
    return {name: getattr(sums, name) for name in names} | {"seconds": round(sums.seconds, 1)}


def table(outcomes: Sequence[Outcome]) -> bytes:
    """``summary.csv``, for spreadsheets: UTF-8 with a mark, and no cell that a spreadsheet takes for a formula."""
    lines = io.StringIO()
    writer = csv.writer(lines)
    writer.writerow(COLUMNS)
    for outcome in by_effort(outcomes):
        writer.writerow([_cell(value) for value in row(outcome).values()])
    return lines.getvalue().encode("utf-8-sig", "replace")


def _cell(value: object) -> object:
    return "'" + value if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value
