"""Names of devices that a library takes which knows the old device, and not the platform's: they stay, with the question that chooses them."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Set

from ddp_codemod.dataflow.joined_texts import find_literal_prefix
from ddp_codemod.impact.usage import Hit
from ddp_codemod.parse.python import Module, walk
from ddp_codemod.policy.findings import Context


def find_library_devices(context: Context, packages: Set[str]) -> frozenset[ast.AST]:
    """The calls of these packages, and the texts passed to them that begin with the old device's name."""
    project, found = context.tracer.resolver.project, set[ast.AST]()
    for name in sorted(project.naming(packages)) if packages else ():
        for module in project.programs(name):
            for call in _find_calls(context, module, packages):
                found.add(call)
                found.update(_find_device_texts(context, module, call))
    return frozenset(found)


def _find_calls(context: Context, module: Module, packages: Set[str]) -> Iterator[ast.Call]:
    for call in module.nodes.get(ast.Call, ()):
        if isinstance(call, ast.Call):
            names = context.tracer.resolver.names(module, call.func)
            if any(name.partition(".")[0] in packages for name in names):
                yield call


def _find_device_texts(context: Context, module: Module, call: ast.Call) -> Iterator[ast.AST]:
    device = context.platform.device
    for argument in (*call.args, *(keyword.value for keyword in call.keywords)) if device is not None else ():
        for source in context.tracer.evaluate(module, argument):
            if isinstance(source.node, ast.expr) and find_literal_prefix(source.node).startswith(device.replaces):  # type: ignore[union-attr]
                yield source.node


def is_for_library(hit: Hit, devices: Container[ast.AST]) -> bool:
    """Whether a place is such a call or text, or in the question that chooses such a text."""
    if hit.node in devices or hit.argument in devices:
        return True
    child = hit.node
    for around in hit.module.ancestors(hit.node):
        if isinstance(around, (ast.If, ast.IfExp)):
            branches = [*(around.body if isinstance(around.body, list) else [around.body])]
            return child is around.test and any(part in devices for top in branches for part in walk(top))
        if isinstance(around, ast.stmt):
            return False
        child = around
    return False
