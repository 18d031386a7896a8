"""Calls of a surface under another name: through a ternary, a parameter, a table, an attribute, a function that returns it."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from ddp_codemod.origins.calls import is_value
from ddp_codemod.origins.fold import Known
from ddp_codemod.origins.journey import journey
from ddp_codemod.origins.leaf import Way
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.rules.model import Surface
from ddp_codemod.sites.aliases import aliases
from ddp_codemod.sites.find import Use
from ddp_codemod.sites.resolve import Definition, External, Instance

if TYPE_CHECKING:
    from ddp_codemod.origins.trace import Tracer


def uses_by_value(tracer: Tracer, module: Module, words: Collection[str]) -> Iterator[Use]:
    """The calls of the surfaces that a file hands on as values, wherever in the project these are called."""
    for node, surface in _values(tracer, module, {*words, *aliases(module, words)}):
        way = journey(tracer, module, node)
        for home, call in way.calls:
            if tracer.finder.use(home, call) is not None:
                continue  # found by its name
            bound = [(other, part) for other, part in way.partials if _may_give(tracer, home, call.func, other, part)]
            if not bound and (use := _use(tracer, home, call, node, surface)) is not None:
                yield use
            for other, part in bound:
                whole = Use(other, part, surface, skip=1)
                if not any(whole.argument(one) is not None for one in surface.parameters if one.role == "backend"):
                    yield Use(home, call, surface, skip=1 - len(part.args))
        for home, call in way.arguments if surface.at_once and surface.shown is None else ():
            if (home, call) not in way.partials and _may_call(tracer, home, call):
                yield Use(home, call, surface, handed=True)


def _may_call(tracer: Tracer, module: Module, call: ast.Call) -> bool:
    """Whether what a function is handed to is code that is not read and may call it."""
    if isinstance(call.func, ast.Name) and hasattr(builtins, call.func.id):
        return any(call.func.id in idioms.callers for idioms in tracer.idioms)
    entities = tracer.resolver.resolve(module, call.func)
    if any(isinstance(entity, Definition) for entity in entities):
        return False
    outside = [entity.name.partition(".")[0] for entity in entities if isinstance(entity, External)]
    return not any(top in idioms.lookers for top in outside for idioms in tracer.idioms)


def _values(tracer: Tracer, module: Module, words: Collection[str]) -> Iterator[tuple[ast.expr, Surface]]:
    """The names of a file that stand for a surface and are not called where they stand."""
    for kind in (ast.Name, ast.Attribute):
        for node in module.nodes.get(kind, ()):
            assert isinstance(node, (ast.Name, ast.Attribute))
            if last_name(node) in words and isinstance(node.ctx, ast.Load) and is_value(module, node):
                surfaces = (tracer.finder.surface(name) for name in tracer.resolver.names(module, node))
                if (surface := next(filter(None, surfaces), None)) is not None:
                    yield node, surface


def _use(tracer: Tracer, module: Module, call: ast.Call, value: ast.expr, surface: Surface) -> Use | None:
    """The use that a call is which may be of a surface; ``alone`` where it can be of nothing else."""
    if any(isinstance(entity, (Definition, Instance)) for entity in tracer.resolver.resolve(module, call.func)):
        return None  # a class or function of the project, whose own code is read
    leaves = [
        leaf
        for leaf in tracer.trace(module, call.func, Way(kind="object"))
        if not (isinstance(leaf.value, Known) and leaf.value.value is None)  # which is not called
    ]
    ours = [leaf for leaf in leaves if leaf.node is value or _is_surface(tracer, leaf.module, leaf.node, surface)]
    if not ours and leaves and all(_is_named(tracer, leaf.module, leaf.node) for leaf in leaves):
        return None
    return Use(module, call, surface, alone=len(ours) == len(leaves) and bool(leaves))


def _is_named(tracer: Tracer, module: object, node: object) -> bool:
    """Whether an expression is a name that stands for something known."""
    return (
        isinstance(module, Module) and isinstance(node, (ast.Name, ast.Attribute)) and bool(tracer.resolver.resolve(module, node))
    )


def _is_surface(tracer: Tracer, module: object, node: object, surface: Surface) -> bool:
    if not isinstance(module, Module) or not isinstance(node, (ast.Name, ast.Attribute)):
        return False
    return any(tracer.finder.surface(name) is surface for name in tracer.resolver.names(module, node))


def _may_give(tracer: Tracer, module: Module, callee: ast.expr, other: Module, part: ast.Call) -> bool:
    """Whether a callee can be what a call that binds arguments gives."""
    return any(leaf.module is other and leaf.node is part for leaf in tracer.trace(module, callee, Way(kind="object")))
