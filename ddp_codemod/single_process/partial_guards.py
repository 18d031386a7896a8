"""Entries whose group is made under a condition, while other code asks for it without one."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module, walk
from ddp_codemod.single_process.collected_calls import Collected
from ddp_codemod.single_process.condition import Conditions
from ddp_codemod.single_process.enclosing_tests import enclosing_tests, evaluate_comparison
from ddp_codemod.single_process.entry_rewriter import EntryRewriter
from ddp_codemod.single_process.existing_guards import ExistingGuards
from ddp_codemod.single_process.guards import Guards
from ddp_codemod.single_process.model import ApiCall, EntryRewrite, Problem
from ddp_codemod.single_process.model_uses import ModelUses
from ddp_codemod.single_process.rewrite import rewrite_entry
from ddp_codemod.single_process.wrapped_models import WrappedModels

_RESTS = ("wrap", "skip", "gather", "answer", "sampler", "context")
Parts = list[tuple[Module, ast.AST]]


def complete_partial_guard(
    test: str, collected: Collected, guards: Guards, history: ExistingGuards, parts: Parts
) -> EntryRewrite | None:
    """What makes the rest right where there is no group; None where nothing has to change, or not all of it is understood.

    ``test`` is the condition under which the group is made.
    """
    asked = (seen for seen in collected.role(*_RESTS) if not _is_counted(seen))
    rest = [seen for seen in asked if history.condition(seen.module, seen.node) is None]
    open_ones = any(not guards.guarded(seen.module, seen.node) for seen in rest)
    asking = [one for one in collected.asking if not guards.guarded(one.module, one.node)]
    asking = [one for one in asking if history.condition(one.module, one.node) is None]
    unknown = any(not guards.guarded(one.module, one.node) for one in collected.unknown)
    if (
        not collected.trains
        or unknown
        or not open_ones
        or _requires_test(parts, test)
        or any(one.kind == "needs" for one in asking)
    ):
        return None
    wraps = any(seen.call.role == "wrap" for seen in rest)
    wrapped = WrappedModels(guards.api, parts if wraps else [])
    left = Collected(calls=rest, asking=[one for one in asking if one.kind == "flag"])
    rewrite = rewrite_entry(EntryRewriter(guards.api, Conditions(guards.api, guards, None), guards, left, wrapped))
    uses = ModelUses(guards.api, guards, wrapped, parts if wraps else []).run()
    may = [Problem(one.module, one.node, Reason.of("single-may", text=one.text)) for one in asking if one.kind == "may"]
    unseen = [*rewrite.unseen, *uses.unseen, *collected.unseen, *collected.outside, *may]
    found = EntryRewrite([*rewrite.span_edits, *uses.span_edits], unseen=unseen)
    return found if found.span_edits and not rewrite.problems and not uses.problems else None


def _is_counted(seen: ApiCall) -> bool:
    """Whether a call is where a number of something is more than one."""
    for test in enclosing_tests(seen.module, seen.node):
        for part in ast.walk(test.expression):
            if isinstance(part, ast.Compare) and {evaluate_comparison(part, 1), evaluate_comparison(part, 2)} == {True, False}:
                return True
    return False


def _requires_test(parts: Iterable[tuple[Module, ast.AST]], test: str) -> bool:
    """Whether a program ends where a test does not hold: it does not mean to run as one process."""
    for module, part in parts:
        for node in walk(part):
            if isinstance(node, ast.If) and " ".join(module.text(node.test).split()) == test:
                last = node.orelse
                while len(last) == 1 and isinstance(last[0], ast.If):
                    last = last[0].orelse
                if last and isinstance(last[-1], ast.Raise):
                    return True
    return False
