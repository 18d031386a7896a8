"""Adds up outcomes, for the progress line, the summary files and the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ddp_codemod.fleet.model import Outcome


@dataclass
class Totals:
    """The sums over the repositories so far."""

    repositories: int = 0
    edited: int = 0  # repositories with at least one edit
    review: int = 0  # repositories that need review
    failed: int = 0
    kept: int = 0  # by an earlier run
    edits: int = 0
    files: int = 0
    review_sites: int = 0
    not_applied: int = 0
    skipped: int = 0
    python_files: int = 0
    seconds: float = 0.0
    troubles: Counter[str] = field(default_factory=Counter)
    sites: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    def add(self, outcome: Outcome, kept: bool = False) -> None:
        """Count one more."""
        self.repositories += 1
        self.kept += kept
        self.seconds += outcome.seconds
        if outcome.trouble is not None:
            self.failed += 1
            self.troubles[outcome.trouble.value] += 1
            return
        self.edited += outcome.edits > 0
        self.review += outcome.effort > 0
        self.edits += outcome.edits
        self.files += outcome.files
        self.review_sites += outcome.review
        self.not_applied += outcome.not_applied
        self.skipped += outcome.skipped
        self.python_files += outcome.python_files
        for count in outcome.sites:
            self.sites[count.framework, count.kind, count.action] += count.sites


def add_totals(outcomes: Iterable[Outcome]) -> Totals:
    """The sums over all of them."""
    result = Totals()
    for outcome in outcomes:
        result.add(outcome)
    return result


def sort_by_effort(outcomes: Iterable[Outcome]) -> Sequence[Outcome]:
    """Failures first, then the repositories that take most places to look at, then those with most edits."""
    return sorted(
        outcomes, key=lambda one: (one.trouble is None, -one.effort, -one.edits, one.repository, one.platform, one.ref or "")
    )
