"""What a call of a function of the project gives back."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec.structs import replace

from ddp_codemod.dataflow import parameters, surface_objects
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.dataflow.values import Frame, Trace, Value
from ddp_codemod.kinds import OriginKind
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.entities import Definition
from ddp_codemod.sites.scopes import bindings, owner_scope, scope_of


def trace_call_result(tracer: Tracer, module: Module, node: ast.Call, trace: Trace) -> list[Value]:
    """What a function of the project returns for this call."""
    found: list[Value] = []
    turns = False  # whether it gives back only what it is asked for while that is asked for
    for entity in tracer.resolver.resolve(module, node.func):
        if isinstance(entity, Definition) and isinstance(entity.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            made = trace_returns(tracer, entity, trace, parameters.frame(tracer, module, node, entity, trace))
            found, turns = [*found, *made], turns or (not made and any(_list_returned_values(tracer, entity)))
    if turns and not found:
        return []
    found = found or list(_trace_lambda(tracer, module, node, trace))
    if (
        not found
        and isinstance(node.func, ast.Attribute)
        and surface_objects.is_surface_attribute(tracer, module, node.func.value, node.func.attr)
    ):
        return [Value(module, node, OriginKind.HANDED_ON, trace=trace)]
    return found or [tracer.unknown(module, node, trace, "why-call", text=module.short_text(node.func))]


def _trace_lambda(tracer: Tracer, module: Module, node: ast.Call, trace: Trace) -> Iterator[Value]:
    """What a call of a name gives that stands for a lambda, and for nothing else."""
    if not isinstance(node.func, ast.Name) or ast.Lambda not in module.nodes:
        return
    scope = owner_scope(module, scope_of(module, node.func), node.func.id)
    made = [binding.value for binding in bindings(module, scope).get(node.func.id, ())] if scope is not None else []
    if not any(isinstance(part, ast.Lambda) for value in made if value is not None for part in ast.walk(value)):
        return
    called = tracer.evaluate(module, node.func, Trace(kind=OriginKind.OBJECT, frame=trace.frame))
    if all(isinstance(source.node, ast.Lambda) for source in called):
        for home, function in (source.code for source in called):
            step = trace.inside(None).step(home.place(function), Reason.of("hop-returns", name=node.func.id), OriginKind.RETURN)
            yield from tracer.evaluate(home, function.body, step)  # type: ignore[attr-defined]


def trace_returns(tracer: Tracer, entity: Definition, trace: Trace, frame: Frame | None) -> list[Value]:
    """The sources of a function's ``return`` statements that the platform can reach."""
    function, module = entity.node, entity.module
    step = replace(trace, frame=frame).step(
        module.place(function), Reason.of("hop-returns", name=function.name), OriginKind.RETURN
    )
    return [source for value in _list_returned_values(tracer, entity) for source in tracer.evaluate(module, value, step)]


def _list_returned_values(tracer: Tracer, entity: Definition) -> Iterator[ast.expr]:
    """The values of a function's ``return`` statements that the platform can reach."""
    module = entity.module
    for statement in module.nodes.get(ast.Return, ()):
        if isinstance(statement, ast.Return) and scope_of(module, statement) is entity.node and statement.value is not None:
            if tracer.facts.unreachable(module, statement) is None:
                yield statement.value
