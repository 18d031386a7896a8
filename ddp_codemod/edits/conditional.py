"""Conditions in place of bare values, and the arguments, objects and statements that hold them."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from msgspec.structs import replace

from ddp_codemod.catalog.load import Rules
from ddp_codemod.catalog.model import Portable
from ddp_codemod.edits.imports import choose_likeliest_name
from ddp_codemod.edits.insert import insert_before_statement
from ddp_codemod.edits.objects import format_call
from ddp_codemod.edits.spans import Insertion
from ddp_codemod.edits.statements import place_statement
from ddp_codemod.edits.values import find_first_quote, make_new_value, write_backend
from ddp_codemod.model import Edit, Reason, Recipe
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.findings import Change, NewHandler, NewKeyword, NewObject, NewStatement, NewText, NewVariable, Splice

# Where ``a if b else c`` may be without parentheses.
_OPEN = (
    ast.Call,
    ast.keyword,
    ast.Assign,
    ast.AnnAssign,
    ast.Return,
    ast.arguments,
    ast.Dict,
    ast.List,
    ast.Tuple,
    ast.Subscript,
)
Import = Callable[[Module, str, "str | None", ast.AST], "tuple[list[Edit], str] | Reason"]
Make = Callable[..., Edit]


def condition_of(entry: Portable, module: Module, node: ast.AST, imported: Import) -> tuple[list[Edit], str] | Reason:
    """The condition as the file writes it, and the imports that it needs."""
    edits: list[Edit] = []
    names: list[str] = []
    for wanted in entry.imports:
        package, _, name = wanted.partition(":")
        result = imported(module, package, name or None, node)
        if isinstance(result, Reason):
            return result
        edits += result[0]
        names.append(result[1])
    return edits, entry.condition.format(*names)


def format_either(entry: Portable, condition: str, wanted: str, old: str) -> str:
    """One of two values by the platform's condition."""
    return f"{old} if {condition} else {wanted}" if entry.keeps else f"{wanted} if {condition} else {old}"


def variable_edits(entry: Portable, change: NewVariable, make: Make, imported: Import) -> list[Edit] | Reason:
    """The variable, set on the platform only; for review where no line of its own is free for that."""
    module, environment = change.module, change.environment
    needed, system = condition_of(entry, module, change.node, imported), imported(module, "os", None, change.node)
    if isinstance(needed, Reason) or isinstance(system, Reason):
        return needed if isinstance(needed, Reason) else system if isinstance(system, Reason) else []
    test = f"not ({needed[1]})" if entry.keeps else needed[1]
    statement = f'if {test}:\n\t{system[1]}.environ["{environment.name}"] = "{environment.value}"'
    insertion = insert_before_statement(module.source, module.parents, change.node, statement)
    if isinstance(insertion, Reason) or insertion.text.endswith("; "):
        return Reason.of("review-portable-variable", variable=environment.name, value=environment.value)
    imports = {edit.after: edit for edit in (*needed[0], *system[0])}
    return [*imports.values(), make(insertion.offset, insertion.offset, insertion.text)]


def statement_edits(entry: Portable, change: NewStatement, make: Make, imported: Import) -> list[Edit] | Reason:
    """The statement, run on the platform only; where it has no block of its own, with None elsewhere, which is the same as omitted."""
    needed = condition_of(entry, change.module, change.node, imported)
    package = imported(change.module, change.package, None, change.node) if change.package else ([], "")
    if isinstance(needed, Reason):
        return needed
    if isinstance(package, Reason):
        return package
    insertion: Insertion | Reason = Reason.of("insert-continued-line")
    if change.where == "before":
        insertion = place_statement(change, package[1], change.value, f"not ({needed[1]})" if entry.keeps else needed[1])
    if isinstance(insertion, Reason) and not change.under:
        insertion = place_statement(change, package[1], format_either(entry, needed[1], change.value, "None"))
    if isinstance(insertion, Reason):
        return insertion
    return [*needed[0], *package[0], make(insertion.offset, insertion.offset, insertion.text)]


def lengthened_text_edits(entry: Portable, change: Splice, make: Make, imported: Import) -> list[Edit] | Reason:
    """What an address that is put together gets at its end, on the platform only."""
    if change.lengthens is None or not isinstance(change.module, Module):
        return Reason.of("review-not-editable", text=change.text)
    node, added = change.lengthens
    needed = condition_of(entry, change.module, node, imported)
    if isinstance(needed, Reason):
        return needed
    if not isinstance(change.module.parents.get(node), (*_OPEN, ast.AugAssign)):
        return Reason.of("review-not-editable", text=change.module.short_text(node))
    end = change.module.place(node).end
    quote = find_first_quote(change.module, node)
    choice = format_either(entry, needed[1], f"{quote}{added}{quote}", quote * 2)
    return [*needed[0], make(end, end, f" + ({choice})")]


