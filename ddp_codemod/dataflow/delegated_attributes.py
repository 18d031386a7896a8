"""Attributes that a class takes from another object: ``def __getattr__(self, name): return getattr(self.inner, name)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ddp_codemod.dataflow.classes import trace_class_attribute
from ddp_codemod.dataflow.points_to import find_object_set
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.dataflow.values import Trace, Value
from ddp_codemod.kinds import OriginKind
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.entities import Instance
from ddp_codemod.sites.scopes import bindings, scope_of


def trace_delegated_attribute(tracer: Tracer, module: Module, made: ast.ClassDef, name: str, trace: Trace) -> Iterator[Value]:
    """The sources of an attribute that a class does not have itself, in the objects of the project that it asks for it."""
    for home, base in tracer.resolver.lineage(module, made):
        for binding in bindings(home, base).get("__getattr__", ()):
            if isinstance(binding.node, ast.FunctionDef):
                for call in _list_delegations(home, binding.node):
                    reason = Reason.of("hop-delegated", name=name, owner=base.name)
                    step = trace.step(home.place(call), reason, OriginKind.RETURN).inside(None)
                    for inner in find_object_set(tracer, home, call.args[0]):
                        if isinstance(inner, Instance) and isinstance(inner.node, ast.ClassDef):
                            yield from trace_class_attribute(tracer, inner.module, inner.node, name, call, step)


def _list_delegations(module: Module, function: ast.FunctionDef) -> Iterator[ast.Call]:
    """The calls ``getattr(inner, name)`` whose result a ``__getattr__`` returns; ``name`` is its parameter."""
    wanted = function.args.args[1].arg if len(function.args.args) == 2 else None
    for statement in module.nodes.get(ast.Return, ()):
        call = statement.value if isinstance(statement, ast.Return) and scope_of(module, statement) is function else None
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "getattr" and len(call.args) == 2:
            if isinstance(call.args[1], ast.Name) and call.args[1].id == wanted:
                yield call
