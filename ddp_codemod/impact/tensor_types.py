"""Where a tensor that a call is passed gets its type: ``dtype=torch.float64``, ``.double()``, ``.to(torch.float64)``."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator

from ddp_codemod.dataflow.values import Trace
from ddp_codemod.kinds import OriginKind
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.findings import Context

# methods that leave the type as it is, unless they are passed one; those that are called like a device do too
_SAME = frozenset({"clone", "contiguous", "detach", "flatten", "reshape", "squeeze", "to", "unsqueeze", "view"})
_CASTS = frozenset({"to", "type"})
DEPTH = 4  # variables that a tensor goes through, each with calls of its own


def find_given_types(
    context: Context, module: Module, tensor: ast.expr, types: Container[str], depth: int = 0
) -> Iterator[tuple[Module, ast.expr]]:
    """The expressions that make a tensor one of some types, by their names in torch, wherever it comes from; none where that is not seen."""
    if isinstance(tensor, (ast.Name, ast.Attribute)):
        on = Trace(kind=OriginKind.OBJECT, certain=True, near=True)
        for source in context.tracer.evaluate(module, tensor, on) if depth < DEPTH else ():
            if (
                isinstance(source.module, Module)
                and isinstance(source.node, ast.Call)
                and source.trace.doubt is None
                and not source.trace.is_over
            ):
                yield from find_given_types(context, source.module, source.node, types, depth + 1)
        return
    while isinstance(tensor, ast.Call):
        given = [keyword.value for keyword in tensor.keywords if keyword.arg == "dtype"]
        function = tensor.func
        if isinstance(function, ast.Attribute):
            if function.attr in types:
                yield module, function
                return
            if function.attr in _CASTS:
                given += tensor.args[:1]
        named = [one for one in given if _is_torch_type(context, module, one, types)]
        same = isinstance(function, ast.Attribute) and (function.attr in _SAME or function.attr in context.tracer.device_types)
        if named or not isinstance(function, ast.Attribute) or not same:
            yield from ((module, one) for one in named[:1])
            return
        if any(keyword.arg == "dtype" for keyword in tensor.keywords) or _has_other_type(context, module, given):
            return
        tensor = function.value
    if isinstance(tensor, (ast.Name, ast.Attribute)):
        yield from find_given_types(context, module, tensor, types, depth)


def _is_torch_type(context: Context, module: Module, node: ast.expr, types: Container[str]) -> bool:
    return any(
        name.startswith("torch.") and name.rpartition(".")[2] in types for name in context.tracer.resolver.names(module, node)
    )


def _has_other_type(context: Context, module: Module, given: list[ast.expr]) -> bool:
    """Whether what is passed to a cast is a type of torch's: a device is none."""
    return any(name.startswith("torch.") for one in given for name in context.tracer.resolver.names(module, one))
