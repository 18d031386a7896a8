"""Backends that are meant for other hardware than the target: a branch, or a whole program, that the target never runs."""

from __future__ import annotations

import ast

from ddp_codemod.catalog.backends import assess, find_libraries
from ddp_codemod.catalog.fix import Fix
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.values import PlatformDefault, Value
from ddp_codemod.kinds import OriginKind
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.policy.findings import Context, Finding
from ddp_codemod.sites.scopes import scope_of

_PLAIN = (ast.Expr, ast.Assign, ast.Import, ast.ImportFrom)  # statements that do not choose what runs
# Each of these is somebody's whole choice, no branch of one.
ENTRANCES = frozenset(
    {
        OriginKind.PARAMETER_DEFAULT,
        OriginKind.ARGUMENT,
        OriginKind.OPTION_DEFAULT,
        OriginKind.CONFIG_KEY,
        OriginKind.COMMAND_LINE,
        OriginKind.LAUNCH_VARIABLE,
    }
)


def is_for_other_hardware(context: Context, source: Value, sources: list[Value]) -> bool:
    """Whether a backend is one branch of a choice between accelerators, and another branch is for the platform's own."""
    if _is_device_specific(context, source) and _is_plugin_needed(context, source):
        return True
    if _is_in_other_device_branch(context, source):
        return True
    devices = context.platform.device_types
    if len(devices) < 2 or _can_serve_devices(context, source, devices):
        return False
    if _is_device_specific(context, source) and (
        _is_guarded(source) or any(_can_serve_devices(context, other, devices[:1]) for other in sources)
    ):
        return True
    if source.kind in ENTRANCES:
        return False
    if (
        any(isinstance(other.value, PlatformDefault) and other.kind != OriginKind.OMITTED for other in sources)
        and context.platform.backend.default in context.platform.backend.works
    ):
        return True  # torch's own choice comes first, and this is what is left for a device that it does not know
    if source.kind == OriginKind.SUBCLASS_ARGUMENT:
        return any(other.kind == source.kind and _can_serve_devices(context, other, devices[:1]) for other in sources)
    scope = _find_scope(source)
    beside = [other for other in sources if other is not source and other.module is source.module and other.kind not in ENTRANCES]
    return any(
        scope is not None and _find_scope(other) is scope and _can_serve_devices(context, other, devices[:1]) for other in beside
    )


def decide_device_branch(context: Context, finding: Finding, fix: Fix) -> Finding | None:
    """A choice between accelerators of which the platform's own is one: which is taken is not known; else None."""
    sources = list(finding.possible)
    others = [
        source for source in sources if _is_wrong_backend(context, source) and is_for_other_hardware(context, source, sources)
    ]
    if not others:
        return None
    first = others[0]
    if len(others) == len(sources):
        named = ", ".join(dict.fromkeys(str(source.value.value) for source in others if isinstance(source.value, Known)))
        return finding.keep(Reason.of("keep-foreign", value=named, platform=context.platform.id))
    kept = [source.value for source in finding.possible if source not in others]
    default = context.platform.backend.default
    works = [
        default if isinstance(value, PlatformDefault) else str(value.value)
        for value in kept
        if isinstance(value, (Known, PlatformDefault))
    ]
    arguments = {
        "value": ", ".join(dict.fromkeys(works)),
        "platform": context.platform.id,
        "origin": f"{first.module.name}:{first.module.source.position(first.place.start)[0]}",
    }
    arguments["others"] = ", ".join(
        dict.fromkeys(str(source.value.value) for source in others if isinstance(source.value, Known))
    )
    if context.rules.backends[context.platform.backend.wanted].specific and any(
        is_chosen_by_option(context, source) for source in others
    ):
        return finding.review(fix.id, Reason.of("review-branch", **arguments))
    return finding.keep(Reason.of("keep-branch", **arguments))


def _is_wrong_backend(context: Context, source: Value) -> bool:
    """Whether a source is a backend that the platform does not have."""
    value = source.value.value if isinstance(source.value, Known) else None
    return isinstance(value, str) and assess(value, context.platform.backend, context.rules.backends).wanted is not None


