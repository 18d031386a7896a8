"""Loops over values that stand there: ``for backend in ["gloo", "nccl"]``."""

from __future__ import annotations

import ast

from ddp_codemod.dataflow.leaves import Leaf, Way
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.kinds import OriginKind
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.scopes import Binding

LOOPS = (ast.For, ast.AsyncFor, ast.comprehension)


def trace_loop(tracer: Tracer, module: Module, binding: Binding, way: Way) -> list[Leaf] | None:
    """The leaves of a loop's variable; None where what it goes over is not written out."""
    loop = binding.node
    path = _path(loop.target, binding.name) if isinstance(loop, LOOPS) else None
    if path is None or not isinstance(loop, LOOPS):
        return None
    over: ast.expr = loop.iter
    if isinstance(over, ast.Call) and isinstance(over.func, ast.Name) and over.func.id == "enumerate" and over.args:
        if path[:1] != [1]:
            return None
        over, path = over.args[0], path[1:]
    found: list[Leaf] = []
    for leaf in tracer.evaluate(module, over, way):
        if not isinstance(leaf.node, (ast.List, ast.Tuple)):
            return None
        for element in leaf.node.elts:
            at = _element(element, path)
            if at is None:
                return None
            step = leaf.way.hop(leaf.code[0].place(element), Reason.of("hop-loop", name=binding.name), OriginKind.LOOP)
            found += tracer.evaluate(leaf.code[0], at, step)
    return found


def _path(target: ast.expr, name: str) -> list[int] | None:
    """Where a name stands in a loop's target: [] for the target itself, [1] for the second of a tuple."""
    if isinstance(target, ast.Name):
        return [] if target.id == name else None
    for index, part in enumerate(target.elts if isinstance(target, (ast.Tuple, ast.List)) else ()):
        if isinstance(part, ast.Starred):
            return None
        inside = _path(part, name)
        if inside is not None:
            return [index, *inside]
    return None


def _element(node: ast.expr, path: list[int]) -> ast.expr | None:
    for index in path:
        if not isinstance(node, (ast.Tuple, ast.List)) or index >= len(node.elts):
            return None
        node = node.elts[index]
    return None if isinstance(node, ast.Starred) else node
