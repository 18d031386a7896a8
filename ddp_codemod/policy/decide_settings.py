"""Matches parameters that take a dictionary of defaults, such as the ``trainer_defaults`` of Lightning's command line."""

from __future__ import annotations

import ast

from ddp_codemod.catalog.fix import Fix
from ddp_codemod.catalog.model import Parameter
from ddp_codemod.catalog.objects import Settings
from ddp_codemod.dataflow.mappings import look_up
from ddp_codemod.dataflow.values import Trace, Value
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.default_argument import (
    build_default_arguments,
    decide_default_backend,
    is_default_wrong,
    pick_default_backend,
)
from ddp_codemod.policy.findings import Change, Context, Finding, NewKeyword, Splice, start, unreachable
from ddp_codemod.sites.surface_calls import Use


def decide_settings(context: Context, use: Use, parameter: Parameter, fix: Fix) -> Finding | None:
    """Decide whether the dictionary has to name the object with its backend; None where another call is passed it."""
    settings, platform = parameter.settings, context.platform
    assert settings is not None
    if use.overrides_init:
        return None  # what the class passes on is a call of its own
    argument = use.argument(parameter)
    result = start(context, use, parameter, argument, [], [pick_default_backend(context, parameter)])
    if (never := unreachable(context, use)) is not None:
        return result.keep(never)
    if not is_default_wrong(context, parameter):
        return result.keep(Reason.of("keep-omitted", parameter=parameter.name))
    args = {**build_default_arguments(context, parameter), "name": settings.value, "keyword": settings.keyword}
    if context.may_be_bare:
        return result.review(fix.id, Reason.of("review-settings-open", **args))
    by_hand = result.review(fix.id, Reason.of("review-settings", **args))
    text = f'"{settings.key}": {_format_inner_dictionary(settings, platform.backend.wanted)}'
    change: Change
    if argument is None:
        if use.spread:
            return by_hand
        change = NewKeyword(use.module, use.call, parameter.name, f"{{{text}}}")
    else:
        there = look_up(context.tracer, use.module, argument, ast.Constant(settings.key), Trace())
        if there and all(_names_backend(context, one, settings) for one in there):
            return None  # the key in the inner dictionary is a site of its own
        if there != [] or not isinstance(argument, ast.Dict):
            return by_hand
        separator = ", " if argument.keys else ""
        change = Splice(use.module, use.module.place(argument).start + 1, text + separator)
    safe = fix.applicability == "safe" and parameter.add_applicability == "safe"
    return decide_default_backend(
        context, parameter, result.edit(fix.id, safe, Reason.of("edit-settings", **args), [change]), fix
    )


def _names_backend(context: Context, source: Value, settings: Settings) -> bool:
    """Whether an object's dictionary is written out, with its backend."""
    found = [source]
    for key in (settings.arguments, settings.keyword):
        parts = [_of_key(context, one, key) for one in found]
        if not parts or not all(parts):
            return False
        found = [one for part in parts for one in part]
    return True


def _of_key(context: Context, source: Value, key: str) -> list[Value]:
    if not isinstance(source.module, Module) or not isinstance(source.node, ast.Dict):
        return []
    return look_up(context.tracer, source.module, source.node, ast.Constant(key), Trace()) or []


def _format_inner_dictionary(settings: Settings, wanted: str) -> str:
    """Source text of the inner dictionary."""
    arguments = f'{{"{settings.keyword}": "{wanted}"}}'
    return f'{{"{settings.target}": "{settings.value}", "{settings.arguments}": {arguments}}}'
