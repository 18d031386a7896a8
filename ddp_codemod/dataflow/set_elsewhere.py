"""What other functions set an attribute of the very same object to: ``args.backend = "nccl"``, and then ``start(args)``."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ddp_codemod.dataflow.argument_types import stored
from ddp_codemod.dataflow.leaves import Leaf, Way
from ddp_codemod.dataflow.provenance import provenance
from ddp_codemod.dataflow.stores import stored_as
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.kinds import OriginKind
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.scopes import SELF, scope_of


def set_elsewhere(tracer: Tracer, module: Module, node: ast.Attribute, way: Way, found: Iterable[Leaf]) -> list[Leaf]:
    """The leaves of those assignments, but for what was found already; assignments of the same scope are heeded in their order."""
    if _is_self(node.value) or not stored(tracer, node.attr):
        return []  # what an object's own methods set is looked for with its class
    makers = _makers(tracer, module, node.value, way)
    known, here = {leaf.place for leaf in found}, scope_of(module, node)
    leaves: list[Leaf] = []
    for name in tracer.resolver.project.mentioning(node.attr) if makers else ():
        for other in tracer.resolver.project.programs(name):
            for statement, target, value in stored_as(other, node.attr):
                if (
                    _is_self(target.value)
                    or scope_of(other, statement) is here
                    or tracer.facts.unreachable(other, statement) is not None
                ):
                    continue
                if makers & _makers(tracer, other, target.value, Way()):
                    said = Reason.of("hop-assigned", name=other.text(target))
                    step = way.hop(other.place(statement), said, OriginKind.ASSIGNMENT).inside(None)
                    leaves += (leaf for leaf in tracer.trace(other, value, step) if leaf.place not in known)
    return leaves


def _makers(tracer: Tracer, module: Module, node: ast.expr, way: Way) -> set[ast.Call]:
    """The calls that made an expression's object, where it is that object itself and no part of it."""
    origin = provenance(tracer, module, node, way)
    return {one.call for one in origin.made if one.call is not None and not one.path} if origin.at is node else set()


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in SELF
