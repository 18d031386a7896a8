"""What the handlers of calls share: the entry that they work on, and how they write edits down."""

from __future__ import annotations

import ast

from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module
from ddp_codemod.single_process.api import Api
from ddp_codemod.single_process.collected_calls import Collected
from ddp_codemod.single_process.condition import Condition, Conditions
from ddp_codemod.single_process.fstrings import place_of
from ddp_codemod.single_process.guarded_statements import GuardedStatement
from ddp_codemod.single_process.guards import Guards
from ddp_codemod.single_process.model import ApiCall, EntryRewrite, Problem, SpanEdit
from ddp_codemod.single_process.wrapped_models import WrappedModels
from ddp_codemod.sites.scopes import bindings, scope_of


class EntryRewriter:
    """One entry while it is rewritten."""

    def __init__(self, api: Api, conditions: Conditions, guards: Guards, collected: Collected, wrapped: WrappedModels) -> None:
        self.api, self.conditions, self.guards = api, conditions, guards
        self.collected, self.wrapped = collected, wrapped
        self.found = EntryRewrite(unseen=list(collected.unseen))
        self.guarded: list[GuardedStatement] = []

    def problem(self, seen: ApiCall, key: str, **args: str) -> None:
        """Note a line that is not understood."""
        self.found.problems.append(Problem(seen.module, seen.node, Reason(key, tuple(args.items()))))

    def test(self, seen: ApiCall) -> str:
        """The test for a call behind the start; "" where there is none, which is a problem."""
        result = self.conditions.at(seen.module, seen.node)
        return self.text(seen, result)

    def text(self, seen: ApiCall, condition: Condition | Reason) -> str:
        if isinstance(condition, Reason):
            self.found.problems.append(Problem(seen.module, seen.node, condition))
            return ""
        self.found.span_edits += condition.span_edits
        return condition.text

    def refused(self, seen: ApiCall) -> bool:
        """Whether the call says more than its role allows."""
        for keyword in seen.node.keywords:
            harmless = seen.call.refuses.get(keyword.arg or "")
            if keyword.arg is None and self._is_always_empty(seen.module, keyword.value):
                continue
            if keyword.arg is None or (harmless is not None and seen.module.text(keyword.value) != harmless):
                self.problem(seen, "single-refused", text=keyword.arg or "**")
                return True
        return False

    def _is_always_empty(self, module: Module, value: ast.expr) -> bool:
        """Whether ``**kwargs`` is what a function takes besides its parameters, while no call of it in the program gives more than those."""
        function = scope_of(module, value)
        if not isinstance(value, ast.Name) or not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return False
        arguments, uses = function.args, self.guards.loads.of(module, function)
        rest = arguments.kwarg
        if rest is None or rest.arg != value.id or not uses or len(bindings(module, function).get(rest.arg, ())) != 1:
            return False
        named = {part.arg for part in (*arguments.args, *arguments.kwonlyargs)}
        calls = [other.parents.get(use) for other, use in uses]
        return all(isinstance(call, ast.Call) and call.func is use for call, (_, use) in zip(calls, uses, strict=True)) and all(
            keyword.arg in named for call in calls if isinstance(call, ast.Call) for keyword in call.keywords
        )

    def statement(self, seen: ApiCall) -> ast.stmt | None:
        """The statement that is nothing but the call."""
        parent = seen.module.parents.get(seen.node)
        if isinstance(parent, ast.Expr):
            return parent
        self.problem(seen, "single-value-used", name=seen.name)
        return None

    def either(self, module: Module, node: ast.expr, test: str, other: str, reason: Reason) -> None:
        """``node`` becomes ``node if test else other``."""
        place = place_of(module, node)
        assert place is not None
        bare = stands_bare(module, node)
        if not bare:
            self.insert(module, place.start, "(", reason)
        self.insert(module, place.end, f" if {test} else {other}" + ("" if bare else ")"), reason)

    def insert(self, module: Module, at: int, text: str, reason: Reason) -> None:
        """Put text in."""
        self.found.span_edits.append(SpanEdit(module, at, at, text, reason))


def stands_bare(module: Module, node: ast.expr) -> bool:
    """Whether a conditional expression may be in a node's place without parentheses."""
    parent = module.parents.get(node)
    if isinstance(
        parent,
        (
            ast.Assign,
            ast.AnnAssign,
            ast.Return,
            ast.keyword,
            ast.withitem,
            ast.List,
            ast.Set,
            ast.Dict,
            ast.FormattedValue,
            ast.AugAssign,
        ),
    ):
        return True
    if isinstance(parent, ast.Subscript):
        return node is parent.slice
    if isinstance(parent, ast.Call):
        return node is not parent.func
    return isinstance(parent, ast.Tuple) and module.source.text[module.place(parent).start] == "("
