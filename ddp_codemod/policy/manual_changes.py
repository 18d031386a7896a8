"""Changes that no edit makes: those in files that are never edited, such as batch files, and what an edit leaves to a user."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.values import ValueSet
from ddp_codemod.model import Action, Reason
from ddp_codemod.parse.shell import Option, Script, Setting
from ddp_codemod.policy.findings import Context, Finding, NewText, ObjectChoice


def split_manual_changes(context: Context, finding: Finding) -> Iterator[Finding]:
    """The finding without the changes that no edit makes, and a finding for each of these, at its line, and for what it leaves."""
    yield from _split_left_objects(finding)
    by_hand = [change for change in finding.changes if isinstance(change, NewText) and _is_manual(change)]
    if finding.action is not Action.EDIT or not by_hand:
        yield finding
        return
    assert finding.rule is not None
    left = tuple(change for change in finding.changes if change not in by_hand)
    first = by_hand[0].source
    where = f"{first.module.name}:{first.module.source.position(first.place.start)[0]}"
    kept = replace(finding, changes=()).keep(Reason.of("keep-by-hand", where=where))
    yield (
        replace(finding, changes=left) if left else replace(kept, untraced=True)
    )  # the call takes it, where that is the project's own
    for change in by_hand:
        made = finding.review(finding.rule, _explain_manual_change(context, change))
        yield replace(made, at=(change.source,), possible=ValueSet((change.source,)), resolves_to=(_format_given_value(change),))


def _split_left_objects(finding: Finding) -> Iterator[Finding]:
    """What an edit that passes objects leaves: texts that only a user gives."""
    for change in finding.changes:
        if isinstance(change, ObjectChoice) and finding.action is Action.EDIT and finding.rule is not None:
            for why in change.left:
                yield finding.review(finding.rule, why)


def _is_manual(change: NewText) -> bool:
    return isinstance(change.source.module, Script) and not change.source.module.editable


def _format_given_value(change: NewText) -> str:
    return str(change.source.value.value) if isinstance(change.source.value, Known) else "?"


def _explain_manual_change(context: Context, change: NewText) -> Reason:
    """What the line sets, why that does not work, and the line as it would have to be."""
    source, platform = change.source, context.platform
    node = source.node
    assert isinstance(node, (Option, Setting))
    code = source.module.source
    start, end = code.line_span(source.place.start)
    line = (
        code.text[start : source.place.start]
        + source.text.replace(_format_given_value(change), change.text)
        + code.text[source.place.end : end]
    )
    return Reason.of(
        "review-by-hand",
        name=node.name,
        value=_format_given_value(change),
        wanted=change.text,
        platform=platform.id,
        line=" ".join(line.split()),
    )
