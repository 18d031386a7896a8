"""Puts statements under the project's own condition."""

from __future__ import annotations

import ast

from msgspec import Struct

from ddp_codemod.edits.recipes.guard_statements import can_indent
from ddp_codemod.model import Reason, Recipe
from ddp_codemod.parse.python import Module
from ddp_codemod.single_process.model import Problem, SpanEdit


class GuardedStatement(Struct, frozen=True, eq=False):
    """A statement that is to run only under a test. ``wrap``: its expression is to be made in any case."""

    module: Module
    statement: ast.stmt
    test: str
    anchor: ast.AST
    reason: Reason
    otherwise: str = ""
    wrap: bool = False


def check_statement(module: Module, statement: ast.stmt) -> Problem | None:
    """Why a statement cannot be put under an ``if`` where it is."""
    source = module.source
    place = module.place(statement)
    first = source.line_span(place.start)[0]
    rest = source.text[place.end : source.line_span(place.end)[1]].strip()
    if source.text[first : place.start].strip() or (rest and not rest.startswith("#")):
        return Problem(module, statement, Reason.of("single-shared-line"))
    above = source.text[:first].rstrip("\r\n")
    if above.endswith("\\"):
        return Problem(module, statement, Reason.of("single-shared-line"))
    if not can_indent(source.text[place.start : place.end], source.text[first : place.start]):
        return Problem(module, statement, Reason.of("recipe-multiline-string"))
    return None


def write_guards(wanted: list[GuardedStatement]) -> list[SpanEdit]:
    """The edits: neighbours with the same test share one ``if``."""
    result: list[SpanEdit] = []
    wanted = sorted(wanted, key=lambda one: (one.module.name, one.module.place(one.statement).start))
    while wanted:
        run = [wanted.pop(0)]
        while wanted and _can_share_guard(run[-1], wanted[0]):
            run.append(wanted.pop(0))
        result.append(_write_guard(run))
    return result


def _can_share_guard(one: GuardedStatement, other: GuardedStatement) -> bool:
    if (
        one.module is not other.module
        or one.test != other.test
        or bool(one.otherwise) != bool(other.otherwise)
        or one.wrap
        or other.wrap
    ):
        return False
    module = one.module
    parent = module.parents.get(one.statement)
    for name in ("body", "orelse", "finalbody"):
        suite = getattr(parent, name, None)
        if isinstance(suite, list) and one.statement in suite:
            at = suite.index(one.statement)
            gap = module.source.text[module.place(one.statement).end : module.place(other.statement).start]
            comments = all(not line.strip() or line.strip().startswith("#") for line in gap.splitlines())
            return suite[at + 1 : at + 2] == [other.statement] and comments
    return False


def _write_guard(run: list[GuardedStatement]) -> SpanEdit:
    module, first = run[0].module, run[0]
    start, end = module.place(first.statement).start, module.place(run[-1].statement).end
    base = module.source.text[module.source.line_span(start)[0] : start]
    args = {
        "test": first.test,
        "base": base,
        "unit": _indent_unit(module, first.statement, base),
        "otherwise": "\n".join(one.otherwise for one in run if one.otherwise),
        "newline": module.source.newline,
    }
    if first.wrap:
        args["wrap"] = "yes"
    recipe = Recipe("guard-statements", tuple(args.items()))
    return SpanEdit(module, start, end, None, first.reason, recipe, module.place(first.anchor).start)


def _indent_unit(module: Module, statement: ast.stmt, base: str) -> str:
    """One level of indentation, as the code around a statement has it."""
    for around in module.ancestors(statement):
        if isinstance(around, ast.stmt):
            outer = _indent_of(module, around)
            if base.startswith(outer) and base != outer:
                return base[len(outer) :]
    for node in module.tree.body:
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and body[0].lineno > node.lineno:
            return _indent_of(module, body[0]) or "    "
    return "    "


def _indent_of(module: Module, node: ast.stmt) -> str:
    start = module.place(node).start
    line = module.source.text[module.source.line_span(start)[0] : start]
    return line if not line.strip() else line[: len(line) - len(line.lstrip())]
