"""Objects of a surface's own class, whose attributes say what the surface was passed."""

from __future__ import annotations

import ast

from ddp_codemod.dataflow.points_to import find_points_to_set
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.entities import Definition, Instance
from ddp_codemod.sites.scopes import bindings, owner_scope, scope_of


def is_surface_attribute(tracer: Tracer, module: Module, node: ast.expr, attribute: str) -> bool:
    """Whether an attribute or method belongs to an object of a surface and is named for its backend parameter.

    ``strategy.process_group_backend`` is what the strategy was passed where it was made, which is a site of its own.
    """
    if not any(name in attribute for name in tracer.backend_parameters):
        return False
    names: list[str] = []
    for entity in find_points_to_set(tracer, module, node):
        if isinstance(entity, (Instance, Definition)) and isinstance(entity.node, ast.ClassDef):
            names += tracer.resolver.external_bases(entity.module, entity.node)
    if isinstance(node, ast.Name):
        home = owner_scope(module, scope_of(module, node), node.id)
        for made in bindings(module, home).get(node.id, ()) if home is not None else ():
            if isinstance(made.node, ast.arg) and made.node.annotation is not None:
                names += tracer.resolver.names(module, made.node.annotation)
            elif made.kind == "value" and isinstance(made.value, ast.Call):
                names += tracer.resolver.names(module, made.value.func)
    surfaces = [surface for name in names if (surface := tracer.finder.surface(name))]
    return any(part.role == "backend" and part.name in attribute for surface in surfaces for part in surface.parameters)
