"""Arguments that ``partial`` binds for a call that makes a group: its object shows them, ``start.keywords``."""

from __future__ import annotations

import ast

from msgspec.structs import replace

from ddp_codemod.dataflow.escape_analysis import analyze_escapes
from ddp_codemod.dataflow.values import Trace, Value
from ddp_codemod.kinds import OriginKind
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.findings import Context, Finding
from ddp_codemod.policy.other_uses import OtherUse, OtherUses
from ddp_codemod.sites.surface_calls import Use


def find_reader_of_bound(uses: OtherUses, finding: Finding, source: Value, new: str, old: str | None = None) -> OtherUse | None:
    """What reads the argument of a finding from the object that binds it, and does something else with another text."""
    use, argument = finding.use, finding.argument
    if not isinstance(use, Use) or use.skip <= 0 or not isinstance(argument, ast.expr):
        return None
    return uses.of(replace(source, module=use.module, node=argument), new, old)


def find_calls_of_bound(context: Context, finding: Finding) -> list[tuple[Module, ast.Call]]:
    """The calls of the object that binds the argument of a finding as a keyword, where they are all that there is; each may name it anew."""
    use, tracer = finding.use, context.tracer
    if not isinstance(use, Use) or all(keyword.value is not finding.argument for keyword in use.call.keywords):
        return []
    trace = analyze_escapes(tracer, use.module, use.call)
    known = not trace.escapes and not trace.partials
    for module, call in trace.calls if known else ():
        made = tracer.evaluate(module, call.func, Trace(kind=OriginKind.OBJECT))
        known = known and bool(made) and all(source.node is use.call for source in made)
        known = known and all(keyword.arg is not None for keyword in call.keywords)
    return list(trace.calls) if known else []
