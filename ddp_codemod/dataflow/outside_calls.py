"""Calls that are handed a function: whether they may call it, or only look at it."""

from __future__ import annotations

import ast
import builtins

from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.entities import Definition


def may_call(tracer: Tracer, module: Module, call: ast.Call) -> bool:
    """Whether what a function is handed to is code that is not read and may call it."""
    entities = tracer.resolver.resolve(module, call.func)
    if isinstance(call.func, ast.Name) and not entities and hasattr(builtins, call.func.id):
        return any(call.func.id in idioms.callers for idioms in tracer.idioms)
    return not any(isinstance(entity, Definition) for entity in entities) and not is_only_inspecting(tracer, module, call)


def is_only_inspecting(tracer: Tracer, module: Module, call: ast.Call) -> bool:
    """Whether a call is of a package that looks at a function, or replaces it."""
    tops = {name.partition(".")[0] for name in tracer.resolver.names(module, call.func)}
    return any(tops & set(idioms.lookers) for idioms in tracer.idioms)
