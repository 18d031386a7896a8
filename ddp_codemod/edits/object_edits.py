"""Edits that pass an object which carries the backend: its import, and the call that makes it."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from ddp_codemod.edits.conditional import Import
from ddp_codemod.edits.imports import choose_likeliest_name
from ddp_codemod.edits.objects import format_call
from ddp_codemod.edits.values import find_first_quote
from ddp_codemod.model import Edit, Reason, Recipe
from ddp_codemod.policy.findings import NewHandler, NewObject


def edit_handler(change: NewHandler, edit: Callable[..., Edit], imported: Import) -> list[Edit] | Reason:
    """One more object in the list that a call takes as a keyword."""
    module, place = change.module, change.module.place(change.call)
    package, _, name = choose_likeliest_name(module.source, module.tree, change.handler.names, place.start).rpartition(".")
    probe = edit(place.start, place.end, None)
    needed = imported(module, package, name, change.call)
    if isinstance(needed, Reason):
        return needed
    element = f'{needed[1]}({change.handler.keyword}="{change.text}")'
    if change.into is not None:
        end = module.place(change.into.elts[-1]).end
        return [*needed[0], replace(probe, start=end, end=end, after=f", {element}")]
    recipe = Recipe("append-to-list-keyword", (("name", change.parameter), ("element", element)))
    return [*needed[0], replace(probe, recipe=recipe, anchor=module.place(change.call.func).end)]


def edit_object(change: NewObject, edit: Callable[..., Edit], imported: Import) -> list[Edit] | Reason:
    """An object in place of the text that stands for it, or passed where nothing was."""
    module, node = change.module, change.source.code[1] if change.source is not None else change.call
    probe = edit(module.place(node).start, module.place(node).end, None)
    needed = imported(module, change.package, change.name, change.call)
    if isinstance(needed, Reason):
        return needed
    arguments = (*change.arguments, (change.keyword, change.text))
    if change.source is not None:
        return [*needed[0], replace(probe, after=format_call(needed[1], arguments, find_first_quote(module, node)))]
    recipe = Recipe("add-keyword", (("name", change.parameter), ("value", format_call(needed[1], arguments))))
    return [*needed[0], replace(probe, recipe=recipe, anchor=module.place(change.call.func).end)]
