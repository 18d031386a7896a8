"""Finds the number of a device that a call passes on: as an argument, or to a parameter of a function of the project's own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ddp_codemod.catalog.advisory import Pattern
from ddp_codemod.impact.device_values import is_device
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.policy.findings import Context
from ddp_codemod.sites.entities import Definition


def find_passed_numbers(context: Context, pattern: Pattern, module: Module) -> Iterator[tuple[ast.Call, ast.expr]]:
    """What is called like one of ``ranks`` and is an argument called like one of ``keywords``, or for a parameter called so.

    Of calls of the project's own functions and classes, and of those below ``below`` that are not below one of ``without``.
    """
    for call in module.nodes.get(ast.Call, ()):
        assert isinstance(call, ast.Call)
        named = [one.value for one in call.keywords if one.arg in pattern.keywords and last_name(one.value) in pattern.ranks]
        placed = [at for at, one in enumerate(call.args) if last_name(one) in pattern.ranks]
        if not named and not placed:
            continue
        found = [one.node for one in context.tracer.resolver.resolve(module, call.func) if isinstance(one, Definition)]
        given = named if found or _is_from_outside(context, pattern, module, call) else []
        given += [call.args[at] for at in placed if found and all(_is_for(pattern, call, at, one) for one in found)]
        yield from ((call, one) for one in given if is_device(context, pattern, module, one))


def _is_from_outside(context: Context, pattern: Pattern, module: Module, call: ast.Call) -> bool:
    """Whether a call is of the library below which all functions take devices in the same way."""
    names = [f"{name}." for name in context.tracer.resolver.names(module, call.func)]
    return any(
        name.startswith(f"{pattern.below}.") and not any(name.startswith(f"{other}.") for other in pattern.without)
        for name in names
    )


def _is_for(pattern: Pattern, call: ast.Call, position: int, node: ast.AST) -> bool:
    """Whether the parameter at a position is called like one of ``keywords``; that of a method has its object before it, or not."""
    if any(isinstance(one, ast.Starred) for one in call.args[:position]) or not isinstance(call.func, ast.Name):
        return False
    names = _list_parameters(node)
    return len(names) > position and names[position] in pattern.keywords


def _list_parameters(node: ast.AST) -> list[str]:
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return []
    return [one.arg for one in (*node.args.posonlyargs, *node.args.args)]
