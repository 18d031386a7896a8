"""Which functions, classes, objects and modules an expression can be: by what its names are bound to, else by where it comes from."""

from __future__ import annotations

import ast

from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.dataflow.values import Frame, Trace, Value
from ddp_codemod.kinds import OriginKind
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.entities import Definition, Entity


def find_points_to_set(tracer: Tracer, module: Module, node: ast.expr, frame: Frame | None = None) -> list[Entity]:
    """All that an expression can stand for; [] where that is not known, or not all of it.

    Names that are bound to something say what they are; what comes through parameters, tables and attributes is followed as
    every value is, and counts where each way that leads there is known to its end.
    """
    if found := tracer.resolver.resolve(module, node):
        return found
    return find_object_set(tracer, module, node, frame)


def find_object_set(tracer: Tracer, module: Module, node: ast.expr, frame: Frame | None = None) -> list[Entity]:
    """What the values of an expression stand for; [] where one is not known. None has no attributes: another was there by then."""
    return tracer.ask_once(module, ("objects", node, frame), lambda: _follow_values(tracer, module, node, frame), list[Entity]())


def _follow_values(tracer: Tracer, module: Module, node: ast.expr, frame: Frame | None) -> list[Entity]:
    found = tracer.evaluate(module, node, Trace(kind=OriginKind.OBJECT, frame=frame))
    sources = [source for source in found if source.value != Known(None)]
    held = [_resolve_value(tracer, source) if source.trace.doubt is None else [] for source in sources]
    return list(dict.fromkeys(one for some in held for one in some)) if all(held) else []


def _resolve_value(tracer: Tracer, source: Value) -> list[Entity]:
    module, node = source.module, source.node
    if not isinstance(module, Module):
        return []
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [Definition(module, node)]
    if isinstance(node, ast.arg):
        return tracer.resolver.parameter(module, node)
    return tracer.resolver.resolve(module, node) if isinstance(node, ast.expr) else []
