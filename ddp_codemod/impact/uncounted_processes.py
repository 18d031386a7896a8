"""Finds checks for a device behind which a program counts its processes: elsewhere it starts one, and nothing says so."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ddp_codemod.catalog.advisory import Pattern, Rewrite
from ddp_codemod.dataflow.opened_gates import is_one
from ddp_codemod.impact.unsynchronized_models import evaluate_test, is_device_test, split_branches
from ddp_codemod.parse.python import Module, last_name, walk
from ddp_codemod.policy.findings import PACKAGE, Change, Context, Insertions
from ddp_codemod.sites.entities import Definition


def find_uncounted(context: Context, pattern: Pattern, module: Module) -> Iterator[tuple[ast.expr, bool]]:
    """The tests that are off here, behind which a number of processes is set which is one elsewhere; and whether an edit opens them."""
    opened, resolver = context.facts.edited.opened, context.tracer.resolver
    if not any(opened.starters & set(resolver.names(module, call.func)) for call in _list_calls(module.tree)):
        return
    for node in module.nodes.get(ast.If, ()):
        assert isinstance(node, ast.If)
        taken = evaluate_test(context, module, node.test, pattern.device)
        if taken is None or not is_device_test(context, pattern, module, node.test):
            continue
        call = node.test if isinstance(node.test, ast.Call) else None
        kind = opened.find(resolver, module, call) if call is not None else ""
        if kind == "required":
            continue  # opened for good, and counted behind it
        off, on = split_branches(module, node, taken)
        targets = _list_counted(pattern, off)
        if targets and opened.is_started(resolver, module, targets) and not _is_counted_otherwise(on, targets):
            if context.facts.unreachable(module, node) is None:
                yield node.test, kind == "counted"


def is_one_without_device(context: Context, pattern: Pattern, module: Module, argument: ast.expr) -> bool:
    """Whether ``-1 if cuda.is_available() else 1`` is passed: 1 here, and something else where there is a device."""
    if not isinstance(argument, ast.IfExp) or not is_device_test(context, pattern, module, argument.test):
        return False
    taken = evaluate_test(context, module, argument.test, pattern.device)
    return taken is False and _is_number(argument.orelse, 1) and not _is_number(argument.body, 1)


def _is_number(node: ast.expr, number: int) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value == number


def open_for_several(rewrite: Rewrite, module: Module, test: ast.expr) -> list[Change]:
    """``if cuda.is_available() or int(os.environ.get("LOCAL_WORLD_SIZE", 1)) > 1:``"""
    end = module.place(test).end
    asked = f' or int({PACKAGE}.environ.get("{rewrite.value}", {rewrite.otherwise})) > 1'
    return [Insertions(module, test, ((end, end, asked),), rewrite.package)]


def _list_calls(tree: ast.AST) -> Iterator[ast.Call]:
    return (part for part in walk(tree) if isinstance(part, ast.Call))


def _list_counted(pattern: Pattern, off: Sequence[ast.AST]) -> set[str]:
    """The names that a branch sets to a number of processes which is not written out."""
    found = (part for one in off for part in walk(one) if isinstance(part, ast.Assign))
    return {
        ast.unparse(target)
        for one in found
        if not isinstance(one.value, ast.Constant)
        for target in one.targets
        if last_name(target) in pattern.holders
    }


def _is_counted_otherwise(on: Sequence[ast.AST], targets: set[str]) -> bool:
    """Whether the other branch sets one of the names to anything but one or none."""
    for part in (part for one in on for part in walk(one) if isinstance(part, ast.Assign)):
        if any(ast.unparse(target) in targets for target in part.targets) and not is_one(part, targets):
            return True
    return False


def list_started_modules(context: Context, module: Module) -> list[Module]:
    """The file, and those with functions that its calls call or are passed."""
    found = {module.name: module}
    for call in _list_calls(module.tree):
        for part in (call.func, *call.args):
            for entity in context.tracer.resolver.resolve(module, part) if isinstance(part, (ast.Name, ast.Attribute)) else ():
                if isinstance(entity, Definition):
                    found.setdefault(entity.module.name, entity.module)
    return [found[name] for name in sorted(found)]
