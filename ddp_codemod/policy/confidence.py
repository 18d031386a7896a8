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
        doubtful = [source for source in finding.possible if source.trace.doubt in (Confidence.REPLACED, Confidence.OTHERS)]
        if all(source.trace.doubt is Confidence.NAME for source in finding.possible):
            doubtful = list(finding.possible)
        return replace(finding.review(fix.id, _explain_confidence(doubtful[0])), untraced=True) if doubtful else finding
    if finding.action is not Action.EDIT:
        return finding
    sources = [
        change.source for change in finding.changes if isinstance(change, NewText) and change.source.trace.doubt is not None
    ]
    named = [source for source in sources if source.trace.doubt is Confidence.NAME]
    beside = [source for source in named if _is_beside_fallback(finding, source)]
    # where something surely leads to the value, what only its name leads to is another's; other calls become items
    others = [source for source in named if source not in beside]
    changes = tuple(change for change in finding.changes if not (isinstance(change, NewText) and change.source in others))
    if named and not changes:
        return replace(
            finding.review(fix.id, _explain_confidence(named[0])), untraced=finding.applicability is Applicability.SAFE
        )
    untraced = finding.untraced or finding.applicability is Applicability.SAFE
    finding = replace(finding, changes=changes)
    guessed = [source for source in sources if source not in others]
    if not guessed:
        return finding
    return replace(finding, applicability=Applicability.UNSAFE, reason=_explain_confidence(guessed[0]), untraced=untraced)


def find_name_only_items(finding: Finding, fix: Fix) -> Iterator[Finding]:
    """The items for what only a name leads to, and what no other way leads to through the same calls."""
    if finding.action is not Action.EDIT:
        return
    changed = [change.source for change in finding.changes if isinstance(change, NewText)]
    named = [source for source in changed if source.trace.doubt is Confidence.NAME]
    sure = [source for source in finding.possible if source.trace.doubt is not Confidence.NAME]
    places = {source.place for source in sure}
    if not sure:
        return
    for source in named:
        calls = _list_passing_calls(source)
        if source.place not in places and not any(_list_passing_calls(other)[: len(calls)] == calls for other in sure):
            places.add(source.place)
            yield replace(
                finding.review(fix.id, _explain_confidence(source)), changes=(), at=(source,), possible=ValueSet((source,))
            )


def _is_beside_fallback(finding: Finding, source: Value) -> bool:
    """Whether what surely leads here beside a source is nothing but a default for a name that is missing: ``getattr(args, "backend", "nccl")``."""
    read = [step.place for step in source.trace.steps]
    sure = [one for one in finding.possible if one.trace.doubt is not Confidence.NAME]
    for fallback in (one for one in sure if one.kind == OriginKind.KEY_DEFAULT):
        kinds = [step.reason.means for step in fallback.trace.steps]
        until = len(kinds) - 1 - kinds[::-1].index(Meaning.FALLBACK)  # where the name is read, with the default beside it
        before = [step.place for step in fallback.trace.steps[:until]]
        alike = {one.kind for one in sure if [step.place for step in one.trace.steps[:until]] == before}
        if read[:until] == before and alike == {OriginKind.KEY_DEFAULT}:
            return True
    return False


def _list_passing_calls(source: Value) -> tuple[Place, ...]:
    """The calls that hand a value over, on its way."""
    return tuple(step.place for step in source.trace.steps if step.reason.means is Meaning.ARGUMENT)


def _explain_confidence(source: Value) -> Reason:
    """What is not known about a source."""
    text, origin = source.trace.doubted_at, f"{source.module.name}:{source.module.source.position(source.place.start)[0]}"
    if source.trace.doubt is Confidence.NAME:
        return Reason.of("doubt-name", text=text, origin=origin)
    if source.trace.doubt is Confidence.REPLACED:
        return Reason.of("doubt-decorator", decorator=text)
    if source.trace.doubt is Confidence.OTHERS:
        return Reason.of("doubt-others", text=text)
    return Reason.of("doubt-default", text=text)
