"""What becomes of each call of the distributed API, so that one process needs no group and several have the one that they had."""

from __future__ import annotations

import ast
from collections.abc import Callable

from ddp_codemod.model import Reason
from ddp_codemod.single_process import guarded_statements, model_uses
from ddp_codemod.single_process.api import passed_argument
from ddp_codemod.single_process.contexts import rewrite_context
from ddp_codemod.single_process.entry_rewriter import EntryRewriter
from ddp_codemod.single_process.guarded_statements import GuardedStatement
from ddp_codemod.single_process.model import ApiCall, EntryRewrite
from ddp_codemod.single_process.process_launches import rewrite_launch
from ddp_codemod.single_process.rank_queries import rewrite_query
from ddp_codemod.single_process.samplers import rewrite_sampler
from ddp_codemod.single_process.switches import rewrite_switches
from ddp_codemod.single_process.wrap_calls import rewrite_wrap


def rewrite_entry(work: EntryRewriter) -> EntryRewrite:
    """All edits and problems."""
    for one in work.collected.unknown:
        if not work.guards.guarded(one.module, one.node):
            work.found.problems.append(one)
    makers: dict[str, Callable[[EntryRewriter, ApiCall], None]] = {
        "start": _rewrite_start,
        "wrap": rewrite_wrap,
        "skip": _rewrite_skippable,
        "gather": _rewrite_gather,
    }
    makers |= {"answer": rewrite_query, "sampler": rewrite_sampler, "launch": rewrite_launch, "context": rewrite_context}
    for seen in work.collected.role("start") if work.conditions.start is None else ():
        work.problem(seen, "single-both", name=seen.name)
    for seen in work.collected.calls:
        make = makers.get(seen.call.role)
        if make is None or (seen.call.role != "launch" and work.guards.guarded(seen.module, seen.node)):
            continue
        make(work, seen)
    rewrite_switches(work)
    for problem in filter(None, (guarded_statements.check_statement(one.module, one.statement) for one in work.guarded)):
        work.found.problems.append(problem)
    if not work.found.problems:
        work.found.span_edits += guarded_statements.write_guards(work.guarded)
    return work.found


def _rewrite_start(work: EntryRewriter, seen: ApiCall) -> None:
    if work.conditions.elsewhere(seen):
        work.problem(seen, "single-both", name=seen.name)
        return
    statement = None if work.refused(seen) else work.statement(seen)
    test = work.text(seen, work.conditions.at_start()) if statement is not None else ""
    if statement is not None and test:
        reason = Reason.of("single-start", test=test)
        work.guarded.append(GuardedStatement(seen.module, statement, test, seen.node, reason))


def _rewrite_skippable(work: EntryRewriter, seen: ApiCall) -> None:
    if work.refused(seen):
        return
    if len(seen.node.args) > 3:
        work.problem(seen, "single-refused", text="...")
        return
    statement = work.statement(seen)
    test = work.test(seen) if statement is not None else ""
    if statement is not None and test:
        reason = Reason.of("single-skip", name=seen.name)
        work.guarded.append(GuardedStatement(seen.module, statement, test, seen.node, reason))


def _rewrite_gather(work: EntryRewriter, seen: ApiCall) -> None:
    """``all_gather(parts, x)`` or, in one process, ``parts[0].copy_(x.detach())``."""
    output, given_in = passed_argument(seen.node, seen.call.output), passed_argument(seen.node, seen.call.input)
    if work.refused(seen):
        return
    plain = model_uses.is_plain(output) and given_in is not None and "\n" not in seen.module.text(given_in)
    if not plain or output is None or given_in is None or len(seen.node.args) > 2:
        work.problem(seen, "single-refused", text="...")
        return
    statement = work.statement(seen)
    test = work.test(seen) if statement is not None else ""
    if statement is None or not test:
        return
    text, value = seen.module.text(output), seen.module.text(given_in)
    whole = value if model_uses.is_plain(given_in) or isinstance(given_in, ast.Call) else f"({value})"
    fills = {"objects": f"{text}[0] = {value}", "tensors": f"{text}[0].copy_({whole}.detach())"}
    otherwise = fills.get(seen.call.fills, f"{text}.copy_({whole}.detach())")
    reason = Reason.of("single-gather", text=otherwise)
    work.guarded.append(GuardedStatement(seen.module, statement, test, seen.node, reason, otherwise=otherwise))
