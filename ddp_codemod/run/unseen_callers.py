"""Calls that unseen callers decide, in a project that writes names which nothing is seen to read."""

from __future__ import annotations

from collections.abc import Sequence

from ddp_codemod.impact.at_the_call import for_unseen_callers, is_callers_own
from ddp_codemod.ledger.ledger import unaccounted
from ddp_codemod.policy.findings import Context, Finding
from ddp_codemod.policy.limits import Limits
from ddp_codemod.policy.reported import decisions_of


def with_unseen_callers(context: Context, limits: Limits, findings: list[Finding], asking: Sequence[str]) -> list[Finding]:
    """The findings, of which those that unseen callers decide take no such name; ``asking`` are the rules that change backends."""
    if not asking or not any(map(is_callers_own, findings)):
        return findings
    decided = [made for finding in findings for made in decisions_of(finding)]
    left = [*unaccounted(context, decided, (), (), limits, asking)]
    return for_unseen_callers(context, findings, left, asking[0])
