"""Finds in a file where code goes by the name or the class of a backend, and by a device that was picked from a list."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ddp_codemod.catalog.advisory import Pattern
from ddp_codemod.dataflow.calls import find_argument, index_calls
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.values import CurrentBackend
from ddp_codemod.kinds import OriginKind
from ddp_codemod.parse.python import Module, last_name, walk
from ddp_codemod.policy.findings import Context
from ddp_codemod.sites.aliases import aliases_of


def find_instances(context: Context, pattern: Pattern, module: Module) -> Iterator[ast.Call]:
    """The questions whether an object is of one of the classes."""
    for call in index_calls(module).get("isinstance", ()):
        asked = find_argument(call, "", 1)
        classes = asked.elts if isinstance(asked, ast.Tuple) else [asked] if asked is not None else []
        if any(set(context.tracer.resolver.names(module, one)) & set(pattern.names) for one in classes):
            yield call


def find_comparisons(context: Context, pattern: Pattern, module: Module) -> Iterator[ast.Compare]:
    """The comparisons of what one of the functions gives, also when it was kept in a variable, with one of the texts."""
    for compare in module.nodes.get(ast.Compare, ()):
        assert isinstance(compare, ast.Compare)
        sides = [compare.left, *compare.comparators]
        for side, other in (sides, sides[::-1]) if len(sides) == 2 else ():
            named = _read_names(other)
            if (
                named
                and named <= set(pattern.texts)
                and (other is not compare.left or isinstance(compare.ops[0], (ast.Eq, ast.NotEq)))
            ):
                if any(isinstance(source.value, CurrentBackend) for source in context.tracer.evaluate(module, side)):
                    yield compare


def is_text(context: Context, pattern: Pattern, module: Module, argument: ast.expr) -> bool:
    """Whether an argument is one of the texts."""
    values = (getattr(source.value, "value", None) for source in context.tracer.evaluate(module, argument))
    return any(isinstance(value, str) and value.lower() in pattern.texts for value in values)


def is_option(context: Context, pattern: Pattern, module: Module, argument: ast.expr) -> bool:
    """Whether an argument is nothing but what one of the options holds where it is not passed, and that is a number from 0 on."""
    if any(text in module.source.text for text in pattern.without):
        return False
    sources = context.tracer.evaluate(module, argument)
    return bool(sources) and all(
        source.kind is OriginKind.OPTION_DEFAULT
        and isinstance(source.value, Known)
        and isinstance(source.value.value, int)
        and source.value.value >= 0
        and any(dict(step.reason.args).get("name") in pattern.texts for step in source.trace.passed)
        for source in sources
    )


def has_item_call(context: Context, pattern: Pattern, module: Module) -> bool:
    """Whether the file calls one of the functions with an element of a list."""
    last = {name.rpartition(".")[2] for name in pattern.beside}
    for word in sorted(last | aliases_of(module, last)):
        for call in index_calls(module).get(word, ()):
            if set(pattern.beside) & set(context.tracer.resolver.names(module, call.func)) and call.args:
                if is_list_item(context, module, call.args[0]):
                    return True
    return False


def is_list_item(context: Context, module: Module, argument: ast.expr) -> bool:
    """Whether an argument is an element of a list, here or where its variable gets its value; an environment is no list."""
    written = [argument]
    if isinstance(argument, ast.Name):
        written += [
            result.value for result in context.facts.definitions(module, argument) if result.kind == "value" and result.value
        ]
    parts = (part for node in written for part in walk(node) if isinstance(part, ast.Subscript))
    return any(last_name(part.value) != "environ" and not isinstance(part.slice, ast.Slice) for part in parts)


def _read_names(side: ast.expr) -> set[str]:
    """The names that are on a side of a comparison, as texts or as members of an enum; empty where anything else does."""
    parts = side.elts if isinstance(side, (ast.List, ast.Tuple, ast.Set)) else [side]
    found = {_read_name(part) for part in parts}
    return set() if None in found else {text for text in found if text is not None}


def _read_name(part: ast.expr) -> str | None:
    if isinstance(part, ast.Constant) and isinstance(part.value, str):
        return part.value.lower()
    return part.attr.lower() if isinstance(part, ast.Attribute) and part.attr.isupper() else None


def is_availability_checked(module: Module, around: ast.If | ast.IfExp, child: ast.AST, node: ast.AST) -> bool:
    """Whether a place runs only where what it names is there: ``dist.New.Options() if hasattr(dist, "New") else None``."""
    asked = around.test.values if isinstance(around.test, ast.BoolOp) and isinstance(around.test.op, ast.And) else [around.test]
    body = around.body if isinstance(around.body, list) else [around.body]
    name = node.func if isinstance(node, ast.Call) else node
    for call in asked if child in body else ():
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "hasattr" and len(call.args) == 2:
            held = str(call.args[1].value) if isinstance(call.args[1], ast.Constant) else ""
            if held and f"{module.text(name)}.".startswith(f"{module.text(call.args[0])}.{held}."):
                return True
    return False


def is_joined(context: Context, others: Sequence[str], module: Module, call: ast.Call) -> bool:
    """Whether an ``and`` asks a call, and beside it one of others."""
    both = module.parents.get(call)
    if not isinstance(both, ast.BoolOp) or not isinstance(both.op, ast.And):
        return False
    beside = (part for value in both.values if value is not call for part in ast.walk(value) if isinstance(part, ast.Call))
    return any(set(others) & set(context.tracer.resolver.names(module, part.func)) for part in beside)
