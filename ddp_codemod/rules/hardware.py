"""Backends that are meant for other hardware than the target: a branch, or a whole program, that the target never runs."""

from __future__ import annotations

import ast

from ddp_codemod.origins.fold import Known
from ddp_codemod.origins.leaf import Default, Leaf
from ddp_codemod.parse.python import Module
from ddp_codemod.rules.finding import Context
from ddp_codemod.sites.scopes import scope_of

# Each of these is somebody's whole choice, no branch of one.
ENTRANCES = frozenset({"parameter-default", "argument", "option-default", "config-key", "command-line", "launch-variable"})


def for_other_hardware(context: Context, leaf: Leaf, leaves: list[Leaf]) -> bool:
    """Whether a backend is one branch of a choice between accelerators, and another branch is for the platform's own."""
    if _is_specific(context, leaf) and _needs_its_plugin(context, leaf):
        return True
    devices = context.platform.device_types
    if len(devices) < 2 or _serves(context, leaf, devices):
        return False
    if _is_specific(context, leaf) and (_is_guarded(leaf) or any(_serves(context, other, devices[:1]) for other in leaves)):
        return True
    if leaf.kind in ENTRANCES:
        return False
    if (
        any(isinstance(other.value, Default) for other in leaves)
        and context.platform.backend.default in context.platform.backend.works
    ):
        return True  # torch's own choice comes first, and this is what is left for a device that it does not know
    if leaf.kind == "subclass-argument":
        return any(other.kind == leaf.kind and _serves(context, other, devices[:1]) for other in leaves)
    scope = _scope(leaf)
    beside = [other for other in leaves if other is not leaf and other.module is leaf.module and other.kind not in ENTRANCES]
    return any(scope is not None and _scope(other) is scope and _serves(context, other, devices[:1]) for other in beside)


def _scope(leaf: Leaf) -> ast.AST | None:
    if isinstance(leaf.module, Module) and isinstance(leaf.node, ast.AST):
        return scope_of(leaf.module, leaf.node)
    return None


def _is_specific(context: Context, leaf: Leaf) -> bool:
    assert isinstance(leaf.value, Known)
    names = [part.rpartition(":")[2].lower() for part in str(leaf.value.value).split(",")]
    return any(name in context.rules.backends and context.rules.backends[name].specific for name in names)


def _is_guarded(leaf: Leaf) -> bool:
    """Whether the leaf stands under a condition of its function: there, a vendor's backend is meant for that vendor's devices."""
    if not isinstance(leaf.module, Module) or not isinstance(leaf.node, ast.AST):
        return False
    for around in leaf.module.ancestors(leaf.node):
        if isinstance(around, (ast.If, ast.IfExp, ast.Match)):
            return True
        if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return False
    return False


def _serves(context: Context, leaf: Leaf, devices: tuple[str, ...]) -> bool:
    if not isinstance(leaf.value, Known) or not isinstance(leaf.value.value, str):
        return False
    parts = [part.lower().rpartition(":") for part in leaf.value.value.split(",")]
    known = [(device, context.rules.backends[name]) for device, _, name in parts if name in context.rules.backends]
    # of a composite, the part for a vendor's devices says for which machines it is; those have a CPU as all have
    vendor = {device for device, backend in known if device and backend.specific}
    if vendor:
        return bool(vendor & set(devices))
    return any(set(backend.devices) & set(devices) for _, backend in known)


def _needs_its_plugin(context: Context, leaf: Leaf) -> bool:
    """Whether the file imports, whatever happens, the plugin of another platform that this backend comes from."""
    if not isinstance(leaf.module, Module) or not isinstance(leaf.value, Known):
        return False
    names = {part.rpartition(":")[2].lower() for part in str(leaf.value.value).split(",")}
    others = (other for other in context.rules.platforms.values() if other.id != context.platform.id)
    plugins = {other.required_import for other in others if other.backend.wanted in names} - {context.platform.required_import}
    for statement in leaf.module.tree.body:
        if isinstance(statement, ast.Import) and any(alias.name in plugins for alias in statement.names):
            return True
        if isinstance(statement, ast.ImportFrom) and not statement.level and statement.module in plugins:
            return True
    return False
