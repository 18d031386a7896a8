"""Matches what a configuration file gives to a surface that it names, and the variables that its program has to set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from ddp_codemod.catalog.fix import Fix
from ddp_codemod.catalog.model import Parameter
from ddp_codemod.catalog.objects import Environment
from ddp_codemod.dataflow.config_keys import given_for, referred
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.leaves import Leaf, Way
from ddp_codemod.kinds import OriginKind
from ddp_codemod.model import Reason
from ddp_codemod.policy.decide import decide, ignored
from ddp_codemod.policy.decide_environment import of_libraries, outcomes, set_at, unneeded
from ddp_codemod.policy.decision_reasons import open_reason, set_already, text_of
from ddp_codemod.policy.findings import Context, Finding, NewKey, NewVariable, start
from ddp_codemod.policy.left_out import picked, picks_wrong, who
from ddp_codemod.policy.under_launcher import is_bare
from ddp_codemod.sites.configured import ConfiguredUse


def decide_configured(context: Context, use: ConfiguredUse, parameter: Parameter, fix: Fix) -> Iterator[Finding]:
    """Decide about a backend that stands, or is left out, beside a ``_target_``, and about what launch files give in its place."""
    path = (*use.arguments, parameter.name, *([parameter.inside] if parameter.inside else []))
    entry = use.argument(parameter) if not parameter.inside else next(iter(use.module.at(path, use.call.document)), None)
    given = given_for(context.tracer, use.module, path, Way())
    if entry is None:
        yield _left_out(context, use, parameter, fix)
        leaves = given
    else:
        leaf = Leaf(use.module, entry, OriginKind.CONFIG_KEY, Known(entry.value if entry.is_text else None))
        leaves = [*(referred(context.tracer, leaf) or [leaf]), *given]
    if leaves:
        texts = (text_of(context, leaf, parameter) for leaf in leaves)
        yield decide(context, start(context, use, parameter, entry, leaves, texts), parameter, fix)


def _left_out(context: Context, use: ConfiguredUse, parameter: Parameter, fix: Fix) -> Finding:
    platform = context.platform
    choice = platform.backend
    made = start(context, use, parameter, None, [], [picked(context, parameter)])
    if platform.fits(parameter.open_on):
        return made.review(fix.id, open_reason(context, parameter))
    if (not_heeded := ignored(context, made, parameter, fix)) is not None:
        return not_heeded
    named = platform.fits(parameter.named_on)
    if not named and (parameter.omitted != "platform-default" or not picks_wrong(context, parameter)):
        return made.keep(Reason.of("keep-omitted", parameter=parameter.name))
    if parameter.add != "keyword":
        by = parameter.handler.names[0] if parameter.handler is not None else parameter.name
        said = {"value": picked(context, parameter), "wanted": choice.wanted, "who": who(context, use), "by": by}
        return made.review(fix.id, Reason.of("review-configured-object", **said))
    change = _new_key(use, parameter, choice.wanted)
    if change is None:
        return made.review(fix.id, Reason.of("review-configured", parameter=parameter.name, wanted=choice.wanted))
    if named:
        reason = Reason.of("edit-named", parameter=parameter.name, wanted=choice.wanted, platform=platform.id)
        return made.edit(fix.id, False, reason, [change])
    why = {"why": platform.why, "why_zh": platform.why_zh, "platform": platform.id, "who": who(context, use)}
    reason = Reason.of("edit-omitted", parameter=parameter.name, value=picked(context, parameter), wanted=choice.wanted, **why)
    safe = (
        parameter.add_applicability == "safe"
        and use.surface.edit_applicability == "safe"
        and not is_bare(parameter, made, change)
    )
    return made.edit(fix.id, safe, reason, [change])


def _new_key(use: ConfiguredUse, parameter: Parameter, wanted: str) -> NewKey | None:
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


def decide_variable(context: Context, use: ConfiguredUse, fix: Fix, backends: Sequence[Finding]) -> Finding | None:
    """Decide whether the programs that start with the file have to set the fix's variable; None where it does not speak of the surface."""
    variable = fix.environment
    speaks = use.surface.id in fix.environment_surfaces if fix.recipe == "init-method-query" else use.surface.default_group
    if variable is None or not speaks:
        return None
    made = replace(start(context, use, None, None, [], []), parameter=variable.name)
    if (spared := unneeded(context, use, fix, "environment")) is not None:
        return made.keep(spared)
    if fix.when_backend:
        outcome = set().union(*map(outcomes, backends))
        if not of_libraries(context, fix, outcome) & set(fix.when_backend):
            wanted = ", ".join(fix.when_backend)
            return made.keep(Reason.of("keep-environment-backend", value=", ".join(sorted(outcome)), wanted=wanted))
    return at_starts(context, use, made, fix, variable, fix.applicability == "safe")


def at_starts(context: Context, use: ConfiguredUse, made: Finding, fix: Fix, variable: Environment, safe: bool) -> Finding:
    """The finding for a variable that the programs which start with the file have to set: kept where each of them does."""
    starts = context.tracer.composed.of(use.module)
    values = {start: set_at(context, start.module, start.last, variable.name) for start in starts}
    unset = [start for start, value in values.items() if value is None]
    if not starts:
        return made.review(fix.id, Reason.of("review-no-entry", variable=variable.name, value=variable.value))
    if not unset:
        return made.keep(set_already(variable.name, next(iter(values.values()))))
    where = ", ".join(f"{start.module.name}:{start.body.lineno}" for start in unset)
    reason = Reason.of("edit-environment-entry", variable=variable.name, value=variable.value, where=where)
    changes = [NewVariable(start.module, start.body, variable) for start in unset]
    return made.edit(fix.id, safe, reason, changes)
