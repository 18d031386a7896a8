"""Tells whether an argument is a device: by its name, wherever that starts, or by its number."""

from __future__ import annotations

import ast

from ddp_codemod.catalog.advisory import Pattern
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.joined_texts import find_literal_prefix
from ddp_codemod.dataflow.values import Trace, Value
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.policy.findings import Context
from ddp_codemod.sites.entities import External
from ddp_codemod.sites.scopes import bindings, owner_scope, scope_of


def is_device(context: Context, pattern: Pattern, module: Module, argument: ast.expr) -> bool:
    """Whether an argument is the device that a pattern asks for, by its name or by what its number is called."""
    if pattern.ranks and isinstance(argument, ast.Constant) and type(argument.value) is int:
        return True
    if last_name(argument) in pattern.ranks:
        return not _is_known_device(context, module, argument)
    if "." in pattern.device and any(
        name.startswith(pattern.device) for name in context.tracer.resolver.names(module, argument)
    ):  # what is from outside may be said by its name, or as a text
        return True
    if not pattern.device or _is_type_name(context, argument) or _is_of_package(context, module, argument):
        return False
    if isinstance(argument, ast.Name):
        # a parameter is the same wherever its function asks for it, if nothing else is put in it
        around: ast.AST = scope_of(module, argument)
        if any(one.kind != "parameter" for one in bindings(module, around).get(argument.id, ())):
            return _is_from_device_text(context, pattern, module, argument)
    elif isinstance(argument, ast.Attribute):
        # ``self.device`` is asked for all over a class, and following it takes its subclasses and their callers
        around = next((at for at in module.ancestors(argument) if isinstance(at, ast.ClassDef)), scope_of(module, argument))
    else:
        return _is_from_device_text(context, pattern, module, argument)
    key = ("device", pattern.device, around, module.text(argument))
    if key not in module.cache:
        module.cache[key] = _is_from_device_text(context, pattern, module, argument)
    return bool(module.cache[key])


def _is_type_name(context: Context, argument: ast.expr) -> bool:
    """Whether what is read is called a type: ``x.to(self.dtype)``, ``x.to(kwargs["dtype"])``. It would take long to follow."""
    key = argument.slice.value if isinstance(argument, ast.Subscript) and isinstance(argument.slice, ast.Constant) else None
    called = key if isinstance(key, str) else last_name(argument)
    return any(word in called for idioms in context.rules.idioms for word in idioms.type_words)


def _is_of_package(context: Context, module: Module, argument: ast.expr) -> bool:
    """Whether an argument is in a module from outside, such as ``torch.bool``: no text of the project."""
    root = argument
    while isinstance(root, ast.Attribute):
        root = root.value
    if root is argument or not isinstance(root, ast.Name):
        return False
    if not all(isinstance(entity, External) for entity in context.tracer.resolver.resolve(module, root)):
        return False
    result = (
        bindings(module, home).get(root.id, ())
        if (home := owner_scope(module, scope_of(module, root), root.id)) is not None
        else ()
    )
    return bool(result) and all(
        one.kind == "import" and not one.member for one in result
    )  # an object that is imported may hold one


def is_device_choice(context: Context, pattern: Pattern, module: Module, argument: ast.expr) -> bool:
    """Whether an argument names devices by their numbers, or asks for all of them: a count is not negative.

    So does one that can only be how many there are, by one of the pattern's makers: ``device_count() or 1`` is one at least.
    """
    sources = context.tracer.evaluate(module, argument)
    if sources and all(_is_counted(context, pattern, source) for source in sources):
        return True
    for source in sources:
        value = number_of(context, source)
        listed = isinstance(source.node, (ast.List, ast.Tuple))
        if (
            listed
            or (isinstance(value, int) and value < 0)
            or (isinstance(value, str) and ("," in value or value.startswith("-")))
        ):
            return True
    return False


def number_of(context: Context, source: Value) -> object:
    """What a source is, also where it is a number, which is nothing that the tracer looks for; None where that is not known."""
    node = source.node if isinstance(source.node, ast.expr) else None
    at = context.facts.fold(source.module, node) if isinstance(source.module, Module) and node is not None else source.value
    return at.value if isinstance(at, Known) else None


def _is_counted(context: Context, pattern: Pattern, source: Value) -> bool:
    if not isinstance(source.node, ast.Call) or not isinstance(source.module, Module):
        return False
    return not set(pattern.makers).isdisjoint(context.tracer.resolver.names(source.module, source.node.func))


def _is_known_device(context: Context, module: Module, argument: ast.expr) -> bool:
    """Whether what has the name of a number is a device by its name, or what some object calls its device."""
    sources = context.tracer.evaluate(module, argument)
    result = {name for idioms in context.rules.idioms for name, kind in idioms.device_functions.items() if not kind}

    def names_one(source: Value) -> bool:
        if isinstance(source.value, Known):
            return isinstance(source.value.value, str)
        if isinstance(source.node, ast.Attribute):
            return source.node.attr == "device"
        if isinstance(source.node, ast.Call) and isinstance(source.module, Module):
            return not result.isdisjoint(context.tracer.resolver.names(source.module, source.node.func))
        return bool(find_literal_prefix(source.node))

    return bool(sources) and all(map(names_one, sources))


def _is_from_device_text(context: Context, pattern: Pattern, module: Module, argument: ast.expr) -> bool:
    return any(
        has_text_prefix(source.node, pattern.device) or _get_known_text(source.value).startswith(pattern.device)
        for source in context.tracer.evaluate(module, argument, Trace(certain=True))
        if pattern.device and not source.trace.is_over
    )


def _get_known_text(value: object) -> str:
    return value.value if isinstance(value, Known) and isinstance(value.value, str) else ""


def has_text_prefix(node: object, text: str) -> bool:
    """Whether a text that the code builds starts so."""
    return find_literal_prefix(node).startswith(text)
