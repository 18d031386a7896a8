"""Calls that unseen callers decide, in a project that writes names which nothing is seen to read."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ddp_codemod.catalog.backends import assess
from ddp_codemod.impact.call_site_fix import fix_for_unseen_callers, is_chosen_by_caller
from ddp_codemod.impact.unfollowed_writes import may_be_written_elsewhere
from ddp_codemod.impact.unseen_stores import list_words_of_read
from ddp_codemod.ledger.coverage_check import find_uncovered_mentions
from ddp_codemod.policy.finding_decisions import decisions_of
from ddp_codemod.policy.findings import Context, Finding
from ddp_codemod.policy.limits import Limits


def apply_unseen_callers(context: Context, limits: Limits, findings: list[Finding], asking: Sequence[str]) -> list[Finding]:
    """The findings, of which those that unseen callers decide take no such name; ``asking`` are the rules that change backends."""
    backends, choice = context.rules.backends, context.platform.backend
    names = [name for name, one in backends.items() if not one.specific and assess(name, choice, backends).wanted]
    if not asking or not any(map(partial(_is_open, context, names), findings)):
        return findings
    decided = [result for finding in findings for result in decisions_of(finding)]
    left = [*find_uncovered_mentions(context, decided, (), (), limits, asking)]
    return fix_for_unseen_callers(context, findings, left, asking[0])


def _is_open(context: Context, names: Sequence[str], finding: Finding) -> bool:
    return is_chosen_by_caller(finding) or bool(list_words_of_read(finding)) or may_be_written_elsewhere(context, finding, names)
