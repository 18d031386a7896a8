"""Matches backend parameters that a configuration file gives to a surface it names."""

from __future__ import annotations

from ddp_codemod.model import Reason
from ddp_codemod.origins.fold import Known
from ddp_codemod.origins.leaf import Leaf
from ddp_codemod.rules.finding import Context, Finding, NewKey, start
from ddp_codemod.rules.match import decide
from ddp_codemod.rules.model import Fix, Parameter
from ddp_codemod.sites.configured import ConfiguredUse


def match_configured(context: Context, use: ConfiguredUse, parameter: Parameter, fix: Fix) -> Finding:
    """Decide about a backend that stands, or is left out, beside a ``_target_``."""
    choice = context.platform.backend
    entry = use.argument(parameter)
    if entry is None:
        made = start(context, use, parameter, None, [], [choice.default])
        if parameter.omitted != "platform-default" or not choice.default or choice.default in choice.works:
            return made.keep(Reason.of("keep-omitted", parameter=parameter.name))
        if not use.module.may_add_below(use.call):
            return made.review(fix.id, Reason.of("review-configured", parameter=parameter.name, wanted=choice.wanted))
        platform = context.platform
        why = {"why": platform.why, "why_zh": platform.why_zh, "platform": platform.id}
        reason = Reason.of("edit-omitted", parameter=parameter.name, value=choice.default, wanted=choice.wanted, **why)
        safe = parameter.add_applicability == "safe" and use.surface.edit_applicability == "safe"
        return made.edit(fix.id, safe, reason, [NewKey(use.module, use.call, parameter.name, choice.wanted)])
    leaf = Leaf(use.module, entry, "config-key", Known(entry.value if entry.is_text else None))
    return decide(context, start(context, use, parameter, entry, [leaf], [entry.value]), parameter, fix)
