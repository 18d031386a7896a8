"""The report of ``explain``: the way from a call to where its value starts, one step a line."""

from __future__ import annotations

from ddp_codemod.model import Decision, Step
from ddp_codemod.report import text
from ddp_codemod.report.view import View


def explain_site(view: View, decision: Decision) -> list[str]:
    """One site and each step of its decision."""
    block = text.format_site(view, decision)[:1]
    call = view.say("explain-call", where=view.where(decision.call), call=view.source_text(decision.call))
    block += view.folded(call, 2, 9)
    value = view.say("value-omitted") if decision.value is None else view.source_text(decision.place)
    if decision.parameter:
        block += view.folded(view.say("explain-value", parameter=decision.parameter, value=value), 2, 9)
    told = {step for origin in decision.origins for step in origin.steps}
    block += _format_trace(view, tuple(step for step in decision.steps if step not in told))
    for origin in decision.origins:
        block += _format_trace(view, origin.steps)
        block += view.folded(view.say("explain-origin", origin=view.origin(origin)), 2, 4)
    if outcome := view.outcome(decision):
        block.append(f"  {outcome}")
    so = view.say(f"explain-so-{decision.action.value}", reason=view.reason(decision.reason))
    return block + [view.ink(line, "bold") for line in view.folded(so, 2, 4)]


def _format_trace(view: View, steps: tuple[Step, ...]) -> list[str]:
    lines = []
    for step in steps:
        lines += view.folded(f"{view.where(step.place)}  {view.source_text(step.place)}", 4, 6)
        lines += view.folded(view.reason(step.reason), 8, 8)
    return lines
