"""Edits that pass an object which carries the backend: its import, and the call that makes it."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from ddp_codemod.edits.argument_translation import format_argument, format_comparison, format_table
from ddp_codemod.edits.conditional import Import
from ddp_codemod.edits.imports import choose_likeliest_name
from ddp_codemod.edits.objects import format_call
from ddp_codemod.edits.values import find_first_quote
from ddp_codemod.model import Edit, Reason, Recipe
from ddp_codemod.policy.findings import NewHandler, NewObject, ObjectChoice


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


def edit_object_choice(
    change: ObjectChoice, edit: Callable[..., Edit], imported: Import, condition: str = ""
) -> list[Edit] | Reason:
    """Objects in place of the texts that stand for them, where the argument is one of those; ``condition`` has to hold besides."""
    module, node = change.module, change.argument
    quote, imports = find_first_quote(module, node), list[Edit]()
    by_object: dict[str, list[tuple[str | None, str]]] = {}
    for text, wanted in change.objects:
        needed = imported(module, wanted.package, wanted.name, wanted.call)
        if isinstance(needed, Reason):
            return needed
        imports += (one for one in needed[0] if one not in imports)
        made = format_call(needed[1], (*wanted.arguments, (wanted.keyword, wanted.text)), quote)
        by_object.setdefault(made, []).append((text, made))
    place = module.place(node)
    if change.closed and len(by_object) == 1 and not condition:
        [text] = by_object
        if change.key:
            text = f"{{**{format_table(module, node)}, {quote}{change.key}{quote}: {text}}}"
        return [*imports, edit(place.start, place.end, text)]
    sample = change.objects[0][1]
    first, again = ("value", "value") if change.key else format_argument(module, node, sample.parameter)
    if change.attribute:
        held = module.text(node)
        asked = f"getattr({held}, {quote}{change.attribute}{quote}, None)" if change.perhaps else f"{held}.{change.attribute}"
        first = again = asked
    asked = f"key == {quote}{change.key}{quote}" if change.key and len(by_object) == 1 else ""
    text = ""
    for number, (written, pairs) in enumerate(by_object.items()):
        compared = f"{again if number else first} {format_comparison(tuple(pairs), quote)}"
        tests = [compared, condition] if first != again else [asked, condition, compared]
        text += f"{written} if {' and '.join(filter(None, tests))} else "
    text += again
    if change.key:
        text = text if asked else f"({text}) if key == {quote}{change.key}{quote} else value"
        text = f"{{key: {text} for key, value in {format_table(module, node)}.items()}}"
    if change.attribute:
        call = module.place(sample.call)
        recipe = Recipe("add-keyword", (("name", sample.parameter), ("value", text)))
        return [*imports, replace(edit(call.start, call.end, None), recipe=recipe, anchor=module.place(sample.call.func).end)]
    return [*imports, edit(place.start, place.end, text)]
