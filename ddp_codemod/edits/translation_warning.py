"""The lines that say so where a name that somebody typed is changed at a call."""

from __future__ import annotations

import ast
import itertools

from msgspec.structs import replace

from ddp_codemod.edits.argument_translation import find_free_name, format_comparison, is_plain
from ddp_codemod.edits.conditional import Import, Make
from ddp_codemod.edits.insert import insert_before_statement
from ddp_codemod.edits.values import find_first_quote
from ddp_codemod.kinds import Meaning
from ddp_codemod.model import Edit, Reason
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.findings import Translation


def warning_edits(change: Translation, make: Make, imported: Import, test: str = "") -> list[Edit]:
    """A call of ``warnings.warn`` before the call that is changed, and the import that it needs.

    ``test`` is a condition under which the argument is changed at all. Nothing where no line is free, or where asking for the
    argument twice may not be the same as asking once: the change itself does not depend on that.
    """
    module, node = change.module, change.argument
    name = "" if test else choose_name_before(change)
    if not change.warning or not (name or is_plain(node)) or _is_skipped(module, node):
        return []
    if isinstance(module.parents.get(node), ast.Starred) and len(change.pairs) > 1:
        return []  # which of them it was is not told in a line
    needed = imported(module, "warnings", None, node)
    if isinstance(needed, Reason):
        return []
    quote = find_first_quote(module, node)
    value = module.text(node.value) if isinstance(node, ast.NamedExpr) else module.text(node)
    given = f"({name} := {value})" if name else value
    asked = " and ".join(part for part in (test, _format_condition(change, given, quote)) if part)
    text = f"if {asked}:\n\t{needed[1]}.warn({quote}{change.warning}{quote})"
    put = insert_before_statement(module.source, module.parents, node, text)
    if isinstance(put, Reason):
        return []
    reason = Reason.of("edit-warned", Meaning.WARNING, text=module.short_text(node))
    return [*needed[0], replace(make(put.offset, put.offset, put.text), reason=reason, anchor=module.place(node).start)]


def choose_name_before(change: Translation) -> str:
    """The name that the line before the call gives an argument, which is worked out there, as early as it was; "" where it is not."""
    module, node = change.module, change.argument
    around = module.parents.get(node)
    call = module.parents.get(around) if isinstance(around, ast.keyword) else around
    if is_plain(node) or change.key or not isinstance(call, ast.Call) or not is_plain(call.func):
        return ""
    first = call.args[0] if call.args else call.keywords[0].value
    if first is not node or not isinstance(module.parents.get(call), ast.Expr):
        return ""
    return node.target.id if isinstance(node, ast.NamedExpr) else find_free_name(module, node)


def _format_condition(change: Translation, text: str, quote: str) -> str:
    """The condition under which somebody asked for a name that is changed; ``text`` is the argument."""
    named = tuple(pair for pair in change.pairs if pair[0] is not None)
    if isinstance(change.module.parents.get(change.argument), ast.Starred):
        return f"{quote}{named[0][0]}{quote} in {text}"
    value = f"{text}.get({quote}{change.key}{quote})" if change.key else text
    return f"{value} {format_comparison(named, quote)}"


def _is_skipped(module: Module, node: ast.expr) -> bool:
    """Whether the statement may run without the call: it is in a branch of an expression."""
    around = itertools.takewhile(lambda one: not isinstance(one, ast.stmt), module.ancestors(node))
    return any(isinstance(one, (ast.IfExp, ast.BoolOp)) for one in around)
