"""What is told once: several calls of a function, or under one line of settings, may be for review for the very same reason."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from ddp_codemod.dataflow.values import Confidence
from ddp_codemod.kinds import Meaning
from ddp_codemod.model import Action, Place, Reason
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.finding_decisions import places_of
from ddp_codemod.policy.findings import Finding, NewText
from ddp_codemod.sites.scopes import scope_of


def deduplicate_findings(findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings, of which the first speaks for the others where all say the same of a function, or of one line of settings."""
    arguments: dict[tuple[object, ...], str] = {}
    for finding in findings:
        key = _identify_subject(finding) if finding.action is Action.REVIEW else None
        if key in arguments:
            finding = replace(finding.keep(Reason.of("keep-said", origin=arguments[key])), at=())
        elif key is not None:
            module, place = (
                (finding.at[0].module, finding.at[0].place) if finding.at else (finding.use.module, places_of(finding)[0])
            )
            arguments[key] = f"{module.name}:{module.source.position(place.start)[0]}"
        yield finding


def drop_items_edited_elsewhere(findings: Sequence[Finding]) -> list[Finding]:
    """The findings, without the items for what only a name leads to from here where another use leads there surely and is edited."""
    edited = {
        change.source.place
        for finding in findings
        if finding.action is Action.EDIT
        for change in finding.changes
        if isinstance(change, NewText) and change.source.trace.doubt is None
    }
    return [_keep_if_edited(finding, edited) for finding in findings]


def _keep_if_edited(finding: Finding, edited: set[Place]) -> Finding:
    sources = (finding.at or finding.possible.values) if finding.action is Action.REVIEW else ()
    if not sources or not all(source.trace.doubt is Confidence.NAME and source.place in edited for source in sources):
        return finding
    first = sources[0]
    origin = f"{first.module.name}:{first.module.source.position(first.place.start)[0]}"
    return replace(finding.keep(Reason.of("keep-edited", origin=origin)), at=())


def _identify_subject(finding: Finding) -> tuple[object, ...] | None:
    """What an item is about, if others may be about the same."""
    module, call = finding.use.module, finding.use.call
    if finding.at and not isinstance(finding.at[0].module, Module):
        return (finding.at[0].place, finding.reason)
    here = all(source.node is finding.argument for source in finding.at)
    if here and finding.reason.means is Meaning.FOREIGN and isinstance(module, Module) and isinstance(call, ast.AST):
        return (module, scope_of(module, call), finding.use.surface.id, finding.parameter, finding.reason)
    return None
