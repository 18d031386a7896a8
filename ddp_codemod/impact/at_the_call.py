"""Backends whose name chooses more than the group: the call gets another one, and what gives the name stays as it is."""

from __future__ import annotations

import ast

from msgspec.structs import replace

from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.leaves import Leaf
from ddp_codemod.impact.backend_names import Harmed
from ddp_codemod.kinds import OriginKind
from ddp_codemod.model import Reason
from ddp_codemod.policy.findings import Finding, NewText
from ddp_codemod.policy.left_out import unsafe
from ddp_codemod.sites.find import Use

# What a person gives, who would not be heard any more.
_GIVEN = frozenset(
    {
        OriginKind.OPTION_DEFAULT,
        OriginKind.FIELD_DEFAULT,
        OriginKind.ENVIRONMENT_DEFAULT,
        OriginKind.CONFIG_KEY,
        OriginKind.COMMAND_LINE,
        OriginKind.LAUNCH,
        OriginKind.LAUNCH_VARIABLE,
    }
)


def without_harm(finding: Finding, number: int, harm: Harmed) -> Finding:
    """The finding so that it does no harm elsewhere: with its change at the call, or unsafe."""
    if number in harm.moved or number in harm.unset:
        moved = at_the_call(finding)
        return moved or (unsafe(finding) if number in harm.moved else finding)
    return unsafe(finding) if number in harm.ended else finding


def at_the_call(finding: Finding) -> Finding | None:
    """The finding with its change at the argument of the call; None where the call may be given something else too."""
    argument, changes = finding.argument, finding.changes
    texts = {change.text for change in changes if isinstance(change, NewText)}
    if not isinstance(finding.use, Use) or not isinstance(argument, ast.expr) or len(texts) != 1:
        return None
    (text,) = texts
    changed = {id(change.leaf.node) for change in changes if isinstance(change, NewText)}
    others = [leaf for leaf in finding.possible if id(leaf.node) not in changed]
    alike = all(isinstance(leaf.value, Known) and leaf.value.value == text for leaf in others)
    given = any(leaf.kind in _GIVEN or leaf.way.kind in _GIVEN for leaf in finding.possible)
    if not alike or given or len(changed) < len(changes) or any(leaf.node is argument for leaf in finding.possible):
        return None
    first = next(change.leaf for change in changes if isinstance(change, NewText))
    leaf = Leaf(finding.use.module, argument, OriginKind.AT_CALL, first.value)
    said = {name: value for name, value in finding.reason.args if name not in ("origin", "count")}
    reason = Reason.of("edit-at-call", **{**said, "text": finding.use.module.text(argument)})
    return replace(finding, changes=(NewText(leaf, text),), reason=reason)
