"""Loops over values that are there: ``for backend in ["gloo", "nccl"]``, ``for backend, size in {"gloo": 2}.items()``."""

from __future__ import annotations

import ast

from ddp_codemod.dataflow.additions import FILLING, has_additions
from ddp_codemod.dataflow.escape_analysis import GROWING
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.dataflow.values import Trace, Value
from ddp_codemod.kinds import OriginKind
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.scopes import Binding

LOOPS = (ast.For, ast.AsyncFor, ast.comprehension)


def trace_loop(tracer: Tracer, module: Module, binding: Binding, trace: Trace) -> list[Value] | None:
    """The sources of a loop's variable; None where what it goes over is not written out."""
    loop = binding.node
    path = _find_target_path(loop.target, binding.name) if isinstance(loop, LOOPS) else None
    if path is None or not isinstance(loop, LOOPS):
        return None
    over: ast.expr = loop.iter
    if isinstance(over, ast.Call) and isinstance(over.func, ast.Name) and over.func.id == "enumerate" and over.args:
        if path[:1] != [1]:
            return None
        over, path = over.args[0], path[1:]
    over, part = _split_mapping_loop(over)
    if has_additions(module, over, GROWING | FILLING):
        return None
    found: list[Value] = []
    for source in tracer.evaluate(module, over, trace):
        elements = _list_elements(source.node, part)
        if elements is None:
            return None
        for element in elements:
            at = _pick_element(element, path)
            if at is None:
                return None
            step = source.trace.step(source.code[0].place(element), Reason.of("hop-loop", name=binding.name), OriginKind.LOOP)
            found += tracer.evaluate(source.code[0], at, step)
    return found


def _split_mapping_loop(over: ast.expr) -> tuple[ast.expr, str]:
    """The mapping whose entries a loop goes over, and which part of them; else what it goes over, and ""."""
    method = over.func if isinstance(over, ast.Call) and not over.args and not over.keywords else None
    if isinstance(method, ast.Attribute) and method.attr in ("keys", "values", "items"):
        return method.value, method.attr
    return over, ""


def _list_elements(node: object, part: str) -> list[ast.expr] | None:
    """What a loop takes one after the other; None where that is not written out."""
    if isinstance(node, (ast.List, ast.Tuple)) and not part:
        return node.elts
    if not isinstance(node, ast.Dict) or None in node.keys:
        return None
    keys = [key for key in node.keys if key is not None]
    if part == "items":
        return [ast.copy_location(ast.Tuple([key, value]), key) for key, value in zip(keys, node.values, strict=True)]
    return node.values if part == "values" else keys


def _find_target_path(target: ast.expr, name: str) -> list[int] | None:
    """Where a name is in a loop's target: [] for the target itself, [1] for the second of a tuple."""
    if isinstance(target, ast.Name):
        return [] if target.id == name else None
    for index, part in enumerate(target.elts if isinstance(target, (ast.Tuple, ast.List)) else ()):
        if isinstance(part, ast.Starred):
            return None
        inside = _find_target_path(part, name)
        if inside is not None:
            return [index, *inside]
    return None


def _pick_element(node: ast.expr, path: list[int]) -> ast.expr | None:
    for index in path:
        if not isinstance(node, (ast.Tuple, ast.List)) or index >= len(node.elts):
            return None
        node = node.elts[index]
    return None if isinstance(node, ast.Starred) else node
