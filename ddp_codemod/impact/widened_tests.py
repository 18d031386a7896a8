"""Lets a condition on a device hold in a process group too, where its branch does nothing but wrap the model."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from typing import cast

from ddp_codemod.catalog.advisory import Pattern, Rewrite
from ddp_codemod.dataflow.blocks import list_following
from ddp_codemod.dataflow.calls import index_calls
from ddp_codemod.dataflow.demands import asks
from ddp_codemod.impact.unsynchronized_models import find_openings
from ddp_codemod.impact.usage import SAYS, Hit
from ddp_codemod.parse.python import Module, last_name, walk
from ddp_codemod.policy.findings import PACKAGE, Change, Context, Insertions
from ddp_codemod.sites.aliases import aliases_of

_WRAPPED = "module"  # the attribute of a wrapped model that is the model
_SAYS = (*SAYS, "info", "log", "debug")
_DEVICE = "device"  # what a name that holds one has in it
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
        unwrapping = _find_unwrapping_tests(context, pattern, module, branch)
        return [] if unwrapping is None else [_open_in_group(module, one, rewrite) for one in (test, *unwrapping)]
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
    unwrapping = _find_unwrapping_tests(context, pattern, module, branch)
    if unwrapping is None:
        return []
    changes: list[Change] = [_open_in_group(module, one, rewrite) for one in (test, *unwrapping)]
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
    value = _get_value(statement)
    plain = isinstance(value, _PLAIN) or (isinstance(value, ast.Call) and _is_left_in_place(statement, value))
    return isinstance(statement, ast.Pass) or (plain and _name_target(statement) in targets)


def _is_left_in_place(statement: ast.stmt, call: ast.Call) -> bool:
    """Whether a model is only moved to the device that is there: ``net = net.to(device)``."""
    function = call.func
    if not isinstance(function, ast.Attribute) or function.attr != "to" or len(call.args) != 1 or call.keywords:
        return False
    named = isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == ast.unparse(function.value)
    to = call.args[0]
    return named and (_DEVICE in last_name(to).lower() or (isinstance(to, ast.Constant) and isinstance(to.value, str)))


def _find_unwrapping_tests(context: Context, pattern: Pattern, module: Module, branch: ast.If) -> list[ast.expr] | None:
    """The tests of the file that take the model out of its wrapper and ask what this one asks: they have to say the same.

    None where other code takes it out, or does not, by a test that would say the wrong thing then. In the file itself that is any
    other test but one of the object, or of what the branch sets; elsewhere one that asks for a device.
    """
    project, flags = context.tracer.resolver.project, {_name_target(one) for one in branch.body}
    found: dict[ast.expr, None] = {}
    for name in project.mentioning(_WRAPPED):
        other = project.module(name)
        if other is None or (other is not module and _has_wrapper(context, pattern, other)):
            continue  # what wraps a model itself takes that out
        for node in other.nodes.get(ast.Attribute, ()):
            if not isinstance(node, ast.Attribute) or node.attr != _WRAPPED:
                continue
            for test in _list_tests_around(other, node):
                words = {part for part in walk(test) if isinstance(part, (ast.Name, ast.Attribute))}
                if any(last_name(part) in _ASKS or last_name(part) in flags for part in words):
                    continue
                if other is module and _is_same_question(context, pattern, module, test):
                    found[test] = None
                elif (
                    other is module
                    or pattern.device in other.text(test)
                    or asks(context.tracer.resolver, pattern.makers, other, test)
                ):
                    return None
    return [*found]


def _has_wrapper(context: Context, pattern: Pattern, module: Module) -> bool:
    """Whether a file wraps a model."""
    names, last = set(pattern.names), {name.rpartition(".")[2] for name in pattern.names}
    words = last | aliases_of(module, last)
    calls = (call for word in words for call in index_calls(module).get(word, ()))
    return any(names & set(context.tracer.resolver.names(module, call.func)) for call in calls)


def _is_same_question(context: Context, pattern: Pattern, module: Module, test: ast.expr) -> bool:
    """Whether a test is nothing but the question for the device, and nothing but the model is behind it."""
    if not isinstance(test, ast.Call) or set(pattern.makers[:1]).isdisjoint(context.tracer.resolver.names(module, test.func)):
        return False
    around = module.parents[test]
    behind: list[ast.AST] = (
        [*around.body] if isinstance(around, ast.If) else [around.body] if isinstance(around, ast.IfExp) else []
    )
    return bool(behind) and not any(pattern.device in module.text(one) for one in behind)


def _list_tests_around(module: Module, node: ast.Attribute) -> list[ast.expr]:
    """The tests around that choose between a wrapped model and the same model without its wrapper."""
    found, child, above = [], cast("ast.AST", node), module.parents.get(node)
    kept = [*above.targets] if isinstance(above, ast.Assign) else []  # what holds the model from here on
    names = {ast.unparse(one) for one in (node.value, *kept)}
    for around in module.ancestors(node):
        if isinstance(around, (ast.If, ast.IfExp)) and child is not around.test:
            taken, other = (around.body, around.orelse) if _is_in_body(around, child) else (around.orelse, around.body)
            others: list[ast.AST] = [*other] if isinstance(other, list) else [other]
            if isinstance(around, ast.If) and isinstance(taken, list) and (kept or isinstance(taken[-1], ast.Return)):
                others += list_following(module, around)
            parts = (part for one in others for part in walk(one) if isinstance(part, (ast.Name, ast.Attribute)))
            if any(ast.unparse(part) in names for part in parts):
                found.append(around.test)
        child = around
    return found


def _is_in_body(around: ast.If | ast.IfExp, child: ast.AST) -> bool:
    body: list[ast.AST] = [*around.body] if isinstance(around, ast.If) else [around.body]
    return any(child is one for one in body)


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