def launcher_edits(entry: Portable, change: Change, rules: Rules, make: Make, imported: Import) -> list[Edit] | Reason:
    """The value where a launcher started the process, and what is the same as omitted in any other."""
    if isinstance(change, NewKeyword):
        return keyword_edits(entry, change, entry.otherwise, make, imported)
    if isinstance(change, NewHandler | NewObject):
        return object_edits(entry, change, entry.otherwise, make, imported)
    if isinstance(change, NewStatement):
        return statement_edits(entry, change, make, imported)
    assert isinstance(change, NewText)
    return text_edits(entry, change, rules, make, imported, entry.otherwise)


def join_conditions(first: Portable | None, entry: Portable) -> Portable:
    """One condition of two that both have to hold for the new value."""
    if first is None:
        return entry
    shifted = re.sub(r"\{(\d)\}", lambda found: f"{{{int(found[1]) + len(first.imports)}}}", entry.condition)
    loose = " or " in shifted or (entry.keeps and " and " in shifted)
    second = f"({shifted})" if loose else shifted
    condition = f"{first.condition} and {'not ' if entry.keeps else ''}{second}"
    return replace(entry, condition=condition, imports=(*first.imports, *entry.imports), keeps=False)


def text_edits(
    entry: Portable, change: NewText, rules: Rules, make: Make, imported: Import, old: str = ""
) -> list[Edit] | Reason:
    """A choice in place of a text of Python code; ``old`` is what the other branch gives: else the text itself."""
    source = change.source
    if not isinstance(source.module, Module) or not isinstance(source.node, ast.expr):
        return Reason.of("review-not-editable", text=source.text)
    if make_new_value(source, change.text, rules, lambda module, node: False) is None:
        return Reason.of("review-not-editable", text=source.text)
    module, node = source.module, source.node
    place = module.place(node)
    needed = condition_of(entry, module, node, imported)
    if isinstance(needed, Reason):
        return needed
    text = format_either(entry, needed[1], write_backend(source, change.text, rules, node), old or module.text(node))
    if not isinstance(module.parents.get(node), _OPEN) or "\n" in text:
        text = f"({text})"
    return [*needed[0], make(place.start, place.end, text)]


def keyword_edits(entry: Portable, change: NewKeyword, old: str, make: Make, imported: Import) -> list[Edit] | Reason:
    """A keyword argument with a choice; ``old`` is what leaving it out gives."""
    module, call = change.module, change.call
    needed = condition_of(entry, module, call, imported)
    if isinstance(needed, Reason):
        return needed
    place = module.place(call)
    recipe = Recipe("add-keyword", (("name", change.keyword), ("value", format_either(entry, needed[1], change.value, old))))
    return [*needed[0], make(place.start, place.end, None, recipe, module.place(call.func).end)]


def object_edits(entry: Portable, change: NewHandler | NewObject, old: str, make: Make, imported: Import) -> list[Edit] | Reason:
    """An object that carries the choice; ``old`` is what leaving its keyword out gives."""
    module, call = change.module, change.call
    needed = condition_of(entry, module, call, imported)
    if isinstance(needed, Reason):
        return needed
    node = change.source.code[1] if isinstance(change, NewObject) and change.source is not None else call
    quote = find_first_quote(module, node) if node is not call else '"'
    if isinstance(change, NewHandler):
        start = module.place(call).start
        package, _, name = choose_likeliest_name(module.source, module.tree, change.handler.names, start).rpartition(".")
        keyword, arguments = change.handler.keyword, ""
    else:
        package, name, keyword = change.package, change.name, change.keyword
        arguments = format_call("", change.arguments, quote)[1:-1]
    result = imported(module, package, name, call)
    if isinstance(result, Reason):
        return result
    value = f"{keyword}={format_either(entry, needed[1], f'{quote}{change.text}{quote}', old)}"
    text = f"{result[1]}({', '.join(part for part in (arguments, value) if part)})"
    place = module.place(node)
    if node is not call:
        return [*needed[0], *result[0], make(place.start, place.end, text)]
    if isinstance(change, NewHandler) and change.into is not None:
        end = module.place(change.into.elts[-1]).end
        return [*needed[0], *result[0], make(end, end, f", {text}")]
    kind, key = ("append-to-list-keyword", "element") if isinstance(change, NewHandler) else ("add-keyword", "value")
    recipe = Recipe(kind, (("name", change.parameter), (key, text)))
    return [*needed[0], *result[0], make(place.start, place.end, None, recipe, module.place(call.func).end)]
