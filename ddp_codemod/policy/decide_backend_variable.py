"""Matches calls whose backend a variable of the environment chooses, as with Lightning before its strategies took it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ddp_codemod.catalog.fix import Fix
from ddp_codemod.catalog.model import Parameter
from ddp_codemod.catalog.objects import Chosen, Environment
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.model import Action, Reason
from ddp_codemod.policy.decide_environment import find_value_before_call
from ddp_codemod.policy.decision_reasons import explain_variable_set
from ddp_codemod.policy.default_argument import describe_default_chooser
from ddp_codemod.policy.findings import Context, Finding, NewVariable, start, unreachable
from ddp_codemod.sites.surface_calls import Use


def decide_backend_variable(context: Context, use: Use, parameter: Parameter, fix: Fix) -> Finding | None:
    """Decide about a call whose backend nothing but the variable chooses; in other versions, or if that is open, it needs review."""
    assert parameter.chosen is not None
    found = decide_by_variable(context, use, parameter, parameter.chosen, fix)
    if found.action is Action.EDIT and context.versions.holds(parameter.chosen.when, use.module.name) is not True:
        given = [keyword.value for keyword in use.call.keywords if keyword.arg in parameter.spared_by]
        if given and all(isinstance(source.node, ast.Call) for source in context.tracer.evaluate(use.module, given[0])):
            return None  # the object that it is passed is a site of its own
        arguments = {"instead": parameter.instead, "instead_zh": parameter.instead_zh, "value": context.platform.backend.default}
        arguments["who"] = describe_default_chooser(context, use)
        return found.review(fix.id, Reason.of("review-chosen-open", platform=context.platform.id, **arguments))
    return found


def decide_by_variable(context: Context, use: Use, parameter: Parameter, chosen: Chosen, fix: Fix) -> Finding:
    """The finding for a group whose backend the variable chooses: kept where it is set right before, else an edit that sets it."""
    platform, choice = context.platform, context.platform.backend
    result = start(context, use, parameter, None, [], [choice.default])
    if (never := unreachable(context, use)) is not None:
        return result.keep(never)
    arguments = {"variable": chosen.variable, "wanted": choice.wanted, "platform": platform.id}
    value = find_value_before_call(context, use, chosen.variable)
    if value is not None:
        if not isinstance(value, Known):
            return result.review(fix.id, Reason.of("review-chosen-made", **arguments))
        if str(value.value).lower() in choice.works:
            return result.keep(explain_variable_set(chosen.variable, value))
        return result.review(fix.id, Reason.of("review-chosen", value=value.value, **arguments))
    if choice.default in choice.works:
        return result.keep(Reason.of("keep-omitted", parameter=chosen.variable))
    if chosen.never and context.versions.holds(chosen.never, use.module.name) is True:
        return result.review(fix.id, Reason.of("review-chosen-never", **arguments))
    why = {"value": choice.default, "why": platform.why, "why_zh": platform.why_zh, "who": describe_default_chooser(context, use)}
    environment = Environment(name=chosen.variable, value=choice.wanted, override=True)
    safe = fix.applicability == "safe" and parameter.add_applicability == "safe"
    return result.edit(
        fix.id, safe, Reason.of("edit-chosen", **arguments, **why), [NewVariable(use.module, use.call, environment)]
    )


def names_object(context: Context, use: Use, chosen: Chosen) -> bool:
    """Whether another keyword of the call names the object, as only the versions did that the variable reaches."""
    for keyword in use.call.keywords:
        texts = chosen.keywords.get(keyword.arg or "", ())
        sources = context.tracer.evaluate(use.module, keyword.value) if texts else ()
        if any(isinstance(source.value, Known) and source.value.value in texts for source in sources):
            return True
    return False


def is_for_old_versions(context: Context, use: Use, chosen: Chosen) -> bool:
    """Whether the call is for versions in which nothing but the variable chooses the backend."""
    if any(keyword.arg in chosen.gone for keyword in use.call.keywords):
        return True
    return bool(chosen.when) and context.versions.holds(chosen.when, use.module.name, asks=False) is True


def has_nested_site(context: Context, use: Use) -> bool:
    """Whether an argument holds a call whose backend the variable chooses: that is a site of its own."""
    wanted = {
        name
        for surface in context.rules.surfaces.values()
        for parameter in surface.parameters
        if parameter.chosen is not None
        for name in surface.names
    }
    last = {name.rpartition(".")[2] for name in wanted}
    return any(call in last for call in _find_called_names(use.call))


def _find_called_names(node: ast.Call) -> Iterator[str]:
    for keyword in node.keywords:
        for part in ast.walk(keyword.value):
            if isinstance(part, ast.Call):
                yield part.func.attr if isinstance(part.func, ast.Attribute) else getattr(part.func, "id", "")
