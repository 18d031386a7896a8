"""Recipes for a device of a platform's own in code that other machines run too: what is written depends on the machine."""

from __future__ import annotations

import ast

from ddp_codemod.catalog.advisory import Advice
from ddp_codemod.catalog.machine import Device
from ddp_codemod.dataflow.joined_texts import find_literal_prefix
from ddp_codemod.impact.usage import Hit
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.findings import HERE, KIND, MODULE, PACKAGE, Change, Context, Insertions

Replacement = tuple[int, int, str]
FREE = (ast.keyword, ast.Assign, ast.AnnAssign, ast.Return, ast.arguments)  # what takes a whole expression


def replace_module(context: Context, advice: Advice, hit: Hit, device: Device, rest: str, package: str) -> list[Change]:
    """``torch.cuda.X``: what does the same on any accelerator, or the same function of the machine's module."""
    module, node, own = hit.module, hit.node, advice.own
    assert isinstance(node, ast.expr)
    place = module.place(node)
    if own is not None and rest in own.anywhere and context.versions.holds(own.anywhere_when, module.name) is True:
        return [Insertions(module, node, ((place.start, place.end, f"{PACKAGE}.{own.anywhere[rest]}"),), package)]
    parts = rest.split(".")
    if rest and not any(".".join(parts[:end]) in device.has for end in range(1, len(parts) + 1)):
        return []
    return [Insertions(module, node, ((place.start, place.end, f"{MODULE}{rest and '.'}{rest}"),))]


def replace_method(hit: Hit) -> list[Change]:
    """``x.cuda(...)`` becomes ``x.to(...)``, and ``x.is_cuda`` a comparison of its device's type."""
    module, node = hit.module, hit.node
    if isinstance(node, ast.Attribute):
        place = module.place(node)
        end = place.end
        replacements = ((place.start, place.start, "("), (end - len(node.attr), end, f"device.type == {KIND})"))
        return [Insertions(module, node, replacements)]
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return []
    if any(isinstance(part, ast.Starred) for part in node.args) or any(part.arg is None for part in node.keywords):
        return []
    end = module.place(node.func).end
    named = (end - len(node.func.attr), end, "to")
    if node.args or any(part.arg == "device" for part in node.keywords):
        return [Insertions(module, node, (named,))]
    opening = module.source.text.index("(", end) + 1
    comma = ", " if node.keywords else ""
    return [Insertions(module, node, (named, (opening, opening, f"{KIND}{comma}")))]


def replace_device_name(module: Module, node: ast.expr, at: int, device: Device) -> Change | None:
    """The type where a text is the other's name and nothing else, and one of two texts where more is in it.

    ``at``: where the other's name is in the file.
    """
    place = module.place(node)
    behind = at + len(device.replaces)
    new = module.source.text[place.start : at] + device.type + module.source.text[behind : place.end]
    if isinstance(node, ast.Constant) and node.value == device.replaces:
        return Insertions(module, node, ((place.start, place.end, KIND),))
    if not find_literal_prefix(node) or any(isinstance(around, ast.JoinedStr) for around in module.ancestors(node)):
        return None
    parent = module.parents.get(node)
    free = isinstance(parent, FREE) or (isinstance(parent, ast.Call) and parent.func is not node)
    text, old = f"{new} if {HERE} else {module.text(node)}", module.text(node)
    plain = ((place.start, place.end, text if free else f"({text})"),)
    return Insertions(module, node, plain, called=_insert_into_fstring(node, old, place.start, at, device.replaces))


def _insert_into_fstring(node: ast.expr, old: str, start: int, at: int, name: str) -> tuple[Replacement, ...]:
    """The call inside of an f-string, which a plain text becomes; () where that cannot be."""
    inside = (at, at + len(name), f"{{{KIND}}}")
    if isinstance(node, ast.JoinedStr):
        return (inside,)
    plain = isinstance(node, ast.Constant) and old[:1] in "\"'" and not any(sign in old for sign in "{}\\")
    return ((start, start, "f"), inside) if plain else ()
