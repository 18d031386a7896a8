"""Findings that rest on a guess: what only a name leads to is for a person to look at, what may be another value is not safe."""

from __future__ import annotations

from msgspec.structs import replace

from ddp_codemod.catalog.model import Fix
from ddp_codemod.dataflow.leaves import Doubt, Leaf
from ddp_codemod.model import Action, Applicability, Reason
from ddp_codemod.policy.findings import Finding, NewText


def doubted(finding: Finding, fix: Fix) -> Finding:
    """The finding without the changes that only a name leads to; an item for a person where there are no others."""
    if finding.action is Action.KEEP:
        doubtful = [leaf for leaf in finding.leaves if leaf.way.doubt in (Doubt.REPLACED, Doubt.OTHERS)]
        if all(leaf.way.doubt is Doubt.NAME for leaf in finding.leaves):
            doubtful = list(finding.leaves)
        return finding.review(fix.id, _reason(doubtful[0])) if doubtful else finding
    if finding.action is not Action.EDIT:
        return finding
    leaves = [change.leaf for change in finding.changes if isinstance(change, NewText) and change.leaf.way.doubt is not None]
    named = [leaf for leaf in leaves if leaf.way.doubt is Doubt.NAME]
    # where something surely leads to the value, what only its name leads to is another's
    changes = tuple(change for change in finding.changes if not (isinstance(change, NewText) and change.leaf in named))
    if named and not changes:
        return finding.review(fix.id, _reason(named[0]))
    finding = replace(finding, changes=changes)
    guessed = [leaf for leaf in leaves if leaf not in named]
    return replace(finding, applicability=Applicability.UNSAFE, reason=_reason(guessed[0])) if guessed else finding


def _reason(leaf: Leaf) -> Reason:
    """What is not known about a leaf."""
    text, origin = leaf.way.doubted_at, f"{leaf.module.name}:{leaf.module.source.position(leaf.place.start)[0]}"
    if leaf.way.doubt is Doubt.NAME:
        return Reason.of("doubt-name", text=text, origin=origin)
    if leaf.way.doubt is Doubt.REPLACED:
        return Reason.of("doubt-decorator", decorator=text)
    if leaf.way.doubt is Doubt.OTHERS:
        return Reason.of("doubt-others", text=text)
    return Reason.of("doubt-default", text=text)