def _is_in_other_device_branch(context: Context, source: Value) -> bool:
    """Whether a source is in the branch for another type of device, which is not the one that the platform's own replaces.

    Or it is, and the same chain has a branch for the platform's own.
    """
    if not isinstance(source.module, Module) or not isinstance(source.node, ast.AST):
        return False
    below: ast.AST = source.node
    for around in source.module.ancestors(source.node):
        if (
            isinstance(around, ast.If)
            and below in around.body
            and (asked := _find_compared_device(context, around.test)) is not None
        ):
            first = around
            while isinstance(above := source.module.parents.get(first), ast.If) and above.orelse == [first]:
                first = above
            chain = [part.test for part in ast.walk(first) if isinstance(part, ast.If)]
            own, device = context.platform.device_types[0], context.platform.device
            if device is not None and asked[1] not in (*context.platform.device_types, device.replaces):
                return True
            return asked[1] != own and (asked[0], own) in [_find_compared_device(context, test) for test in chain]
        below = around
    return False


def _find_compared_device(context: Context, test: ast.expr) -> tuple[str, str] | None:
    """What a condition compares with a type of device, ``x.type == "npu"``, and the type."""
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq) or len(test.ops) != 1:
        return None
    right = test.comparators[0]
    known = isinstance(right, ast.Constant) and right.value in context.tracer.device_types
    return (ast.dump(test.left), str(right.value)) if known and isinstance(right, ast.Constant) else None


def is_chosen_by_option(context: Context, source: Value) -> bool:
    """Whether a user chooses the branch that a source is in, by an option of the program."""
    if not isinstance(source.module, Module) or not isinstance(source.node, ast.AST):
        return False
    for around in source.module.ancestors(source.node):
        if isinstance(around, (ast.If, ast.IfExp)):
            asked = (part for part in ast.walk(around.test) if isinstance(part, (ast.Name, ast.Attribute)))
            if any(
                found.trace.kind == OriginKind.OPTION_DEFAULT
                for part in asked
                for found in context.tracer.evaluate(source.module, part)
            ):
                return True
        if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return False
    return False


def _find_scope(source: Value) -> ast.AST | None:
    if isinstance(source.module, Module) and isinstance(source.node, ast.AST):
        return scope_of(source.module, source.node)
    return None


def _is_device_specific(context: Context, source: Value) -> bool:
    assert isinstance(source.value, Known)
    names = [part.rpartition(":")[2].lower() for part in str(source.value.value).split(",")]
    return any(name in context.rules.backends and context.rules.backends[name].specific for name in names)


def _is_guarded(source: Value) -> bool:
    """Whether the source is under a condition of its function: there, a vendor's backend is meant for that vendor's devices."""
    if not isinstance(source.module, Module) or not isinstance(source.node, ast.AST):
        return False
    for around in source.module.ancestors(source.node):
        if isinstance(around, (ast.If, ast.IfExp, ast.Match)):
            return True
        if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return False
    return False


def _can_serve_devices(context: Context, source: Value, devices: tuple[str, ...]) -> bool:
    if not isinstance(source.value, Known) or not isinstance(source.value.value, str):
        return False
    parts = [part.lower().rpartition(":") for part in source.value.value.split(",")]
    known = [(device, context.rules.backends[name]) for device, _, name in parts if name in context.rules.backends]
    # of a composite, the part for a vendor's devices says for which machines it is; those have a CPU as all have
    vendor = {device for device, backend in known if device and backend.specific}
    if vendor:
        return bool(vendor & set(devices))
    return any(set(backend.devices) & set(devices) for _, backend in known)


