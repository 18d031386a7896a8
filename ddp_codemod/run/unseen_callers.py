"""Calls that unseen callers decide, in a project that writes names which nothing is seen to read."""

from __future__ import annotations

from collections.abc import Sequence

from ddp_codemod.impact.call_site_fix import fix_for_unseen_callers, is_chosen_by_caller
from ddp_codemod.ledger.coverage_check import find_uncovered_mentions
from ddp_codemod.policy.finding_decisions import decisions_of
from ddp_codemod.policy.findings import Context, Finding
from ddp_codemod.policy.limits import Limits


def apply_unseen_callers(context: Context, limits: Limits, findings: list[Finding], asking: Sequence[str]) -> list[Finding]:
    """The findings, of which those that unseen callers decide take no such name; ``asking`` are the rules that change backends."""
    if not asking or not any(map(is_chosen_by_caller, findings)):
        return findings
    decided = [result for finding in findings for result in decisions_of(finding)]
    left = [*find_uncovered_mentions(context, decided, (), (), limits, asking)]
    return fix_for_unseen_callers(context, findings, left, asking[0])
