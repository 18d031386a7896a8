"""Matches what a configuration file gives to a surface that it names, and the variables that its program has to set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from ddp_codemod.catalog.fix import Fix
from ddp_codemod.catalog.model import Parameter
from ddp_codemod.catalog.objects import Environment
from ddp_codemod.dataflow.config_keys import trace_path_overrides, trace_reference
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.values import Trace, Value
from ddp_codemod.kinds import OriginKind
from ddp_codemod.model import Reason
from ddp_codemod.policy.decide import decide_if_ignored, decide_site
from ddp_codemod.policy.decide_environment import (
    expand_library_names,
    explain_unneeded_fix,
    find_value_at_node,
    list_backend_outcomes,
)
from ddp_codemod.policy.decision_reasons import explain_variable_set, open_reason, text_of
from ddp_codemod.policy.default_argument import describe_default_chooser, is_default_wrong, pick_default_backend
from ddp_codemod.policy.findings import Context, Finding, NewKey, NewVariable, start
from ddp_codemod.policy.launcher_condition import is_unconditional
from ddp_codemod.sites.config_uses import ConfiguredUse


def decide_configuration(context: Context, use: ConfiguredUse, parameter: Parameter, fix: Fix) -> Iterator[Finding]:
    """Decide about a backend that is, or is omitted, beside a ``_target_``, and about what launch files give in its place."""
    path = (*use.arguments, parameter.name, *([parameter.inside] if parameter.inside else []))
    entry = use.argument(parameter) if not parameter.inside else next(iter(use.module.at(path, use.call.document)), None)
    given = trace_path_overrides(context.tracer, use.module, path, Trace())
    if entry is None:
        yield _decide_default_value(context, use, parameter, fix)
        sources = given
    else:
        source = Value(use.module, entry, OriginKind.CONFIG_KEY, Known(entry.value if entry.is_text else None))
        sources = [*(trace_reference(context.tracer, source) or [source]), *given]
    if sources:
        texts = (text_of(context, source, parameter) for source in sources)
        yield decide_site(context, start(context, use, parameter, entry, sources, texts), parameter, fix)


def _decide_default_value(context: Context, use: ConfiguredUse, parameter: Parameter, fix: Fix) -> Finding:
    platform = context.platform
    choice = platform.backend
    result = start(context, use, parameter, None, [], [pick_default_backend(context, parameter)])
    if platform.fits(parameter.open_on):
        return result.review(fix.id, open_reason(context, parameter))
    if (ignored := decide_if_ignored(context, result, parameter, fix)) is not None:
        return ignored
    named = platform.fits(parameter.named_on)
    if not named and (parameter.omitted != "platform-default" or not is_default_wrong(context, parameter)):
        return result.keep(Reason.of("keep-omitted", parameter=parameter.name))
    if parameter.add != "keyword":
        by = parameter.handler.names[0] if parameter.handler is not None else parameter.name
        arguments = {
            "value": pick_default_backend(context, parameter),
            "wanted": choice.wanted,
            "who": describe_default_chooser(context, use),
            "by": by,
        }
        return result.review(fix.id, Reason.of("review-configured-object", **arguments))
    change = _make_key(use, parameter, choice.wanted)
    if change is None:
        return result.review(
            fix.id, Reason.of("review-configured", parameter=parameter.name, wanted=parameter.write(choice.wanted))
        )
    if named:
        reason = Reason.of("edit-named", parameter=parameter.name, wanted=choice.wanted, platform=platform.id)
        return result.edit(fix.id, False, reason, [change])
    why = {"why": platform.why, "why_zh": platform.why_zh, "platform": platform.id, "who": describe_default_chooser(context, use)}
    reason = Reason.of(
        "edit-omitted", parameter=parameter.name, value=pick_default_backend(context, parameter), wanted=choice.wanted, **why
    )
    safe = (
        parameter.add_applicability == "safe"
        and use.surface.edit_applicability == "safe"
        and not is_unconditional(parameter, result, change)
    )
    return result.edit(fix.id, safe, reason, [change])


def _make_key(use: ConfiguredUse, parameter: Parameter, wanted: str) -> NewKey | None:
    """The argument beside those that the file gives, or as the first of them; None where the file is not written in lines."""
    if parameter.inside:
        beside = use.module.mapping((*use.arguments, parameter.name), use.call.document)
        if (first := next((entry for entry in beside if use.module.may_add_below(entry)), None)) is not None:
            return NewKey(use.module, first, parameter.inside, wanted)
        free = use.place is not None and not beside and use.argument(parameter) is None
        return NewKey(use.module, use.place, parameter.inside, wanted, parameter.name) if free and use.place is not None else None
    if (place := use.place) is not None:
        return NewKey(use.module, place, parameter.name, wanted)
    return NewKey(use.module, use.call, parameter.name, wanted, use.opens) if use.opens else None


def decide_configuration_variable(context: Context, use: ConfiguredUse, fix: Fix, backends: Sequence[Finding]) -> Finding | None:
    """Decide whether the programs that start with the file have to set the fix's variable; None where it does not speak of the surface."""
    variable = fix.environment
    speaks = use.surface.id in fix.environment_surfaces if fix.recipe == "init-method-query" else use.surface.default_group
    if variable is None or not speaks:
        return None
    result = replace(start(context, use, None, None, [], []), parameter=variable.name)
    if (spared := explain_unneeded_fix(context, use, fix, "environment")) is not None:
        return result.keep(spared)
    if fix.when_backend:
        outcome = set().union(*map(list_backend_outcomes, backends))
        if not expand_library_names(context, fix, outcome) & set(fix.when_backend):
            wanted = ", ".join(fix.when_backend)
            return result.keep(Reason.of("keep-environment-backend", value=", ".join(sorted(outcome)), wanted=wanted))
    return decide_at_launches(context, use, result, fix, variable, fix.applicability == "safe")


def decide_at_launches(
    context: Context, use: ConfiguredUse, finding: Finding, fix: Fix, variable: Environment, safe: bool
) -> Finding:
    """The finding for a variable that the programs which start with the file have to set: kept where each of them does."""
    starts = context.tracer.composed.of(use.module)
    values = {start: find_value_at_node(context, start.module, start.last, variable.name) for start in starts}
    unset = [start for start, value in values.items() if value is None]
    if not starts:
        return finding.review(fix.id, Reason.of("review-no-entry", variable=variable.name, value=variable.value))
    if not unset:
        return finding.keep(explain_variable_set(variable.name, next(iter(values.values()))))
    where = ", ".join(f"{start.module.name}:{start.body.lineno}" for start in unset)
    reason = Reason.of("edit-environment-entry", variable=variable.name, value=variable.value, where=where)
    changes = [NewVariable(start.module, start.body, variable) for start in unset]
    return finding.edit(fix.id, safe, reason, changes)
