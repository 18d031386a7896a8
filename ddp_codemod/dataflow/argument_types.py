"""Objects that the syntax alone does not name: what the callers pass for a parameter, and those of a surface's own class."""

from __future__ import annotations

import ast
import re

from ddp_codemod.dataflow.callers import callers
from ddp_codemod.dataflow.calls import bound_method, given_argument
from ddp_codemod.dataflow.leaves import Frame
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.resolve import Definition, Entity, Instance
from ddp_codemod.sites.scopes import bindings, owner, scope_of
from ddp_codemod.sites.words import stands

DEPTH = 5  # functions that hand an object on

_ATTRIBUTE = re.compile(rb"\.\Z"), re.compile(rb"\s*(?::[^=\n]+)?=(?!=)")
_FIELD = re.compile(rb"(?:\A|\n)[ \t]*(?:def\s+)?\Z"), re.compile(rb"\s*[:=(](?!=)")


def stored(tracer: Tracer, attribute: str) -> bool:
    """Whether any file of the project looks as if an object, a class or a module were given an attribute of this name."""
    known = tracer.memory.setdefault("stored", {})
    if attribute not in known:
        project, name = tracer.resolver.project, attribute.encode()
        found = (project.data(file) for file in project.mentioning(attribute))
        known[attribute] = any(stands(data, name, *_ATTRIBUTE) or stands(data, name, *_FIELD) for data in found)
    return bool(known[attribute])


def passed(tracer: Tracer, module: Module, node: ast.expr, frame: Frame | None = None, depth: int = 0) -> list[Entity] | None:
    """What the calls of the project pass for a parameter; None where the name is none, or not all that they pass is known."""
    if not isinstance(node, ast.Name) or depth > DEPTH:
        return None
    home = owner(module, scope_of(module, node), node.id)
    if not isinstance(home, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    if [made.kind for made in bindings(module, home)[node.id]] != ["parameter"]:
        return None
    within = frame.find(home) if frame else None
    if within is not None and node.id in within.bound:
        given = [within.bound[node.id]]
    else:
        calls = callers(tracer, module, home)
        method = bound_method(module, home)
        given = [(call.module, argument, None) for call in calls if (argument := given_argument(call, home, node.id, method))]
        if len(given) != len(calls):
            return None
    found: list[Entity] = []
    for other, argument, outer in given:
        entities = tracer.resolver.resolve(other, argument) or passed(tracer, other, argument, outer, depth + 1)
        if not entities:
            return None
        found += entities
    return list(dict.fromkeys(found)) or None


def of_surface(tracer: Tracer, module: Module, node: ast.expr, attribute: str) -> bool:
    """Whether an attribute or method belongs to an object of a surface and is named for its backend parameter.

    ``strategy.process_group_backend`` is what the strategy was given where it was made, which is a site of its own.
    """
    if not any(name in attribute for name in tracer.backend_parameters):
        return False
    names: list[str] = []
    for entity in tracer.resolver.resolve(module, node):
        if isinstance(entity, (Instance, Definition)) and isinstance(entity.node, ast.ClassDef):
            names += tracer.resolver.external_bases(entity.module, entity.node)
    if isinstance(node, ast.Name):
        home = owner(module, scope_of(module, node), node.id)
        for made in bindings(module, home).get(node.id, ()) if home is not None else ():
            if isinstance(made.node, ast.arg) and made.node.annotation is not None:
                names += tracer.resolver.names(module, made.node.annotation)
            elif made.kind == "value" and isinstance(made.value, ast.Call):
                names += tracer.resolver.names(module, made.value.func)
    surfaces = [surface for name in names if (surface := tracer.finder.surface(name))]
    return any(part.role == "backend" and part.name in attribute for surface in surfaces for part in surface.parameters)
