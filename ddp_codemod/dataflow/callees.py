"""Which functions of the project a call runs."""

from __future__ import annotations

import ast

from ddp_codemod.dataflow import dispatch_tables
from ddp_codemod.dataflow.calls import Def
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.entities import Definition


def callees_of(tracer: Tracer, module: Module, call: ast.Call) -> list[tuple[Module, Def, int]]:
    """The project's functions that a call runs, and how many of their parameters it does not fill."""
    found: list[tuple[Module, Def, int]] = []
    resolver = tracer.resolver
    for entity in resolver.resolve(module, call.func) or dispatch_tables.resolve_table_entry(tracer, module, call.func):
        if not isinstance(entity, Definition):
            continue
        if isinstance(entity.node, ast.ClassDef):
            makers = [one for one in resolver.member(entity, "__init__") if isinstance(one, Definition)]
            found += [(one.module, one.node, 1) for one in makers if not isinstance(one.node, ast.ClassDef)]
        else:
            method = isinstance(entity.module.parents.get(entity.node), ast.ClassDef)
            static = any(getattr(part, "id", "") == "staticmethod" for part in entity.node.decorator_list)
            found.append((entity.module, entity.node, int(method and not static)))
    return found
