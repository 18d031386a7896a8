"""Calls that start processes: the only one is not started but called."""

from __future__ import annotations

import ast

from ddp_codemod.model import Reason
from ddp_codemod.single_process import models
from ddp_codemod.single_process.api import given
from ddp_codemod.single_process.condition import several
from ddp_codemod.single_process.model import Piece, Seen
from ddp_codemod.single_process.statements import Guarded
from ddp_codemod.single_process.work import Work


def launch(work: Work, seen: Seen) -> None:
    module, node = seen.module, seen.node
    function, handed = given(node, seen.call.function), given(node, seen.call.args)
    number = given(node, seen.call.world_size)
    if work.guards.guarded(module, node) or work.refused(seen):
        return
    parent = module.parents.get(node)
    if not isinstance(parent, ast.Expr) or not isinstance(function, (ast.Name, ast.Attribute)):
        work.problem(seen, "single-value-used", name=seen.name)
        return
    call = _direct(work, seen, function, handed)
    if number is None or isinstance(number, ast.Constant):
        place = module.place(node)
        work.found.pieces.append(Piece(module, place.start, place.end, call, Reason.of("single-launch", text=call)))
        return
    test = several(module, number)
    if not test:
        work.problem(seen, "single-size", text=module.text(number))
        return
    work.guarded.append(Guarded(module, parent, test, node, Reason.of("single-launch", text=call), otherwise=call))


def _direct(work: Work, seen: Seen, function: ast.expr, handed: ast.expr | None) -> str:
    """The call that the one process makes by itwork."""
    module, name = seen.module, seen.module.text(function)
    if handed is None:
        return f"{name}(0)"
    if not isinstance(handed, ast.Tuple):
        return f"{name}(0, *{module.text(handed)})" if models.is_plain(handed) else f"{name}(0, *({module.text(handed)}))"
    texts = [
        "0",
        *(" ".join(module.text(part).split()) if "\n" in module.text(part) else module.text(part) for part in handed.elts),
    ]
    return f"{name}({', '.join(texts)})"
