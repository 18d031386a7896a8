"""Comparisons with the name of a device: what is compared, and the texts that it starts from."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.joined_texts import find_literal_prefix
from ddp_codemod.dataflow.values import Trace, Value
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.findings import Context

_TYPE = "type"  # the attribute of torch.device that is its name without a number
DEPTH = 3  # devices that are made of devices


def find_compared_value(test: ast.AST, text: ast.expr) -> ast.expr | None:
    """What a comparison asks about: the side that is not the text, or what ``startswith`` is called on."""
    if isinstance(test, ast.Call):
        return test.func.value if isinstance(test.func, ast.Attribute) else None
    if not isinstance(test, ast.Compare):
        return None
    return next((side for side in (test.left, *test.comparators) if side is not text), None)


def is_library_guard(context: Context, module: Module, test: ast.AST) -> bool:
    """Whether the comparison chooses what another library calls the old device, and has no name for the platform's: both stay."""
    device = context.platform.device
    every = (one.device.texts for one in context.rules.platforms.values() if one.device is not None)
    foreign = set[str]().union(*every) - set(device.texts if device is not None else ())
    child = test
    for around in module.ancestors(test) if any(text in module.source.text for text in foreign) else ():
        if isinstance(around, (ast.If, ast.IfExp)):
            body = around.body if isinstance(around.body, list) else [around.body]
            parts = (part for top in body for part in ast.walk(top)) if child is around.test else ()
            return any(isinstance(part, ast.Constant) and part.value in foreign for part in parts)
        child = around
    return False


def is_from_text(context: Context, module: Module, node: ast.expr) -> bool:
    """Whether what is compared is a text of the program's own, or a device that the program makes of one.

    What torch tells of a tensor is none: ``x.device.type``, ``str(x.device)``.
    """
    inner, is_told = _strip_text_conversions(node)
    if not is_told:
        return not any(_is_torch_device(source) for source in context.tracer.evaluate(module, inner, Trace(certain=True)))
    found = list(trace_source_texts(context, module, inner))
    return bool(found) and all(source is not None for source in found)


def find_device_sources(context: Context, module: Module, node: ast.expr, device: str) -> list[Value]:
    """The texts that a value can start from, where all of them are names of devices, with the old one among them; else none."""
    found = list(trace_source_texts(context, module, _strip_text_conversions(node)[0]))
    known = [source for source in found if source is not None]
    types = {kind for platform in context.rules.platforms.values() for kind in platform.device_types}
    names = {find_literal_prefix(source.node).partition(":")[0] for source in known if isinstance(source.node, ast.expr)}
    return known if len(known) == len(found) and device in names and types.issuperset(names) else []


def find_source_texts(context: Context, module: Module, node: ast.expr) -> list[Value]:
    """The texts that what is compared can start from, those that are known."""
    return [source for source in trace_source_texts(context, module, _strip_text_conversions(node)[0]) if source is not None]


def trace_source_texts(context: Context, module: Module, node: ast.expr, depth: int = 0) -> Iterator[Value | None]:
    """The texts that an expression, or the device that it is, starts from; None for each start that is no text."""
    result = {name for idioms in context.rules.idioms for name, kind in idioms.device_functions.items() if not kind}
    for source in context.tracer.evaluate(module, node, Trace(certain=True)):
        call = source.node if isinstance(source.node, ast.Call) else None
        if isinstance(source.value, Known) and source.value.value is None:
            continue
        if not source.trace.is_over and (
            (isinstance(source.value, Known) and isinstance(source.value.value, str)) or find_literal_prefix(source.node)
        ):
            yield source
        elif call is not None and call.args and isinstance(source.module, Module) and depth < DEPTH:
            ours = not result.isdisjoint(context.tracer.resolver.names(source.module, call.func))
            yield from trace_source_texts(context, source.module, call.args[0], depth + 1) if ours else (None,)
        else:
            yield None


def _strip_text_conversions(node: ast.expr) -> tuple[ast.expr, bool]:
    """What is asked about without the ways to write it as a text, and whether there were such: ``x`` of ``str(x.type)``."""
    told = False
    while True:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str" and len(node.args) == 1:
            node, told = node.args[0], True
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
            node = node.func.value
        elif isinstance(node, ast.Attribute) and node.attr == _TYPE:
            node, told = node.value, True
        else:
            return node, told


def _is_torch_device(source: Value) -> bool:
    """Whether a start is what torch tells: an attribute that is a device or its type, or a device as a text."""
    node = source.node
    if isinstance(node, ast.Attribute):
        return node.attr == _TYPE
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str"
