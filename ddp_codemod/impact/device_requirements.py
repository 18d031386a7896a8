"""Takes the demand for an accelerator out of code that ends the program without one."""

from __future__ import annotations

import ast

from ddp_codemod.catalog.advisory import Pattern, Rewrite
from ddp_codemod.impact.unsynchronized_models import find_openings
from ddp_codemod.impact.usage import Hit
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.findings import PACKAGE, Change, Context, Insertions


def relax_requirement(context: Context, pattern: Pattern, rewrite: Rewrite, hit: Hit) -> list[Change]:
    """A statement that asks for nothing but a device goes; a test that asks for more is made only where there is a device.

    Where the whole program is behind a check, ``if cuda.is_available() or distributed.is_available():``.
    """
    module, statement, package, condition = hit.module, hit.node, rewrite.package, rewrite.condition
    if isinstance(statement, ast.Assert):
        if _is_only_device_test(context, pattern, module, statement.test):
            return remove_statement(module, statement)
        if isinstance(statement.test, ast.Compare):  # ``assert wanted <= torch.cuda.device_count()``
            at = module.place(statement.test).start
            return [Insertions(module, statement.test, ((at, at, f"not {PACKAGE}{condition} or "),), package)]
        return []
    if not isinstance(statement, ast.If) or _is_elif(module, statement):
        return []
    test = statement.test
    if rewrite.value and "required" in find_openings(context, module, test):
        after = module.place(test).end
        return [Insertions(module, test, ((after, after, f" or {PACKAGE}{rewrite.value}"),), package)]
    if context.facts.truth(module, test) is False:
        return []  # all is done in its branch
    if (
        isinstance(test, ast.UnaryOp)
        and isinstance(test.op, ast.Not)
        and _is_only_device_test(context, pattern, module, test.operand)
    ):
        return [] if statement.orelse else remove_statement(module, statement)
    place = module.place(test)
    loose = isinstance(test, (ast.BoolOp, ast.IfExp, ast.Lambda, ast.NamedExpr)) and not (
        isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And)
    )
    start, end = ("(", ")") if loose else ("", "")
    replacements = [(place.start, place.start, f"{PACKAGE}{condition} and {start}")]
    return [Insertions(module, test, (*replacements, *([(place.end, place.end, end)] if end else [])), package)]


def _is_only_device_test(context: Context, pattern: Pattern, module: Module, test: ast.expr) -> bool:
    """Whether a test is a call of one of the names, or compares it with a number that is written out."""
    asked = test.left if isinstance(test, ast.Compare) and len(test.ops) == 1 else test
    if isinstance(test, ast.Compare):
        more = isinstance(test.ops[0], (ast.Gt, ast.GtE)) and isinstance(test.comparators[0], ast.Constant)
        if not (more or _is_not_zero(test)):
            return False
    return isinstance(asked, ast.Call) and bool(set(context.tracer.resolver.names(module, asked.func)) & set(pattern.names))


def _is_not_zero(test: ast.Compare) -> bool:
    right = test.comparators[0]
    return isinstance(test.ops[0], ast.NotEq) and isinstance(right, ast.Constant) and right.value == 0


def _is_elif(module: Module, statement: ast.If) -> bool:
    above = module.parents.get(statement)
    return isinstance(above, ast.If) and above.orelse == [statement]


def remove_statement(module: Module, statement: ast.stmt) -> list[Change]:
    """The statement taken out with its lines; ``pass`` in its place where its block holds nothing else."""
    place, source = module.place(statement), module.source
    line, _ = source.line_span(place.start)
    _, end = source.line_span(max(place.start, place.end - 1))
    before, behind = source.text[line : place.start], source.text[place.end : end]
    if before.strip(" \t") or (behind.strip() and not behind.lstrip().startswith("#")):
        return []  # behind a semicolon, or in a one-line suite
    above = module.parents.get(statement)
    blocks = [getattr(above, name, None) for name in ("body", "orelse", "finalbody")]
    block = next((found for found in blocks if isinstance(found, list) and statement in found), None)
    if block is None or len(block) == 1:
        return [Insertions(module, statement, ((place.start, place.end, "pass"),))]
    return [Insertions(module, statement, ((line, end, ""),))]
