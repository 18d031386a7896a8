"""Lets a condition on a device hold in a process group too, where its branch does nothing but wrap the model."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from ddp_codemod.catalog.advisory import Pattern, Rewrite
from ddp_codemod.impact.usage import Hit
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.findings import PACKAGE, Change, Context, Insertions

_PLAIN = (ast.Name, ast.Attribute, ast.Constant)


def widen_test(context: Context, pattern: Pattern, rewrite: Rewrite, hit: Hit) -> list[Change]:
    """``if cuda.is_available() or distributed.is_initialized():``, with None for the arguments of the call that only a device has.

    No change where the test asks for more, or the branch does more than to set constants and to wrap a model by one of the names.
    """
    module, test = hit.module, hit.node
    branch = module.parents.get(test)
    if not isinstance(branch, ast.If) or branch.test is not test or not isinstance(test, ast.Call):
        return []
    if set(pattern.makers[:1]).isdisjoint(context.tracer.resolver.names(module, test.func)):
        return []
    given = [_list_device_arguments(context, module, statement, pattern.names, rewrite.drops) for statement in branch.body]
    found = [one for one in given if one is not None]
    if len(found) != len(given) or not any(isinstance(_get_value(one), ast.Call) for one in branch.body):
        return []
    end = module.place(test).end
    changes: list[Change] = [Insertions(module, test, ((end, end, f" or {PACKAGE}{rewrite.condition}"),), rewrite.package)]
    for value in (value for values in found for value in values):
        place, asked = module.place(value), f"{PACKAGE}{rewrite.value}"
        changes.append(
            Insertions(module, value, ((place.end, place.end, f" if {asked} else {rewrite.otherwise}"),), rewrite.package)
        )
    return changes


def _list_device_arguments(
    context: Context, module: Module, statement: ast.stmt, wrappers: Collection[str], drops: Sequence[str]
) -> list[ast.expr] | None:
    """The arguments ``drops`` of the wrapping call that a statement keeps; [] for a constant; None where it does something else."""
    value = _get_value(statement)
    if isinstance(value, ast.Constant):
        return []
    if not isinstance(value, ast.Call) or set(wrappers).isdisjoint(context.tracer.resolver.names(module, value.func)):
        return None
    own = [word.value for word in value.keywords if word.arg in drops]
    others = [*value.args, *(word.value for word in value.keywords if word.arg not in drops)]
    plain = len(value.args) == 1 and all(isinstance(one, _PLAIN) for one in others) and all(word.arg for word in value.keywords)
    return own if plain and not any(isinstance(one, (ast.IfExp, ast.Lambda, ast.NamedExpr)) for one in own) else None


def _get_value(statement: ast.stmt) -> ast.expr | None:
    """What a statement gives to a name or an attribute."""
    if (
        isinstance(statement, ast.Assign)
        and len(statement.targets) == 1
        and isinstance(statement.targets[0], (ast.Name, ast.Attribute))
    ):
        return statement.value
    return None
