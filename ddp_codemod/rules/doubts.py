"""Findings that rest on a guess: what only a name leads to is for a person to look at, what may be another value is not safe."""

from __future__ import annotations

from msgspec.structs import replace

from ddp_codemod.model import Action, Applicability
from ddp_codemod.origins.leaf import Leaf
from ddp_codemod.rules.finding import Finding, NewText
from ddp_codemod.rules.model import Fix


def doubted(finding: Finding, fix: Fix) -> Finding:
    """The finding without the changes that only a name leads to; an item for a person where there are no others."""
    if finding.action is Action.KEEP and finding.leaves:
        replaced = [leaf.way.doubt for leaf in finding.leaves if leaf.way.doubt is not None and leaf.way.doubt.replaced]
        return finding.review(fix.id, replaced[0].reason) if replaced else finding
    if finding.action is not Action.EDIT:
        return finding
    guessed = [change.leaf for change in finding.changes if isinstance(change, NewText) and _by_name(change.leaf)]
    changes = tuple(change for change in finding.changes if not (isinstance(change, NewText) and _by_name(change.leaf)))
    if guessed and not changes:
        doubt, first = guessed[0].way.doubt, guessed[0]
        assert doubt is not None
        assert finding.rule is not None
        origin = f"{first.module.name}:{first.module.source.position(first.place.start)[0]}"
        return finding.review(finding.rule, replace(doubt.reason, args=(*doubt.reason.args, ("origin", origin))))
    finding = replace(finding, changes=changes)  # where something surely leads to the value, what only its name does is another's
    doubts = [change.leaf.way.doubt for change in changes if isinstance(change, NewText) and change.leaf.way.doubt is not None]
    if not doubts:
        return finding
    return replace(finding, applicability=Applicability.UNSAFE, reason=doubts[0].reason)


def _by_name(leaf: Leaf) -> bool:
    return leaf.way.doubt is not None and leaf.way.doubt.by_name
