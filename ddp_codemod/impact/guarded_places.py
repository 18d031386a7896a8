"""Whether a place that an advice is about is never come past, or looked after by the code around it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ddp_codemod.catalog.advisory import Advice
from ddp_codemod.dataflow.demands import sources
from ddp_codemod.impact.exception_handlers import can_continue, is_environment_key, is_lost_silently, leaves_unbound
from ddp_codemod.impact.usage import Hit
from ddp_codemod.impact.usage_device import is_device_aware, is_variable_named_too
from ddp_codemod.impact.usage_names import is_availability_checked
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.policy.findings import Context


def is_guarded(context: Context, advice: Advice, hit: Hit) -> bool:
    """Whether a place is never come past, or only where a backend or device of other machines was asked for, or is tried."""
    module, facts, child = hit.module, context.facts, hit.node
    device = context.platform.device
    ported = context.ported.get(module.name, ())
    own = bool(advice.where) and device is not None and bool(device.module)
    if own and device is not None and is_device_aware(module, hit.node, device.type, ported):
        return True
    if own and device is not None and is_variable_named_too(module, hit.node, device.visible):
        return True
    never = facts.unset.unreachable(module, hit.node)
    if never is not None and not (advice.level == "review" and _is_never_reached(module, never)):
        return True
    raises = advice.pattern is None or advice.pattern.use != "joined"  # a question that says no is not caught
    foreign = {name for name in context.rules.backends if name not in context.platform.backend.works}
    for around in module.ancestors(hit.node):
        if isinstance(around, (ast.If, ast.IfExp)) and child is not around.test:
            if advice.level == "note" and _has_equal_branch(around, child, hit.node):
                return True
            if advice.bare and child in _list_branch(around.body) and _asks_for_package(context, module, around.test):
                return True
            if _is_device_test(around.test, foreign, advice.guards) or is_availability_checked(module, around, child, hit.node):
                return True
        elif raises and isinstance(around, ast.Try) and child in around.body and can_continue(around, advice.raises):
            if isinstance(child, (ast.Import, ast.ImportFrom)):
                return not leaves_unbound(module, around, child)
            if not own or not _is_lost(context, advice, hit, around):
                return True
        elif isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            # code that asks for the new backend by its name knows what it does
            backends = set(advice.backend)
            return bool(backends) and any(_is_device_test(test, backends, ()) for test in _find_comparisons(module, around))
        child = around
    return False


def _is_lost(context: Context, advice: Advice, hit: Hit, around: ast.Try) -> bool:
    """Whether the use of a device is skipped on the target machine, with nothing in its place, or cannot fail at all."""
    if is_environment_key(hit.module, hit.node):
        return True
    idioms = context.rules.idioms
    shows = {name.rpartition(".")[2] for one in idioms for name in one.shows}
    return is_lost_silently(around, {name for one in idioms for name in one.frameworks}, shows)


def _list_branch(body: list[ast.stmt] | ast.expr) -> list[ast.AST]:
    return [*body] if isinstance(body, list) else [body]


def _asks_for_package(context: Context, module: Module, test: ast.expr) -> bool:
    """Whether a condition asks whether torch has its distributed package."""
    parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    asked = {table.available for table in context.rules.processes}
    calls = [part.func for part in parts if isinstance(part, ast.Call)]
    return any(not asked.isdisjoint(context.tracer.resolver.names(module, function)) for function in calls)


def _find_comparisons(module: Module, function: ast.AST) -> Iterator[ast.expr]:
    for part in module.nodes.get(ast.Compare, ()):
        if isinstance(part, ast.Compare) and function in module.ancestors(part):
            yield part


def _has_equal_branch(around: ast.If | ast.IfExp, child: ast.AST, node: ast.AST) -> bool:
    """Whether the other branch does the same without it: then a switch of the code's own decides."""
    branches = [_list_branch(part) for part in (around.body, around.orelse)]
    own, other = branches if child in branches[0] else reversed(branches)
    using = [
        call
        for part in own
        for call in ast.walk(part)
        if isinstance(call, ast.Call) and call is not node and node in ast.walk(call)
    ]
    called = {last_name(call.func) for call in using}
    return any(isinstance(call, ast.Call) and last_name(call.func) in called for part in other for call in ast.walk(part))


def _is_never_reached(module: Module, never: ast.AST) -> bool:
    """Whether code is not come past because an earlier assertion fails or a test raises: that is a place of its own."""
    at = module.parents.get(never)
    return isinstance(at, ast.Assert) or (isinstance(at, ast.If) and at.test is never and sources(at.body[-1]))


def _is_device_test(test: ast.expr, backends: set[str], devices: tuple[str, ...]) -> bool:
    """Whether a condition asks for one of the backends or devices by its name."""
    for part in ast.walk(test):
        if isinstance(part, ast.Compare) and isinstance(part.ops[0], (ast.Eq, ast.In)):
            for side in (part.left, *part.comparators):
                text = side.value.lower() if isinstance(side, ast.Constant) and isinstance(side.value, str) else ""
                named = side.attr.lower() if isinstance(side, ast.Attribute) else ""
                if text in backends or named in backends or (devices and text.startswith(devices)):
                    return True
    return False
