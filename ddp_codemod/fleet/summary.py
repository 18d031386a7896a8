"""``summary.json`` and ``summary.csv``: the whole run for other programs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

from ddp_codemod.fleet.estimate import Estimate
from ddp_codemod.fleet.model import Outcome
from ddp_codemod.fleet.totals import Totals, add_totals, sort_by_effort
from ddp_codemod.write.clone import strip_credentials

VERSION = 2
COLUMNS = (
    "repository", "platform", "ref", "commit", "state", "detail", "effort", "edits", "files", "review", "not_applied", "notes", "skipped",
    "python_files", "seconds", "memory", "attempts", "folder",
)  # fmt: skip


def state_of(outcome: Outcome) -> str:
    """In one word: "edited", "review", "nothing", or the trouble."""
    if outcome.trouble is not None:
        return outcome.trouble.value
    return "edited" if outcome.edits else "review" if outcome.effort else "nothing"


def encode_row(outcome: Outcome) -> dict[str, Any]:
    """One repository."""
    known = {name: getattr(outcome, name) for name in COLUMNS if name not in ("state", "repository")}
    return {name: known.get(name) for name in COLUMNS} | {
        "repository": strip_credentials(outcome.repository),
        "state": state_of(outcome),
        "seconds": round(outcome.seconds, 3),
    }


def encode_summary(outcomes: Sequence[Outcome], estimate: Estimate | None = None, planned: int | None = None) -> bytes:
    """``summary.json``; the repositories are as on the page."""
    sums = add_totals(outcomes)
    counts = [
        {"framework": framework, "kind": kind, "action": action, "sites": sites}
        for (framework, kind, action), sites in sorted(sums.sites.items())
    ]
    result: dict[str, Any] = {
        "version": VERSION,
        "totals": _encode_sums(sums),
        "troubles": dict(sorted(sums.troubles.items())),
        "sites": counts,
        "planned": len(outcomes) if planned is None else planned,
        "estimate": None if estimate is None else estimate.document(),
        "repositories": [encode_row(outcome) for outcome in sort_by_effort(outcomes)],
    }
    return (json.dumps(result, indent=1) + "\n").encode("ascii")


def _encode_sums(sums: Totals) -> dict[str, Any]:
    names = (
        "repositories", "edited", "review", "failed", "edits", "files", "review_sites", "not_applied", "skipped", "python_files",
    )  # fmt: skip
    return {name: getattr(sums, name) for name in names} | {"seconds": round(sums.seconds, 1)}


def encode_table(outcomes: Sequence[Outcome]) -> bytes:
    """``summary.csv``, for spreadsheets: UTF-8 with a mark, and no cell that a spreadsheet takes for a formula."""
    lines = io.StringIO()
    writer = csv.writer(lines)
    writer.writerow(COLUMNS)
    for outcome in sort_by_effort(outcomes):
        writer.writerow([_escape_cell(value) for value in encode_row(outcome).values()])
    return lines.getvalue().encode("utf-8-sig", "replace")


def _escape_cell(value: object) -> object:
    return "'" + value if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value
