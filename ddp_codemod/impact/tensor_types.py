"""Where a tensor that a call is given gets its type: ``dtype=torch.float64``, ``.double()``, ``.to(torch.float64)``."""

from __future__ import annotations

import ast
from collections.abc import Container

from ddp_codemod.parse.python import Module
from ddp_codemod.policy.findings import Context

# methods that leave the type as it is, unless they are given one; those that are called like a device do too
_SAME = frozenset({"clone", "contiguous", "detach", "flatten", "reshape", "squeeze", "to", "unsqueeze", "view"})
_CASTS = frozenset({"to", "type"})


def type_given(context: Context, module: Module, tensor: ast.expr, types: Container[str]) -> ast.expr | None:
    """The expression that makes a tensor one of some types, by their names in torch; None where none does, or it is not seen."""
    if not isinstance(tensor, ast.Name):
        return _in_chain(context, module, tensor, types)
    made = context.facts.definitions(module, tensor)
    found = [_in_chain(context, module, one.value, types) for one in made if one.kind == "value" and one.value is not None]
    return found[0] if len(found) == len(made) == 1 else None


def _in_chain(context: Context, module: Module, value: ast.expr, types: Container[str]) -> ast.expr | None:
    """The last of the calls behind each other that says a type, if it is one of these."""
    while isinstance(value, ast.Call):
        given = [keyword.value for keyword in value.keywords if keyword.arg == "dtype"]
        function = value.func
        if isinstance(function, ast.Attribute):
            if function.attr in types:
                return function
            if function.attr in _CASTS:
                given += value.args[:1]
        named = [one for one in given if _is_torchs(context, module, one, types)]
        same = isinstance(function, ast.Attribute) and (function.attr in _SAME or function.attr in context.tracer.device_types)
        if named or not isinstance(function, ast.Attribute) or not same:
            return named[0] if named else None
        if any(keyword.arg == "dtype" for keyword in value.keywords) or _says_another(context, module, given):
            return None
        value = function.value
    return None


def _is_torchs(context: Context, module: Module, node: ast.expr, types: Container[str]) -> bool:
    return any(
        name.startswith("torch.") and name.rpartition(".")[2] in types for name in context.tracer.resolver.names(module, node)
    )


def _says_another(context: Context, module: Module, given: list[ast.expr]) -> bool:
    """Whether what is given to a cast is a type of torch's: a device is none."""
    return any(name.startswith("torch.") for one in given for name in context.tracer.resolver.names(module, one))
