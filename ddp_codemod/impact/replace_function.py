"""Asks another function of the same package, or drops the question where the code has just asked it."""

from __future__ import annotations

import ast
import re

from ddp_codemod.catalog.advisory import Rewrite
from ddp_codemod.impact.device_requirements import remove_statement
from ddp_codemod.impact.usage import Hit
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.findings import PACKAGE, Change, Context, Insertions

_JOINT = re.compile(r"\s*(?:and|or)\s+")


def replace_function(context: Context, rewrite: Rewrite, hit: Hit) -> list[Change]:
    """By its own name in the module that the code has at hand, else by its whole name."""
    assert isinstance(hit.node, ast.Call)
    call, module = hit.node, hit.module
    called, place = call.func, module.place(call.func)
    parent, _, name = rewrite.otherwise.rpartition(".")
    at_hand = isinstance(called, ast.Attribute) and f"{rewrite.package}.{parent}" in context.tracer.resolver.names(
        module, called.value
    )
    if not isinstance(called, ast.Attribute) or not at_hand:
        return [Insertions(module, call, ((place.start, place.end, f"{PACKAGE}.{rewrite.otherwise}"),), rewrite.package)]
    new = f"{ast.unparse(called.value)}.{name}"
    statement = _find_repeated_statement(module, call, new)
    if statement is not None:
        return remove_statement(module, statement)
    replacement = _find_repeated_operand(module, call, new) or (place.end - len(called.attr), place.end, name)
    return [Insertions(module, call, (replacement,))]


def _format_changed(node: ast.AST, call: ast.Call, new: str) -> str:
    return ast.unparse(node).replace(ast.unparse(call.func), new)


def _find_repeated_statement(module: Module, call: ast.Call, new: str) -> ast.If | None:
    """The statement around a call where the one before it will say the same, word for word."""
    above: ast.AST | None = module.parents[call]
    while isinstance(above, (ast.UnaryOp, ast.BoolOp)):
        above = module.parents[above]
    if not isinstance(above, ast.If) or above.orelse:
        return None
    blocks = [getattr(module.parents[above], field, None) for field in ("body", "orelse", "finalbody")]
    block = next((block for block in blocks if isinstance(block, list) and above in block), [])
    at = block.index(above) if above in block else 0
    same = at > 0 and isinstance(block[at - 1], ast.If) and ast.unparse(block[at - 1]) == _format_changed(above, call, new)
    return above if same else None


def _find_repeated_operand(module: Module, call: ast.Call, new: str) -> tuple[int, int, str] | None:
    """The operand taken out, with the word before or behind it, where another one will be the same."""
    operand: ast.expr = call
    above = module.parents[call]
    if isinstance(above, ast.UnaryOp):
        operand, above = above, module.parents[above]
    if not isinstance(above, ast.BoolOp):
        return None
    others = [part for part in above.values if part is not operand]
    if _format_changed(operand, call, new) not in [ast.unparse(part) for part in others]:
        return None
    at, place = above.values.index(operand), module.place(operand)
    if at:
        start, end = module.place(above.values[at - 1]).end, place.start
        return (start, place.end, "") if _JOINT.fullmatch(module.source.text, start, end) else None
    start, end = place.end, module.place(above.values[1]).start
    return (place.start, end, "") if _JOINT.fullmatch(module.source.text, start, end) else None
