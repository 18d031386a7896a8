"""Switches of code from elsewhere that make it ask the group: on only where there is one."""

from __future__ import annotations

import ast

from ddp_codemod.model import Reason
from ddp_codemod.single_process.entry_rewriter import EntryRewriter
from ddp_codemod.single_process.model import Problem, SpanEdit


def rewrite_switches(work: EntryRewriter) -> None:
    """``use_ddp=True`` becomes ``use_ddp=dist.is_initialized()``; what that code does otherwise was not read."""
    for asking in work.collected.asking:
        if asking.keyword is None or work.guards.guarded(asking.module, asking.node):
            continue
        module, value = asking.module, asking.keyword.value
        if work.guards.implies(module, value):
            continue
        condition = work.conditions.asked(module, value)
        if isinstance(condition, Reason):
            work.found.problems.append(Problem(module, value, condition))
            continue
        reason = Reason.of("single-flag", text=asking.text)
        work.found.span_edits += condition.span_edits
        place = module.place(value)
        if isinstance(value, ast.Constant):
            work.found.span_edits.append(SpanEdit(module, place.start, place.end, condition.text, reason))
        elif isinstance(value, (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Compare)):
            work.insert(module, place.end, f" and {condition.text}", reason)
        else:
            work.insert(module, place.start, "(", reason)
            work.insert(module, place.end, f") and {condition.text}", reason)
        work.found.unseen.append(Problem(module, asking.node, reason))
