"""What becomes of each call of the distributed API, so that one process needs no group and several have the one that they had."""

from __future__ import annotations

import ast
from collections.abc import Callable

from ddp_codemod.model import Reason
from ddp_codemod.single_process import models, statements
from ddp_codemod.single_process.answers import answer
from ddp_codemod.single_process.api import given
from ddp_codemod.single_process.contexts import context
from ddp_codemod.single_process.flags import flags
from ddp_codemod.single_process.launches import launch
from ddp_codemod.single_process.model import Found, Seen
from ddp_codemod.single_process.samplers import sampler
from ddp_codemod.single_process.statements import Guarded
from ddp_codemod.single_process.work import Work
from ddp_codemod.single_process.wraps import wrap


def rewrite(work: Work) -> Found:
    """All pieces and problems."""
    for one in work.collected.unknown:
        if not work.guards.guarded(one.module, one.node):
            work.found.problems.append(one)
    makers: dict[str, Callable[[Work, Seen], None]] = {"start": _start, "wrap": wrap, "skip": _skip, "gather": _gather}
    makers |= {"answer": answer, "sampler": sampler, "launch": launch, "context": context}
    for seen in work.collected.role("start") if work.conditions.start is None else ():
        work.problem(seen, "single-both", name=seen.name)
    for seen in work.collected.calls:
        make = makers.get(seen.call.role)
        if make is None or (seen.call.role != "launch" and work.guards.guarded(seen.module, seen.node)):
            continue
        make(work, seen)
    flags(work)
    for problem in filter(None, (statements.check(one.module, one.statement) for one in work.guarded)):
        work.found.problems.append(problem)
    if not work.found.problems:
        work.found.pieces += statements.pieces(work.guarded)
    return work.found


def _start(work: Work, seen: Seen) -> None:
    if work.conditions.elsewhere(seen):
        work.problem(seen, "single-both", name=seen.name)
        return
    statement = None if work.refused(seen) else work.statement(seen)
    test = work.text(seen, work.conditions.at_start()) if statement is not None else ""
    if statement is not None and test:
        reason = Reason.of("single-start", test=test)
        work.guarded.append(Guarded(seen.module, statement, test, seen.node, reason))


def _skip(work: Work, seen: Seen) -> None:
    if work.refused(seen):
        return
    if len(seen.node.args) > 3:
        work.problem(seen, "single-refused", text="...")
        return
    statement = work.statement(seen)
    test = work.test(seen) if statement is not None else ""
    if statement is not None and test:
        reason = Reason.of("single-skip", name=seen.name)
        work.guarded.append(Guarded(seen.module, statement, test, seen.node, reason))


def _gather(work: Work, seen: Seen) -> None:
    """``all_gather(parts, x)`` or, in one process, ``parts[0].copy_(x.detach())``."""
    output, given_in = given(seen.node, seen.call.output), given(seen.node, seen.call.input)
    if work.refused(seen):
        return
    plain = models.is_plain(output) and given_in is not None and "\n" not in seen.module.text(given_in)
    if not plain or output is None or given_in is None or len(seen.node.args) > 2:
        work.problem(seen, "single-refused", text="...")
        return
    statement = work.statement(seen)
    test = work.test(seen) if statement is not None else ""
    if statement is None or not test:
        return
    text, value = seen.module.text(output), seen.module.text(given_in)
    whole = value if models.is_plain(given_in) or isinstance(given_in, ast.Call) else f"({value})"
    fills = {"objects": f"{text}[0] = {value}", "tensors": f"{text}[0].copy_({whole}.detach())"}
    otherwise = fills.get(seen.call.fills, f"{text}.copy_({whole}.detach())")
    reason = Reason.of("single-gather", text=otherwise)
    work.guarded.append(Guarded(seen.module, statement, test, seen.node, reason, otherwise=otherwise))
