"""Values that a test is about: changing them would break the test or empty it."""

from __future__ import annotations

import ast
from collections.abc import Set

from ddp_codemod.model import Reason
from ddp_codemod.origins.fold import Known
from ddp_codemod.origins.leaf import Leaf
from ddp_codemod.parse.python import Module, last_name, walk
from ddp_codemod.rules.finding import Context
from ddp_codemod.sites.find import Use

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def why_not_real(context: Context, use: Use) -> Reason | None:
    """Why a call makes no group: a test puts something else in its place, or it is what has to fail."""
    name = last_name(use.call.func)
    failing = {word for idioms in context.rules.idioms for word in idioms.failing}
    for around in use.module.ancestors(use.call):
        if isinstance(around, (ast.With, ast.AsyncWith)) and use.module.statement(use.call) is around.body[-1]:
            if any(
                isinstance(item.context_expr, ast.Call) and last_name(item.context_expr.func) in failing for item in around.items
            ):
                return Reason.of("keep-fails", text=" ".join(use.module.text(around.items[0].context_expr).split()))
        if isinstance(around, _SCOPES) and (call := _replaced(context, around, {name})) is not None:
            return Reason.of("keep-replaced", text=" ".join(use.module.text(call).split()))
    return None


def _replaced(context: Context, around: ast.AST, names: Set[str]) -> ast.Call | None:
    """The call in a function or class, its decorators included, that puts something else in the place of one of the names."""
    replacing = {word for idioms in context.rules.idioms for word in idioms.replacing}
    for call in walk(around):
        if (
            isinstance(call, ast.Call)
            and last_name(call.func) in replacing
            and any(_names(part, names) for part in call.args[:2])
        ):
            return call
    return None


def _names(node: ast.expr, names: Set[str]) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.rpartition(".")[2] in names


def about(context: Context, leaf: Leaf) -> str | None:
    """The function around a leaf whose name says that it tries this very backend: what it then reports would be untrue."""
    if not isinstance(leaf.module, Module) or not isinstance(leaf.node, ast.AST) or not isinstance(leaf.value, Known):
        return None
    trying = {word for idioms in context.rules.idioms for word in idioms.trying}
    for around in leaf.module.ancestors(leaf.node):
        if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)):
            words = set(around.name.lower().split("_"))
            if words & trying and str(leaf.value.value).lower() in words:
                return around.name
    return None


def is_tested(context: Context, leaf: Leaf) -> bool:
    """Whether the leaf stands in a test that asserts this very value, makes no real group, or runs only where its backend is there."""
    if not isinstance(leaf.module, Module) or not isinstance(leaf.node, ast.AST) or not isinstance(leaf.value, Known):
        return False
    surfaces = {name.rpartition(".")[2] for surface in context.rules.surfaces.values() for name in surface.names}
    for around in leaf.module.ancestors(leaf.node):
        if isinstance(around, _SCOPES) and _replaced(context, around, surfaces) is not None:
            return True
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
