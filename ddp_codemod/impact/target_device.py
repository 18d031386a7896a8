"""Recipes for a platform with a device of its own: the same done with its module, its methods and its name."""

from __future__ import annotations

import ast
import re

from msgspec.structs import replace

from ddp_codemod.catalog.advisory import Advice, Rewrite
from ddp_codemod.catalog.machine import Device
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.values import Trace, Value
from ddp_codemod.impact.any_accelerator import replace_device_name, replace_method, replace_module
from ddp_codemod.impact.device_comparisons import find_compared_value, find_source_texts
from ddp_codemod.impact.device_values import has_text_prefix
from ddp_codemod.impact.usage import Hit
from ddp_codemod.parse.document import Document
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.findings import KIND, PACKAGE, Change, Context, Insertions, NewText

# placeholders, but not the same letters in a name such as CUDA_VISIBLE_DEVICES
_DEVICE, _MODULE = (re.compile(rf"(?<![A-Z])(?<![A-Z]_){word}(?![A-Z_])") for word in ("DEVICE", "MODULE"))
_QUOTE = re.compile(r"[A-Za-z]{0,2}(?:\"\"\"|'''|\"|')")


def adapt_to_device(advice: Advice, device: Device) -> Advice:
    """The advice as it reads on a platform with this device."""
    own = advice.own
    if own is None or not device.module:
        return advice
    names = advice.pattern.texts if advice.pattern is not None and advice.pattern.use == "text" else ()
    if variables := [device.visible[name] for name in names if name in device.visible]:
        said = {key: getattr(own, key).replace("VARIABLE", variables[0]) for key in ("text", "text_zh", "left", "left_zh")}
        own, advice = replace(own, **said), replace(advice, source=device.visible_source or advice.source)
    elif "VARIABLE" in own.text:  # it has none
        own = replace(own, text=advice.text, text_zh=advice.text_zh, left="", left_zh="")
    text, text_zh, left, left_zh = (_fill_placeholders(said, device) for said in (own.text, own.text_zh, own.left, own.left_zh))
    filled = replace(own, text=text, text_zh=text_zh, left=left, left_zh=left_zh)
    return replace(advice, text=text, text_zh=text_zh, rewrite=own.rewrite, own=filled, guards=())


def _fill_placeholders(text: str, device: Device) -> str:
    return _MODULE.sub(device.module, _DEVICE.sub(device.type, text))


def rewrite_for_device(context: Context, advice: Advice, rewrite: Rewrite, hit: Hit, alone: bool) -> list[Change]:
    """The changes of the recipes that take the platform's own device; none where they do not fit.

    ``alone``: the code is for this platform alone; False: others run it too.
    """
    device = context.platform.device
    if device is None or not device.module:
        return []
    if rewrite.recipe == "own-module":
        return _rewrite_module(context, advice, hit, device, alone)
    if rewrite.recipe == "own-method" and not alone:
        return replace_method(hit)
    if rewrite.recipe == "own-method":
        function = hit.node.func if isinstance(hit.node, ast.Call) else hit.node
        if not isinstance(function, ast.Attribute):
            return []
        end = hit.module.place(function).end
        new = _fill_placeholders(rewrite.value, device)
        return [Insertions(hit.module, hit.node, ((end - len(function.attr), end, new),))]
    if rewrite.recipe == "own-text":
        return _rewrite_text(hit, device) if alone else _set_both(hit, device)
    if rewrite.recipe == "own-choice":
        return _add_choice(hit, device)
    if rewrite.recipe == "own-argument":
        return _first_argument(hit, device) if alone else []
    return _rewrite_name(context, advice, hit, device, alone)


def _rewrite_module(context: Context, advice: Advice, hit: Hit, device: Device, alone: bool) -> list[Change]:
    module, node = hit.module, hit.node
    assert isinstance(node, ast.expr)
    assert advice.pattern is not None
    assert advice.pattern.below is not None
    top = advice.pattern.below
    names = {name for name in context.tracer.resolver.names(module, node) if name == top or name.startswith(f"{top}.")}
    if len(names) != 1:
        return []
    place, package = module.place(node), top.partition(".")[0]
    rest = names.pop().removeprefix(top).removeprefix(".")
    if not alone and rest not in device.typed:
        return replace_module(context, advice, hit, device, rest, package)
    if not rest or _has_dotted_prefix(rest, device.has):
        if isinstance(node, ast.Attribute) and _is_retyped(context, node.attr):  # which is an edit of its own, of the last word
            whole = module.place(node.value)
            inside = rest.rpartition(".")[0]
            text = f"{PACKAGE}.{device.module}{inside and '.'}{inside}"
            return [Insertions(module, node, ((whole.start, whole.end, text),), package)]
        inside = f".{rest}" if rest else ""
        return [Insertions(module, node, ((place.start, place.end, f"{PACKAGE}.{device.module}{inside}"),), package)]
    if rest not in device.others:
        return []
    new = (place.start, place.end, f"{PACKAGE}.{device.others[rest]}")
    if rest not in device.typed:
        return [Insertions(module, node, (new,), package)]
    call = module.parents.get(node)
    if not isinstance(call, ast.Call) or call.func is not node or call.args:
        return []  # what is passed by position would be mistaken for something else
    opening = module.source.text.index("(", place.end) + 1
    comma = ", " if call.keywords else ""
    kind = f'"{device.type}"' if alone else KIND
    return [Insertions(module, call, (new, (opening, opening, f"{kind}{comma}")), package)]


