"""Calls that start processes: the only one is not started but called."""

from __future__ import annotations

import ast

from ddp_codemod.model import Reason
from ddp_codemod.single_process import model_uses
from ddp_codemod.single_process.api import passed_argument
from ddp_codemod.single_process.condition import write_several_test
from ddp_codemod.single_process.entry_rewriter import EntryRewriter
from ddp_codemod.single_process.guarded_statements import GuardedStatement
from ddp_codemod.single_process.model import ApiCall, SpanEdit


def rewrite_launch(work: EntryRewriter, seen: ApiCall) -> None:
    module, node = seen.module, seen.node
    function, handed = passed_argument(node, seen.call.function), passed_argument(node, seen.call.args)
    number = passed_argument(node, seen.call.world_size)
    if work.guards.guarded(module, node) or work.refused(seen):
        return
    parent = module.parents.get(node)
    if not isinstance(parent, ast.Expr) or not isinstance(function, (ast.Name, ast.Attribute)):
        work.problem(seen, "single-value-used", name=seen.name)
        return
    call = _write_direct_call(work, seen, function, handed)
    if number is None or isinstance(number, ast.Constant):
        place = module.place(node)
        work.found.span_edits.append(SpanEdit(module, place.start, place.end, call, Reason.of("single-launch", text=call)))
        return
    test = write_several_test(module, number)
    if not test:
        work.problem(seen, "single-size", text=module.text(number))
        return
    work.guarded.append(GuardedStatement(module, parent, test, node, Reason.of("single-launch", text=call), otherwise=call))


def _write_direct_call(work: EntryRewriter, seen: ApiCall, function: ast.expr, handed: ast.expr | None) -> str:
    """The call that the one process makes by itwork."""
    module, name = seen.module, seen.module.text(function)
    if handed is None:
        return f"{name}(0)"
    if not isinstance(handed, ast.Tuple):
        return f"{name}(0, *{module.text(handed)})" if model_uses.is_plain(handed) else f"{name}(0, *({module.text(handed)}))"
    texts = [
        "0",
        *(" ".join(module.text(part).split()) if "\n" in module.text(part) else module.text(part) for part in handed.elts),
    ]
    return f"{name}({', '.join(texts)})"
