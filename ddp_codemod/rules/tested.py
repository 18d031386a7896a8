"""Values that a test is about: changing them would break the test or empty it."""

from __future__ import annotations

import ast

from ddp_codemod.origins.fold import Known
from ddp_codemod.origins.leaf import Leaf
from ddp_codemod.parse.python import Module, last_name, walk
from ddp_codemod.rules.finding import Context


def is_tested(context: Context, leaf: Leaf) -> bool:
    """Whether the leaf stands in a test that asserts this very value, or that runs only where its backend is there."""
    if not isinstance(leaf.module, Module) or not isinstance(leaf.node, ast.AST) or not isinstance(leaf.value, Known):
        return False
    for around in leaf.module.ancestors(leaf.node):
        if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)) and around.name.startswith("test"):
            if _asserts(around, leaf.value.value):
                return True
        if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            if any(_guards(context, leaf.module, decorator, leaf.value.value) for decorator in around.decorator_list):
                return True
    return False


def _asserts(function: ast.AST, value: object) -> bool:
    """Whether an assertion of the function speaks of the value."""
    for node in walk(function):
        said: list[ast.AST] = []
        if isinstance(node, ast.Assert):
            said = [node.test]
        elif isinstance(node, ast.Call) and last_name(node.func).startswith("assert"):
            said = [*node.args, *(keyword.value for keyword in node.keywords)]
        if any(isinstance(part, ast.Constant) and part.value == value for whole in said for part in walk(whole)):
            return True
    return False


def _guards(context: Context, module: Module, decorator: ast.expr, value: object) -> bool:
    """Whether a decorator lets the test run only where the backend is there."""
    guards = {name: backend for idioms in context.rules.idioms for name, backend in idioms.guards.items()}
    for part in walk(decorator):
        if isinstance(part, (ast.Name, ast.Attribute)):
            if any(guards.get(name) == str(value).lower() for name in context.tracer.resolver.names(module, part)):
                return True
    return False