def _is_retyped(context: Context, name: str) -> bool:
    """Whether some advice has another type for what a name makes."""
    rewrites = (advice.rewrite for advice in context.rules.advice.values())
    return any(rewrite is not None and name in rewrite.types for rewrite in rewrites)


def _has_dotted_prefix(rest: str, has: tuple[str, ...]) -> bool:
    """Whether a dotted name, or what it starts with, is one of these."""
    parts = rest.split(".")
    return any(".".join(parts[:end]) in has for end in range(1, len(parts) + 1))


def _rewrite_text(hit: Hit, device: Device) -> list[Change]:
    node = hit.node
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return []
    new = {**device.visible, **device.texts}.get(node.value)
    if new is None or (node.value in device.texts and not _can_take_all_options(hit.module, node, device)):
        return []
    place, old = hit.module.place(node), str(node.value)
    quote = _QUOTE.match(hit.module.source.text, place.start)
    at = quote.end() if quote else place.start
    if not hit.module.source.text.startswith(old, at):
        return []
    return [Insertions(hit.module, node, ((at, at + len(old), new),))]


def _set_both(hit: Hit, device: Device) -> list[Change]:
    """The same value in the device's own variable too: each kind of machine honors another one. What is read has one value."""
    module, key = hit.module, hit.node
    entry = module.parents.get(key)
    statement = module.parents.get(entry) if entry is not None else None
    if not isinstance(key, ast.Constant) or not isinstance(entry, ast.Subscript) or not isinstance(statement, ast.Assign):
        return []
    new, holder = device.visible.get(str(key.value)), entry.value
    if new is None or entry not in statement.targets or not isinstance(holder, (ast.Name, ast.Attribute)):
        return []
    at = module.place(entry).start
    other = module.text(entry).replace(str(key.value), new)
    return [Insertions(module, key, ((at, at, f"{other} = "),))]


def _can_take_all_options(module: Module, node: ast.AST, device: Device) -> bool:
    """Whether a library that is passed this name beside options, ``("CUDA...", {"device_id": 0})``, takes each of them for the device."""
    pair = module.parents.get(node)
    if not isinstance(pair, ast.Tuple) or len(pair.elts) != 2 or pair.elts[0] is not node:
        return True
    given = pair.elts[1]
    keys = given.keys if isinstance(given, ast.Dict) else [None]
    return all(isinstance(key, ast.Constant) and key.value in device.options for key in keys)


def _first_argument(hit: Hit, device: Device) -> list[Change]:
    """The device's name in front of the arguments of a call that leaves it out."""
    call = hit.node
    if not isinstance(call, ast.Call) or call.args:
        return []
    at = hit.module.source.text.index("(", hit.module.place(call.func).end) + 1
    return [Insertions(hit.module, call, ((at, at, f'"{device.type}"{", " if call.keywords else ""}'),))]


def _add_choice(hit: Hit, device: Device) -> list[Change]:
    """The device's name behind the other's, written as that is."""
    assert hit.argument is not None
    text, end = hit.module.text(hit.argument), hit.module.place(hit.argument).end
    new = text.replace(device.replaces, device.type)
    return [Insertions(hit.module, hit.argument, ((end, end, f", {new}"),))]


def _rewrite_name(context: Context, advice: Advice, hit: Hit, device: Device, alone: bool) -> list[Change]:
    """The other device's name where a text starts with it: in code, or in a file of settings.

    Where a text of the program is compared with it, that text is changed with the comparison; none of them where one cannot be.
    """
    if hit.argument is None:
        return []
    sources = list(context.tracer.evaluate(hit.module, hit.argument, Trace(certain=True)))
    if advice.pattern is not None and advice.pattern.argument_is == "from-text":
        other = find_compared_value(hit.node, hit.argument)
        sources += find_source_texts(context, hit.module, other) if other is not None else []
    changes: list[Change] = []
    for source in sources:
        change = _rename_source(source, device, alone)
        if change is None:
            return []
        changes += change
    return changes


def _rename_source(source: Value, device: Device, alone: bool) -> list[Change] | None:
    """The change of a text that starts with the other device's name, [] for any other; None where it cannot be changed."""
    old = device.replaces
    text = source.value.value if isinstance(source.value, Known) else None
    named = isinstance(text, str) and text.startswith(old)
    if source.trace.is_over or not (named or has_text_prefix(source.node, old)):
        return []
    if isinstance(text, str) and isinstance(source.module, Document):
        return [NewText(source, device.type + text.removeprefix(old))] if alone else None  # a file of settings has no conditions
    if not isinstance(source.module, Module) or not isinstance(source.node, ast.expr):
        return None
    at = _locate_text(source.module, source.node, old)
    if at is None:
        return None
    if not alone:
        change = replace_device_name(source.module, source.node, at, device)
        return [change] if change is not None else None
    return [Insertions(source.module, source.node, ((at, at + len(old), device.type),))]


def _locate_text(module: Module, node: ast.expr, text: str) -> int | None:
    """Where a text begins in the source of the literal that an expression starts with."""
    at: ast.expr = node
    while not isinstance(at, (ast.Constant, ast.JoinedStr)):
        if isinstance(at, ast.BinOp):
            at = at.left
        elif isinstance(at, ast.Call) and isinstance(at.func, ast.Attribute):
            at = at.func.value
        else:
            return None
    start = module.place(at).start
    quote = _QUOTE.match(module.source.text, start)
    return quote.end() if quote and module.source.text.startswith(text, quote.end()) else None
