"""Lets a condition on a device hold in a process group too, where its branch does nothing but wrap the model."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from ddp_codemod.catalog.advisory import Pattern, Rewrite
from ddp_codemod.dataflow.demands import asks
from ddp_codemod.impact.unsynchronized_models import find_openings
from ddp_codemod.impact.usage import SAYS, Hit
from ddp_codemod.parse.python import Module, last_name, walk
from ddp_codemod.policy.findings import PACKAGE, Change, Context, Insertions

_WRAPPED = "module"  # the attribute of a wrapped model that is the model
_SAYS = (*SAYS, "info", "log", "debug")
_ASKS = ("hasattr", "isinstance")
_PLAIN = (ast.Name, ast.Attribute, ast.Constant)


def widen_test(context: Context, pattern: Pattern, rewrite: Rewrite, hit: Hit) -> list[Change]:
    """``if cuda.is_available() or distributed.is_initialized():``, with None for the arguments of the call that only a device has.

    No change where the test asks for more, where the branch does more than to set constants and to wrap a model by one of the names,
    where the other one does more than to do without, or where code takes the model out of its wrapper by such a test. What else is
    behind a check that is opened has edits of its own.
    """
    module, test = hit.module, hit.node
    branch = module.parents.get(test)
    if isinstance(branch, ast.If) and isinstance(test, ast.expr) and "wrapped" in find_openings(context, module, test):
        return [] if _is_unwrapped_by_test(context, pattern, module, branch) else [_open_in_group(module, test, rewrite)]
    if not isinstance(branch, ast.If) or branch.test is not test or not isinstance(test, ast.Call):
        return []
    if set(pattern.makers[:1]).isdisjoint(context.tracer.resolver.names(module, test.func)):
        return []
    given = [_list_device_arguments(context, module, statement, pattern.names, rewrite.drops) for statement in branch.body]
    found = [one for one in given if one is not None]
    if len(found) != len(given) or not any(isinstance(_get_value(one), ast.Call) for one in branch.body):
        return []
    if not all(_is_counterpart(one, {_name_target(other) for other in branch.body}) for one in branch.orelse):
        return []
    if _is_unwrapped_by_test(context, pattern, module, branch):
        return []
    end = module.place(test).end
    changes: list[Change] = [Insertions(module, test, ((end, end, f" or {PACKAGE}{rewrite.condition}"),), rewrite.package)]
    for value in (value for values in found for value in values):
        place, asked = module.place(value), f"{PACKAGE}{rewrite.value}"
        changes.append(
            Insertions(module, value, ((place.end, place.end, f" if {asked} else {rewrite.otherwise}"),), rewrite.package)
        )
    return changes


def _open_in_group(module: Module, test: ast.expr, rewrite: Rewrite) -> Insertions:
    """``if not cuda.is_available() and not distributed.is_initialized():``, or what a check says that asks for the device itself."""
    end, opposite = module.place(test).end, not isinstance(test, ast.Call)
    asked = f" and not {PACKAGE}{rewrite.condition}" if opposite else f" or {PACKAGE}{rewrite.condition}"
    return Insertions(module, test, ((end, end, asked),), rewrite.package)


def _is_counterpart(statement: ast.stmt, targets: Collection[str | None]) -> bool:
    """Whether a statement of the other branch only sets what this one sets, to something plain, or tells somebody something."""
    if isinstance(statement, ast.If):
        return all(_is_counterpart(one, targets) for one in (*statement.body, *statement.orelse))
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Call) and last_name(statement.value.func) in _SAYS
    return isinstance(statement, ast.Pass) or (isinstance(_get_value(statement), _PLAIN) and _name_target(statement) in targets)


def _is_unwrapped_by_test(context: Context, pattern: Pattern, module: Module, branch: ast.If) -> bool:
    """Whether other code takes the model out of its wrapper, or does not, by a test that would say the wrong thing then.

    In the file itself that is any test but one of the object, or of what the branch sets; elsewhere one that asks for a device.
    """
    project, flags = context.tracer.resolver.project, {_name_target(one) for one in branch.body}
    for name in project.mentioning(_WRAPPED):
        other = project.module(name)
        for node in other.nodes.get(ast.Attribute, ()) if other is not None else ():
            if not isinstance(node, ast.Attribute) or node.attr != _WRAPPED or other is None:
                continue
            for test in _list_tests_around(other, node):
                words = {part for part in walk(test) if isinstance(part, (ast.Name, ast.Attribute))}
                if any(last_name(part) in _ASKS or last_name(part) in flags for part in words):
                    continue
                if (
                    other is module
                    or pattern.device in other.text(test)
                    or asks(context.tracer.resolver, pattern.makers, other, test)
                ):
                    return True
    return False


def _list_tests_around(module: Module, node: ast.AST) -> list[ast.expr]:
    """The tests of the conditions in whose branches a node is."""
    found, child = [], node
    for around in module.ancestors(node):
        if isinstance(around, (ast.If, ast.IfExp)) and child is not around.test:
            found.append(around.test)
        child = around
    return found


def _name_target(statement: ast.stmt) -> str | None:
    return last_name(statement.targets[0]) if isinstance(statement, ast.Assign) else None


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
