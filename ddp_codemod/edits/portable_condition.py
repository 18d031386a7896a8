"""Conditions in place of bare values, and the statements that hold them."""

from __future__ import annotations

import ast
from collections.abc import Callable

from ddp_codemod.edits.insert import before_statement
from ddp_codemod.edits.statements import placed
from ddp_codemod.model import Edit, Reason
from ddp_codemod.parse.python import Module
from ddp_codemod.rules.finding import NewStatement, NewVariable
from ddp_codemod.rules.model import Portable

Import = Callable[[Module, str, "str | None", ast.AST], "tuple[list[Edit], str] | Reason"]
Make = Callable[..., Edit]


def condition_of(entry: Portable, module: Module, node: ast.AST, imported: Import) -> tuple[list[Edit], str] | Reason:
    """The condition as the file writes it, and the imports that it needs."""
    edits: list[Edit] = []
    names: list[str] = []
    for wanted in entry.imports:
        package, _, name = wanted.partition(":")
        made = imported(module, package, name or None, node)
        if isinstance(made, Reason):
            return made
        edits += made[0]
        names.append(made[1])
    return edits, entry.condition.format(*names)


def either(entry: Portable, condition: str, wanted: str, old: str) -> str:
    """One of two values by the platform's condition."""
    return f"{old} if {condition} else {wanted}" if entry.keeps else f"{wanted} if {condition} else {old}"


def variable_edits(entry: Portable, change: NewVariable, make: Make, imported: Import) -> list[Edit] | Reason:
    """The variable, set on the platform only; for a person where no line of its own is free for that."""
    module, environment = change.module, change.environment
    needed, system = condition_of(entry, module, change.node, imported), imported(module, "os", None, change.node)
    if isinstance(needed, Reason) or isinstance(system, Reason):
        return needed if isinstance(needed, Reason) else system if isinstance(system, Reason) else []
    test = f"not ({needed[1]})" if entry.keeps else needed[1]
    statement = f'if {test}: {system[1]}.environ["{environment.name}"] = "{environment.value}"'
    insertion = before_statement(module.source, module.parents, change.node, statement)
    if isinstance(insertion, Reason) or insertion.text.endswith("; "):
        return Reason.of("review-portable-variable", variable=environment.name, value=environment.value)
    imports = {edit.after: edit for edit in (*needed[0], *system[0])}
    return [*imports.values(), make(insertion.offset, insertion.offset, insertion.text)]


def statement_edits(entry: Portable, change: NewStatement, make: Make, imported: Import) -> list[Edit] | Reason:
    """The statement with None, which is the same as left out, on other platforms."""
    needed = condition_of(entry, change.module, change.node, imported)
    package = imported(change.module, change.package, None, change.node) if change.package else ([], "")
    if isinstance(needed, Reason):
        return needed
    if isinstance(package, Reason):
        return package
    insertion = placed(change, package[1], either(entry, needed[1], change.value, "None"))
    if isinstance(insertion, Reason):
        return insertion
    return [*needed[0], *package[0], make(insertion.offset, insertion.offset, insertion.text)]
