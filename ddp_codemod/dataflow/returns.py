"""What a call of a function of the project gives back."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec.structs import replace

from ddp_codemod.dataflow import parameters, surface_objects
from ddp_codemod.dataflow.leaves import Frame, Leaf, Way
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.kinds import OriginKind
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.entities import Definition
from ddp_codemod.sites.scopes import bindings, owner, scope_of


def result(tracer: Tracer, module: Module, node: ast.Call, way: Way) -> list[Leaf]:
    """What a function of the project returns for this call."""
    found: list[Leaf] = []
    turns = False  # whether it gives back only what it is asked for while that is asked for
    for entity in tracer.resolver.resolve(module, node.func):
        if isinstance(entity, Definition) and isinstance(entity.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            made = returned(tracer, entity, way, parameters.frame(tracer, module, node, entity, way))
            found, turns = [*found, *made], turns or (not made and any(_returned(tracer, entity)))
    if turns and not found:
        return []
    found = found or list(_of_lambda(tracer, module, node, way))
    if (
        not found
        and isinstance(node.func, ast.Attribute)
        and surface_objects.of_surface(tracer, module, node.func.value, node.func.attr)
    ):
        return [Leaf(module, node, OriginKind.HANDED_ON, way=way)]
    return found or [tracer.unknown(module, node, way, "why-call", text=module.short_text(node.func))]


def _of_lambda(tracer: Tracer, module: Module, node: ast.Call, way: Way) -> Iterator[Leaf]:
    """What a call of a name gives that stands for a lambda, and for nothing else."""
    if not isinstance(node.func, ast.Name) or ast.Lambda not in module.nodes:
        return
    scope = owner(module, scope_of(module, node.func), node.func.id)
    made = [binding.value for binding in bindings(module, scope).get(node.func.id, ())] if scope is not None else []
    if not any(isinstance(part, ast.Lambda) for value in made if value is not None for part in ast.walk(value)):
        return
    called = tracer.evaluate(module, node.func, Way(kind=OriginKind.OBJECT, frame=way.frame))
    if all(isinstance(leaf.node, ast.Lambda) for leaf in called):
        for home, function in (leaf.code for leaf in called):
            step = way.inside(None).hop(home.place(function), Reason.of("hop-returns", name=node.func.id), OriginKind.RETURN)
            yield from tracer.evaluate(home, function.body, step)  # type: ignore[attr-defined]


def returned(tracer: Tracer, entity: Definition, way: Way, frame: Frame | None) -> list[Leaf]:
    """The leaves of a function's ``return`` statements that the platform can reach."""
    function, module = entity.node, entity.module
    step = replace(way, frame=frame).hop(module.place(function), Reason.of("hop-returns", name=function.name), OriginKind.RETURN)
    return [leaf for value in _returned(tracer, entity) for leaf in tracer.evaluate(module, value, step)]


def _returned(tracer: Tracer, entity: Definition) -> Iterator[ast.expr]:
    """The values of a function's ``return`` statements that the platform can reach."""
    module = entity.module
    for statement in module.nodes.get(ast.Return, ()):
        if isinstance(statement, ast.Return) and scope_of(module, statement) is entity.node and statement.value is not None:
            if tracer.facts.unreachable(module, statement) is None:
                yield statement.value
