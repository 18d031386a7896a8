"""How often the uses of a device that the platform lacks are found, kind by kind."""

from __future__ import annotations

from collections.abc import Iterable

from ddp_codemod.model import Action, Decision
from ddp_codemod.report.view import View

DEVICE = "device-"  # what the ids of the rules about devices start with


def devices(view: View, decisions: Iterable[Decision]) -> str:
    """The uses of another device by kind, the most frequent first: ``device-method 22, device-module 9``; "" where there are none."""
    counts: dict[str, int] = {}
    for decision in decisions:
        if decision.rule is not None and decision.rule.startswith(DEVICE) and decision.action is not Action.KEEP:
            counts[decision.rule] = counts.get(decision.rule, 0) + 1
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return view.say("list-comma").join(f"{rule} {n}" for rule, n in ordered)