def _is_plugin_needed(context: Context, source: Value) -> bool:
    """Whether the plugin of another platform that this backend comes from is needed by the code that names it.

    The file or the same function imports it whatever happens, a condition around asks for it, or the function uses it or its device
    (``torch_npu.npu.set_device(rank)``, ``torch.npu.set_device(rank)``).
    """
    if not isinstance(source.module, Module) or not isinstance(source.node, ast.AST) or not isinstance(source.value, Known):
        return False
    names = {part.rpartition(":")[2].lower() for part in str(source.value.value).split(",")}
    platforms, own = context.rules.platforms.values(), context.platform
    plugins = {other.required_import for other in platforms if other.id != own.id and other.backend.wanted in names}
    backends = [context.rules.backends[name] for name in names if name in context.rules.backends]
    plugins |= {plugin for backend in backends for plugin in backend.plugins}
    plugins -= {own.required_import, *(plugin for name in own.backend.works for plugin in _list_plugins(context, name))}
    devices = {device for backend in backends if backend.specific for device in backend.devices} - set(own.device_types)
    known = frozenset(plugin for plugin in plugins if plugin)
    asked = find_libraries(str(source.value.value), context.rules.backends)
    known_as = {text.replace("BACKEND", name) for idioms in context.rules.idioms for text in idioms.available for name in asked}
    if _is_availability_checked(source.module, source.node, known_as):
        return True
    tops = {name.partition(".")[0] for idioms in context.rules.idioms for name in idioms.device_setters}
    parts = {(top, device) for top in tops for device in devices}
    return _has_plugin_import(source.module, known) or _is_plugin_used(source.module, source.node, known, parts)


def _is_availability_checked(module: Module, node: ast.AST, functions: set[str]) -> bool:
    """Whether a node runs only where a function says that its backend is there."""
    below: ast.AST = node
    for around in module.ancestors(node):
        if isinstance(around, (ast.If, ast.IfExp)) and below is not around.test:
            body = around.body if isinstance(around.body, list) else [around.body]
            parts = (
                around.test.values
                if isinstance(around.test, ast.BoolOp) and isinstance(around.test.op, ast.And)
                else [around.test]
            )
            if below in body and any(isinstance(part, ast.Call) and last_name(part.func) in functions for part in parts):
                return True
        if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return False
        below = around
    return False


def _list_plugins(context: Context, name: str) -> tuple[str, ...]:
    return context.rules.backends[name].plugins if name in context.rules.backends else ()


def _has_plugin_import(module: Module, plugins: frozenset[str]) -> bool:
    """Whether the top of a file imports one of these modules, or a part of it."""
    return any(_is_import_of(statement, plugins) for statement in module.tree.body)


def _is_import_of(statement: ast.stmt, plugins: frozenset[str]) -> bool:
    if isinstance(statement, ast.Import):
        found = [alias.name for alias in statement.names]
    else:
        found = [statement.module or ""] if isinstance(statement, ast.ImportFrom) and not statement.level else []
    return any(name == plugin or name.startswith(f"{plugin}.") for name in found for plugin in plugins)


def _is_plugin_used(module: Module, node: ast.AST, plugins: frozenset[str], parts: set[tuple[str, str]]) -> bool:
    """Whether a condition around a node asks for a plugin, or what surely runs beside it imports a plugin, or uses it or its device."""
    below: ast.AST = node
    for around in module.ancestors(node):
        if isinstance(around, (ast.If, ast.IfExp)) and _is_plugin_test(around.test, plugins) and below is not around.test:
            body = around.body if isinstance(around.body, list) else [around.body]
            if below in body:
                return True
        for statement in _list_sibling_statements(around, below):
            if _is_import_of(statement, plugins):
                return True
            uses = (part for part in ast.walk(statement) if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name))
            if any(part.value.id in plugins or (part.value.id, part.attr) in parts for part in uses):  # type: ignore[attr-defined]
                return True
        if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return False
        below = around
    return False


def _list_sibling_statements(around: ast.AST, below: ast.AST) -> list[ast.stmt]:
    """The imports, calls and assignments that run whenever the statement ``below`` does."""
    for field in ("body", "orelse", "finalbody"):
        block = getattr(around, field, None)
        if isinstance(block, list) and below in block:
            return [part for part in block if isinstance(part, _PLAIN) and part is not below]
    return []


def _is_plugin_test(test: ast.expr, plugins: frozenset[str]) -> bool:
    """Whether a test holds only where a plugin is there: ``torch_npu``, ``torch_ccl and ...``, ``torch_npu is not None``."""
    if isinstance(test, ast.BoolOp):
        return isinstance(test.op, ast.And) and any(_is_plugin_test(part, plugins) for part in test.values)
    if isinstance(test, ast.Compare):
        missing = isinstance(test.ops[0], ast.IsNot) and isinstance(test.comparators[0], ast.Constant)
        return missing and isinstance(test.left, ast.Name) and test.left.id in plugins
    return isinstance(test, ast.Name) and test.id in plugins
