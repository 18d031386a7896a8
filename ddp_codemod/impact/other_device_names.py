"""Finds the names of a device's module that no other advice is about: what is not known to work without the device."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ddp_codemod.catalog.advisory import Pattern
from ddp_codemod.impact.usage_device import find_names_below
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.policy.findings import Context

_ASKS = ("isinstance", "issubclass", "hasattr", "getattr", "cast")  # what runs nothing of what it is passed


def find_other_names(context: Context, pattern: Pattern, module: Module) -> Iterator[ast.expr]:
    """The names that are called, or passed on to be called, without those of ``without`` and what is below them."""
    known = _list_known_names(context)
    for node in find_names_below(context, pattern, module):
        names = context.tracer.resolver.names(module, node)
        called = _is_called(module, node)
        if pattern.below in names or any(_is_listed(name, pattern.without) or (called and name in known) for name in names):
            continue  # the module as a whole is what something else is taken from
        if called or _is_handed_on(module, node):
            yield node


def _list_known_names(context: Context) -> set[str]:
    """The names whose calls another advice for the platform is about; worked out once."""
    memory = context.tracer.memory
    if "known device names" not in memory:
        memory["known device names"] = set(_find_known_names(context))
    known: set[str] = memory["known device names"]
    return known


def _find_known_names(context: Context) -> Iterator[str]:
    patterns = [advice.pattern for advice in context.rules.advice.values() if advice.fits(context.platform)]
    yield from (name for pattern in patterns if pattern is not None and pattern.use != "rest" for name in pattern.names)


def _is_listed(name: str, listed: tuple[str, ...]) -> bool:
    return any(name == one or name.startswith(f"{one}.") for one in listed)


def _is_called(module: Module, node: ast.expr) -> bool:
    above = module.parents.get(node)
    return isinstance(above, ast.Call) and above.func is node


def _is_handed_on(module: Module, node: ast.expr) -> bool:
    """Whether a name is an argument, a decorator or the value of another name: a type, a test or a handler runs nothing of it."""
    above = module.parents.get(node)
    if isinstance(above, ast.keyword):
        return True
    if isinstance(above, ast.Call):
        return last_name(above.func) not in _ASKS
    if isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return node in above.decorator_list
    return isinstance(above, (ast.Assign, ast.Return)) and above.value is node
