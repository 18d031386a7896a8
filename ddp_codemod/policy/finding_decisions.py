"""Findings as the frozen decisions that reports show."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.values import Value
from ddp_codemod.kinds import Meaning
from ddp_codemod.model import Decision, Origin, Place, Reason, Step
from ddp_codemod.parse.tree import place_of, text_of
from ddp_codemod.policy.findings import Finding, NewText, NewVariable, Splice


def decisions_of(finding: Finding) -> Iterator[Decision]:
    """The decision for the use; where a user should look at its origins instead, one for each of these."""
    decision = _build_decision(finding)
    for source in finding.at:
        yield replace(decision, place=source.place, value=source.text, origins=(_build_origin(source),), steps=source.trace.steps)
    if not finding.at:
        yield decision
        yield from _decide_passing_calls(finding, decision)


def _decide_passing_calls(finding: Finding, decision: Decision) -> Iterator[Decision]:
    """The calls of project functions that pass on a value which is edited: each chooses a backend too."""
    for change in finding.changes:
        for step in change.source.trace.steps if isinstance(change, NewText) else ():
            if step.reason.means is Meaning.ARGUMENT and isinstance(change, NewText):
                source = change.source
                line = source.module.source.position(source.place.start)[0]
                reason = Reason.of(
                    "edit-through", surface=decision.surface, origin=f"{source.module.name}:{line}", wanted=change.text
                )
                parameter = dict(step.reason.args)["name"]
                yield replace(
                    decision,
                    place=step.place,
                    call=step.place,
                    parameter=parameter,
                    value=None,
                    origins=(_build_origin(source),),
                    reason=reason,
                    steps=(),
                )


def places_of(finding: Finding) -> tuple[Place, Place]:
    """Where the value is (the call, where it is omitted), and the call."""
    call = place_of(finding.use.module, finding.use.call)
    return (place_of(finding.use.module, finding.argument) if finding.argument is not None else call), call


def build_sort_key(decision: Decision) -> tuple[str, int, int, str, str]:
    """The order of reports: by path, then by place; of those of one place by their origins, whichever was asked about first."""
    return decision.place.name, decision.place.start, decision.call.start, decision.parameter, repr(decision.origins)


def _build_decision(finding: Finding) -> Decision:
    place, call = places_of(finding)
    origins = tuple(_build_origin(source) for source in finding.possible)
    steps: tuple[Step, ...] = tuple(dict.fromkeys(step for source in finding.possible for step in source.trace.passed))
    steps += tuple(_find_variable_starts(finding))
    value = text_of(finding.use.module, finding.argument) if finding.argument is not None else None
    return Decision(
        place, call, finding.use.surface.id, finding.parameter, value, finding.resolves_to, origins,
        finding.action, finding.applicability, finding.rule, finding.reason, steps,
    )  # fmt: skip


def _find_variable_starts(finding: Finding) -> Iterator[Step]:
    """Where a variable is set, if that is not beside the site itself."""
    for change in finding.changes:
        if isinstance(change, NewVariable) and change.node is not finding.use.call:
            yield Step(change.module.place(change.node), Reason.of("hop-start", Meaning.PLACE, name=change.environment.name))
        elif isinstance(change, Splice) and change.before is not None:
            yield Step(change.before, Reason.of("hop-start", Meaning.PLACE, name=finding.parameter))


def _build_origin(source: Value) -> Origin:
    known = isinstance(source.value, Known)
    value = source.value.value if isinstance(source.value, Known) else None
    return Origin(source.place, source.kind, known, value, source.why, source.trace.steps)
