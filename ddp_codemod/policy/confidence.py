"""Findings that rest on a guess: what only a name leads to needs review, what may be another value is not safe."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ddp_codemod.catalog.fix import Fix
from ddp_codemod.dataflow.values import Confidence, Value, ValueSet
from ddp_codemod.kinds import Meaning, OriginKind
from ddp_codemod.model import Action, Applicability, Place, Reason
from ddp_codemod.policy.findings import Finding, NewText


def drop_name_only_changes(finding: Finding, fix: Fix) -> Finding:
    """The finding without the changes that only a name leads to; an item for review where there are no others."""
    if finding.action is Action.KEEP:
        doubtful = [leaf for leaf in finding.possible if leaf.way.doubt in (Confidence.REPLACED, Confidence.OTHERS)]
        if all(leaf.way.doubt is Confidence.NAME for leaf in finding.possible):
            doubtful = list(finding.possible)
        return replace(finding.review(fix.id, _explain_confidence(doubtful[0])), untraced=True) if doubtful else finding
    if finding.action is not Action.EDIT:
        return finding
    leaves = [change.leaf for change in finding.changes if isinstance(change, NewText) and change.leaf.way.doubt is not None]
    named = [leaf for leaf in leaves if leaf.way.doubt is Confidence.NAME]
    beside = [leaf for leaf in named if _is_beside_fallback(finding, leaf)]
    # where something surely leads to the value, what only its name leads to is another's; other calls become items
    others = [leaf for leaf in named if leaf not in beside]
    changes = tuple(change for change in finding.changes if not (isinstance(change, NewText) and change.leaf in others))
    if named and not changes:
        return replace(
            finding.review(fix.id, _explain_confidence(named[0])), untraced=finding.applicability is Applicability.SAFE
        )
    untraced = finding.untraced or finding.applicability is Applicability.SAFE
    finding = replace(finding, changes=changes)
    guessed = [leaf for leaf in leaves if leaf not in others]
    if not guessed:
        return finding
    return replace(finding, applicability=Applicability.UNSAFE, reason=_explain_confidence(guessed[0]), untraced=untraced)


def find_name_only_items(finding: Finding, fix: Fix) -> Iterator[Finding]:
    """The items for what only a name leads to, and what no other way leads to through the same calls."""
    if finding.action is not Action.EDIT:
        return
    changed = [change.leaf for change in finding.changes if isinstance(change, NewText)]
    named = [leaf for leaf in changed if leaf.way.doubt is Confidence.NAME]
    sure = [leaf for leaf in finding.possible if leaf.way.doubt is not Confidence.NAME]
    places = {leaf.place for leaf in sure}
    if not sure:
        return
    for leaf in named:
        calls = _list_passing_calls(leaf)
        if leaf.place not in places and not any(_list_passing_calls(other)[: len(calls)] == calls for other in sure):
            places.add(leaf.place)
            yield replace(finding.review(fix.id, _explain_confidence(leaf)), changes=(), at=(leaf,), possible=ValueSet((leaf,)))


def _is_beside_fallback(finding: Finding, leaf: Value) -> bool:
    """Whether what surely leads here beside a leaf is nothing but a default for a name that is missing: ``getattr(args, "backend", "nccl")``."""
    read = [hop.place for hop in leaf.way.hops]
    sure = [one for one in finding.possible if one.way.doubt is not Confidence.NAME]
    for fallback in (one for one in sure if one.kind == OriginKind.KEY_DEFAULT):
        kinds = [hop.reason.means for hop in fallback.way.hops]
        until = len(kinds) - 1 - kinds[::-1].index(Meaning.FALLBACK)  # where the name is read, with the default beside it
        before = [hop.place for hop in fallback.way.hops[:until]]
        alike = {one.kind for one in sure if [hop.place for hop in one.way.hops[:until]] == before}
        if read[:until] == before and alike == {OriginKind.KEY_DEFAULT}:
            return True
    return False


def _list_passing_calls(leaf: Value) -> tuple[Place, ...]:
    """The calls that hand a value over, on its way."""
    return tuple(hop.place for hop in leaf.way.hops if hop.reason.means is Meaning.ARGUMENT)


def _explain_confidence(leaf: Value) -> Reason:
    """What is not known about a leaf."""
    text, origin = leaf.way.doubted_at, f"{leaf.module.name}:{leaf.module.source.position(leaf.place.start)[0]}"
    if leaf.way.doubt is Confidence.NAME:
        return Reason.of("doubt-name", text=text, origin=origin)
    if leaf.way.doubt is Confidence.REPLACED:
        return Reason.of("doubt-decorator", decorator=text)
    if leaf.way.doubt is Confidence.OTHERS:
        return Reason.of("doubt-others", text=text)
    return Reason.of("doubt-default", text=text)
