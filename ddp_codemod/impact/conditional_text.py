"""Code that goes in where something holds only under a condition: a conditional expression, a statement of an ``if``."""

from __future__ import annotations

import ast

from ddp_codemod.impact.idle_streams import find_waiting_statement
from ddp_codemod.parse.python import Module

Replacement = tuple[int, int, str]
LOOSE = (ast.IfExp, ast.Lambda, ast.NamedExpr, ast.Yield, ast.Await)  # what a conditional would take apart


def is_free(module: Module, node: ast.expr) -> bool:
    """Whether a place takes a whole expression, of whatever binding."""
    parent = module.parents.get(node)
    return isinstance(parent, (ast.keyword, ast.Assign, ast.AnnAssign, ast.Return, ast.arguments)) or (
        isinstance(parent, ast.Call) and parent.func is not node
    )


def guard_statement(module: Module, node: ast.AST, condition: str, waits: tuple[str, ...]) -> list[Replacement]:
    """The statement under a condition of its own; only a call that is alone, or with which a stream is waited for."""
    statement = find_waiting_statement(module, node, waits)
    if statement is None:
        return []
    place = module.place(statement)
    line, end = module.source.line_span(place.start)
    indent = module.source.text[line : place.start]
    if indent.strip(" \t"):
        return []  # behind a semicolon or in a one-line suite
    if place.end > end:
        return [(place.start, place.start, f"if {condition}: ")]
    step = "\t" if "\t" in indent else "    "
    return [(place.start, place.start, f"if {condition}:{module.source.newline}{indent}{step}")]


def make_conditional(module: Module, node: ast.expr, condition: str, otherwise: str) -> list[Replacement]:
    place = module.place(node)
    start, end = ("(", ")") if isinstance(node, LOOSE) else ("", "")
    if not is_free(module, node):  # a conditional binds looser than anything else
        start, end = f"({start}", f"{end})"
        return [(place.start, place.start, start), (place.end, place.end, f"{end[:-1]} if {condition} else {otherwise})")]
    return [
        *([(place.start, place.start, start)] if start else []),
        (place.end, place.end, f"{end} if {condition} else {otherwise}"),
    ]
