"""The report of ``explain``: the way from a call to where its value starts, one step a line."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

from ddp_codemod.model import Decision, Origin, Place, Step
from ddp_codemod.report import text
from ddp_codemod.report.view import View

T = TypeVar("T")
_LISTED = 3


def explain_site(view: View, decision: Decision) -> list[str]:
    """One site and each step of its decision."""
    block = text.format_site(view, decision)[:1]
    call = view.say("explain-call", where=view.where(decision.call), call=view.source_text(decision.call))
    block += view.folded(call, 2, 9)
    value = view.say("value-omitted") if decision.value is None else view.source_text(decision.place)
    if decision.parameter:
        block += view.folded(view.say("explain-value", parameter=decision.parameter, value=value), 2, 9)
    told = {step for origin in decision.origins for step in origin.steps}
    for steps in _group(view, [step for step in decision.steps if step not in told], lambda step: _describe(view, step)):
        block += _format_trace(view, steps[:1])
        block += _format_rest(view, [step.place for step in steps[1:]])
    for origins in _group(view, decision.origins, lambda origin: _describe_path(view, origin)):
        block += _format_trace(view, origins[0].steps)
        block += view.folded(view.say("explain-origin", origin=view.origin(origins[0])), 2, 4)
        block += _format_rest(view, [origin.place for origin in origins[1:]])
    if outcome := view.outcome(decision):
        block.append(f"  {outcome}")
    so = view.say(f"explain-so-{decision.action.value}", reason=view.reason(decision.reason))
    return block + [view.ink(line, "bold") for line in view.folded(so, 2, 4)]


def _group(view: View, items: Iterable[T], describe: Callable[[T], Hashable]) -> list[list[T]]:
    """What differs in nothing but the file, together; each alone where the reader asked for all."""
    found: dict[Hashable, list[T]] = {}
    for number, item in enumerate(items):
        found.setdefault(number if view.verbose else describe(item), []).append(item)
    return [*found.values()]


def _describe(view: View, step: Step) -> Hashable:
    """A step without its place, where its file is one of settings."""
    text = view.source_text(step.place), view.reason(step.reason).replace(step.place.name, "")
    return (*text, view.where(step.place) if step.place.name.endswith(".py") else "")


def _describe_path(view: View, origin: Origin) -> Hashable:
    own = "" if not origin.place.name.endswith(".py") else view.where(origin.place)
    why = view.reason(origin.why) if origin.why is not None else ""
    return origin.kind, origin.known, repr(origin.value), why, own, tuple(_describe(view, step) for step in origin.steps)


def _format_rest(view: View, places: Sequence[Place]) -> list[str]:
    """The places that the same path leads to."""
    if not places:
        return []
    listed = [view.where(place) for place in places]
    if len(listed) > _LISTED:
        listed = [*listed[:_LISTED], view.say("list-rest", n=len(listed) - _LISTED)]
    return view.folded(view.say("explain-alike", n=len(places), places=view.say("list-comma").join(listed)), 4, 6)


def _format_trace(view: View, steps: Sequence[Step]) -> list[str]:
    lines = []
    for step in steps:
        lines += view.folded(f"{view.where(step.place)}  {view.source_text(step.place)}", 4, 6)
        lines += view.folded(view.reason(step.reason), 8, 8)
    return lines
