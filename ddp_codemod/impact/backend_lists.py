"""Assertions that list the backends which a group may have: they take the new one, ``assert backend in ["gloo", "nccl", "hccl"]``."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ddp_codemod.dataflow.values import ValueSet
from ddp_codemod.impact.backend_name_checks import find_failing_assertions
from ddp_codemod.impact.changed_backends import is_backend_finding
from ddp_codemod.kinds import Meaning
from ddp_codemod.model import Action, Applicability, Reason
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.findings import Context, Finding, Insertions
from ddp_codemod.sites.surface_calls import Use


def widen_asserted_lists(context: Context, findings: Sequence[Finding]) -> list[Finding]:
    """A finding for each list of backends, and each one backend, whose assertion would end the program with the new one.

    It is as safe as the edits that give the group the new name: without it they would end the program.
    """
    edits = [one for one in findings if one.action is Action.EDIT and is_backend_finding(one)]
    if not edits:
        return []
    of = next((one for one in edits if one.applicability is not Applicability.SAFE), edits[0])
    return [
        _make_finding(of, module, compare, replacements, old, new)
        for module, compare, old, new in find_failing_assertions(context, findings)
        if isinstance(compare.ops[0], ast.In)
        or context.rules.backends[new].specific  # else the code may need what the old one has
        if (replacements := _admit(module, compare, old, new))
    ]


def _admit(module: Module, compare: ast.Compare, old: str, new: str) -> tuple[tuple[int, int, str], ...]:
    """What lets a comparison hold for the new name too, where it names the old one as a text; else nothing."""
    right = compare.comparators[0]
    listed = right.elts if isinstance(right, (ast.List, ast.Tuple, ast.Set)) else [right]
    named = [one for one in listed if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    if len(named) < len(listed) or old not in {str(one.value).lower() for one in named}:
        return ()
    end, quote = module.place(named[-1]).end, module.text(named[-1])[-1]
    other = f", {quote}{new}{quote}"
    if isinstance(compare.ops[0], ast.In):
        return ((end, end, other),)
    left = module.place(compare.left).end
    return ((left, end, f" in ({module.text(right)}{other})"),) if isinstance(compare.ops[0], ast.Eq) else ()


def _make_finding(
    of: Finding, module: Module, compare: ast.Compare, replacements: tuple[tuple[int, int, str], ...], old: str, new: str
) -> Finding:
    change = Insertions(module, compare, replacements)
    reason = Reason.of("edit-asserted", Meaning.CHOICES, old=old, new=new)
    use = Use(module, compare, of.use.surface)  # type: ignore[arg-type]
    return Finding(use, of.parameter, compare, ValueSet(), (), Action.EDIT, of.applicability, of.rule, reason, (change,))
