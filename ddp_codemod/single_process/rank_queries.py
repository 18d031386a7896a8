"""Questions to the group, such as the rank: what one process is told."""

from __future__ import annotations

import ast

from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.single_process.enclosing_tests import evaluate_comparison
from ddp_codemod.single_process.entry_rewriter import EntryRewriter, stands_bare
from ddp_codemod.single_process.fstrings import place_of
from ddp_codemod.single_process.model import ApiCall


def rewrite_query(work: EntryRewriter, seen: ApiCall) -> None:
    assert seen.call.value is not None
    if seen.node.args or work.refused(seen) or place_of(seen.module, seen.node) is None:
        work.problem(seen, "single-value-used", name=seen.name)
        return
    if seen.call.shown and not _is_for_people(work, seen):
        work.problem(seen, "single-value-used", name=seen.name)
        return
    test = work.test(seen)
    if not test:
        return
    reason = Reason.of("single-answer", name=seen.name, value=seen.call.value)
    parent = seen.module.parents.get(seen.node)
    if isinstance(parent, ast.IfExp) and parent.body is seen.node and _is_constant(work, parent.orelse, seen.call.value):
        _add_condition(work, seen.module, parent.test, test, reason)
    elif (
        isinstance(parent, ast.Compare)
        and parent.left is seen.node
        and seen.call.value.isdigit()
        and (told := evaluate_comparison(parent, int(seen.call.value))) is not None
    ):
        _rewrite_comparison(work, seen, parent, told, reason)
    else:
        work.either(seen.module, seen.node, test, seen.call.value, reason)


def _is_for_people(work: EntryRewriter, seen: ApiCall) -> bool:
    """Whether an answer goes into a text for people and nowhere else."""
    shows = {name for table in work.api.tables for name in table.shows}
    for around in seen.module.ancestors(seen.node):
        if isinstance(around, ast.Call) and last_name(around.func) in shows:
            return True
        if isinstance(around, ast.stmt):
            return False
    return False


def _rewrite_comparison(work: EntryRewriter, seen: ApiCall, node: ast.Compare, told: bool, reason: Reason) -> None:
    """``get_rank() == 0`` becomes ``not is_initialized() or get_rank() == 0``."""
    text = work.text(seen, work.conditions.asked(seen.module, seen.node))
    place, parent = seen.module.place(node), seen.module.parents.get(node)
    group = f"({text})" if " and " in text else text
    head = f"not {group} or " if told else f"{text} and "
    bare = isinstance(parent, (ast.If, ast.While, ast.Assert)) or stands_bare(seen.module, node)
    work.insert(seen.module, place.start, head if bare else f"({head}", reason)
    if not bare:
        work.insert(seen.module, place.end, ")", reason)


def _add_condition(work: EntryRewriter, module: Module, node: ast.expr, test: str, reason: Reason) -> None:
    """``node`` becomes ``node and test``."""
    place = module.place(node)
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
        work.insert(module, place.start, "(", reason)
        work.insert(module, place.end, f") and {test}", reason)
    else:
        work.insert(module, place.end, f" and {test}", reason)


def _is_constant(work: EntryRewriter, node: ast.expr, value: str) -> bool:
    return isinstance(node, ast.Constant) and repr(node.value) == value
