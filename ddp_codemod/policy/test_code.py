"""Values that a test is about: changing them would break the test or empty it."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Set

from ddp_codemod.catalog.backends import find_libraries
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.values import Value
from ddp_codemod.discover.kinds import is_test
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module, last_name, walk
from ddp_codemod.policy.findings import Context
from ddp_codemod.sites.surface_calls import Use

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def explain_fake(context: Context, use: Use) -> Reason | None:
    """Why a call makes no group: a test puts something else in its place, or it is what has to fail."""
    failing = {word for idioms in context.rules.idioms for word in idioms.failing}
    for around in use.module.ancestors(use.call):
        if isinstance(around, (ast.With, ast.AsyncWith)) and use.module.statement(use.call) is around.body[-1]:
            for item in around.items:
                if isinstance(item.context_expr, ast.Call) and last_name(item.context_expr.func) in failing:
                    return Reason.of("keep-fails", text=" ".join(use.module.text(item.context_expr).split()))
    call = _find_replacing_call(context, use.module, use.call, {use.surface.id})
    return Reason.of("keep-replaced", text=" ".join(use.module.text(call).split())) if call is not None else None


def _find_replacing_call(context: Context, module: Module, node: ast.AST, surfaces: Set[str] | None = None) -> ast.Call | None:
    """The call that puts something else in the place of a surface where a node runs: around it, in a decorator, or before it."""
    below: ast.AST = node
    for around in module.ancestors(node):
        calls: list[ast.expr] = []
        if isinstance(around, (ast.With, ast.AsyncWith)):
            calls = [item.context_expr for item in around.items]
        elif isinstance(around, _SCOPES):
            calls = list(around.decorator_list)
        body = getattr(around, "body", None)
        if isinstance(body, list) and below in body:
            at = body.index(below)
            calls += [
                call for number, call in _find_replacements(context, module, body) if number < at
            ]  # monkeypatch.setattr(...)
        for call in calls:
            if isinstance(call, ast.Call) and _is_replacement(context, module, call, surfaces):
                return call
        below = around
    return None


def _find_replacements(context: Context, module: Module, body: list[ast.stmt]) -> list[tuple[int, ast.expr]]:
    """The statements of a block that may put something in a place, by their numbers; looked for once in each block."""
    key = ("replacing", id(body))
    if key not in module.cache:
        words = {word for idioms in context.rules.idioms for word in idioms.replacing}
        module.cache[key] = [
            (number, result.value)
            for number, result in enumerate(body)
            if isinstance(result, ast.Expr) and isinstance(result.value, ast.Call) and last_name(result.value.func) in words
        ]
    return module.cache[key]  # type: ignore[return-value]


def _is_replacement(context: Context, module: Module, call: ast.Call, surfaces: Set[str] | None) -> bool:
    """Whether a call puts something in the place of one of the surfaces: ``patch("torch.distributed.x")``, ``setattr(dist, "x", ...)``."""
    if last_name(call.func) not in {word for idioms in context.rules.idioms for word in idioms.replacing} or not call.args:
        return False
    if isinstance(call.func, ast.Name) and hasattr(builtins, call.func.id) and not is_test(module.name):
        return False  # the program's own function runs there, and may make the group
    texts = [part.value if isinstance(part, ast.Constant) else None for part in call.args[:2]]
    named = [texts[0]] if isinstance(texts[0], str) else []
    if not named:
        keywords = [keyword.arg for keyword in call.keywords if keyword.arg]
        inside = [texts[1]] if len(texts) > 1 and isinstance(texts[1], str) else keywords
        named = [f"{owner}.{name}" for owner in context.tracer.resolver.names(module, call.args[0]) for name in inside]
    elif last_name(call.func) == "multiple":
        named = [f"{texts[0]!s}.{keyword.arg}" for keyword in call.keywords if keyword.arg]
    found = [surface for name in named if (surface := context.tracer.finder.surface(str(name))) is not None]
    return any(surfaces is None or surface.id in surfaces for surface in found)


def find_testing_function(context: Context, source: Value) -> str | None:
    """The function around a source whose name says that it tries this very backend: what it then reports would be untrue."""
    if not isinstance(source.module, Module) or not isinstance(source.node, ast.AST) or not isinstance(source.value, Known):
        return None
    trying = {word for idioms in context.rules.idioms for word in idioms.trying}
    for around in source.module.ancestors(source.node):
        if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)):
            words = set(around.name.lower().split("_"))
            if words & trying and str(source.value.value).lower() in words:
                return around.name
    return None


def is_tested(context: Context, source: Value) -> bool:
    """Whether the source is in a test that asserts this very value, makes no real group, or runs only where its backend is there."""
    if not isinstance(source.module, Module) or not isinstance(source.node, ast.AST) or not isinstance(source.value, Known):
        return False
    if is_test(source.module.name) and _find_replacing_call(context, source.module, source.node) is not None:
        return True
    for around in source.module.ancestors(source.node):
        if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)) and around.name.startswith("test"):
            if _has_assertion(around, source.value.value):
                return True
        if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            if any(
                _is_backend_guard(context, source.module, decorator, source.value.value) for decorator in around.decorator_list
            ):
                return True
    return False


def _has_assertion(function: ast.AST, value: object) -> bool:
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


def _is_backend_guard(context: Context, module: Module, decorator: ast.expr, value: object) -> bool:
    """Whether a decorator lets the test run only where the backend is there."""
    guards = {name: backend for idioms in context.rules.idioms for name, backend in idioms.guards.items()}
    about = find_libraries(str(value), context.rules.backends)
    for part in walk(decorator):
        if isinstance(part, (ast.Name, ast.Attribute)):
            if any(guards.get(name) in about for name in context.tracer.resolver.names(module, part)):
                return True
    return False
