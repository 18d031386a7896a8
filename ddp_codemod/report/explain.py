"""The report of ``explain``: the way from a call to where its value starts, one step a line."""

from __future__ import annotations

from ddp_codemod.model import Decision, Hop
from ddp_codemod.report import text
from ddp_codemod.report.view import View


def explain(view: View, decision: Decision) -> list[str]:
    """One site and each step of its decision."""
    block = text.site(view, decision)[:1]
    block.append("  " + view.say("explain-call", where=view.where(decision.call), call=view.source_text(decision.call)))
    value = view.say("value-omitted") if decision.value is None else view.source_text(decision.place)
    block.append("  " + view.say("explain-value", parameter=decision.parameter, value=value))
    told = {hop for origin in decision.origins for hop in origin.hops}
    block += _hops(view, tuple(hop for hop in decision.hops if hop not in told))
    for origin in decision.origins:
        block += _hops(view, origin.hops)
        block.append("  " + view.say("explain-origin", origin=view.origin(origin)))
    block.append("  " + view.say("explain-gives", platform=view.survey.platform, gives=view.gives(decision)))
    so = view.say(f"explain-so-{decision.action.value}", reason=view.reason(decision.reason))
    block.append("  " + view.ink(so, "bold"))
    return block


def _hops(view: View, hops: tuple[Hop, ...]) -> list[str]:
    return [f"    {view.where(hop.place)}  {view.source_text(hop.place)}\n        {view.reason(hop.reason)}" for hop in hops]
