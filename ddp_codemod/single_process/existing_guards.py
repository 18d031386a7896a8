"""Whether an entry already makes its group only for several processes, or never for one."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.single_process.api import Api, passed_argument
from ddp_codemod.single_process.enclosing_tests import Test, enclosing_tests, evaluate_comparison, number_of
from ddp_codemod.single_process.guards import Guards
from ddp_codemod.single_process.model import ApiCall
from ddp_codemod.single_process.name_uses import NameUses
from ddp_codemod.single_process.name_words import split_words
from ddp_codemod.sites.scopes import bindings, owner_scope, scope_of

_DEPTH = 4
_FIRST = frozenset({"zero", "main", "master", "first"})  # of names that tell the first process
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
Where = tuple[Module, ast.expr, bool]  # a test, and whether it has to hold


class ExistingGuards:
    """``loads``: where the entry's programs name their functions."""

    def __init__(self, api: Api, guards: Guards, loads: NameUses) -> None:
        self.api, self.guards, self.loads = api, guards, loads
        self._callers: dict[ast.AST, Where | None] = {}  # None also while it is being worked out

    def condition(self, module: Module, node: ast.AST, depth: int = 0) -> Where | None:
        """The test about the number of processes under which a node runs, there or where its function is called."""
        for test in enclosing_tests(module, node):
            if self._is_process_test(module, node, test):
                return module, test.expression, test.holds
        function = next((at for at in module.ancestors(node) if isinstance(at, _FUNCTIONS)), None)
        if function is None or depth > _DEPTH:
            return None
        if function not in self._callers:
            self._callers[function] = None
            found = self._find_common_condition(self.loads.of(module, function), depth)
            around = module.parents.get(function)
            if found is None and isinstance(around, ast.ClassDef):  # what makes the object
                found = self._find_common_condition(self.loads.of(module, around), depth)
            self._callers[function] = found
        return self._callers[function]

    def _find_common_condition(self, uses: Iterable[tuple[Module, ast.expr]], depth: int) -> Where | None:
        """The condition of the first use, where every one has one."""
        first: Where | None = None
        for module, use in uses:
            found = self.condition(module, use, depth + 1)
            if found is None:
                return None
            first = first or found
        return first

    def _is_process_test(self, module: Module, node: ast.AST, test: Test) -> bool:
        if self.guards.implies(module, test.expression, test.holds):
            return True
        earlier = test.around not in set(module.ancestors(node))
        if earlier and not any(isinstance(part, ast.Return) for part in ast.walk(test.around)):
            return False  # an early ``raise`` checks the machine
        if not self.api.about_processes(module, test.expression) or self._is_same_for_one(test.expression):
            return False
        if is_rank_test(test.expression) and not _selects_other_rank(test.expression, test.holds):
            return False
        return not self._has_other_start(module, node, test)

    def _is_same_for_one(self, test: ast.expr) -> bool:
        """``n < 1``, ``n == 0``: a test that does not tell one process from several."""
        if not isinstance(test, ast.Compare) or "rank" in ast.dump(test.left).lower():
            return False
        told = {evaluate_comparison(test, number) for number in (1, 2, 8)}
        return len(told) == 1 and None not in told

    def _has_other_start(self, module: Module, node: ast.AST, test: Test) -> bool:
        """Whether the other branch starts the group as well, or calls the same function."""
        names = {last_name(part) for part in ast.walk(node) if isinstance(part, (ast.Name, ast.Attribute))}
        if isinstance(node, ast.Call):
            names = {last_name(node.func)}
        return any(
            isinstance(part, (ast.Name, ast.Attribute)) and last_name(part) in names
            for beside in test.beside
            for part in ast.walk(beside)
        )

    def tried(self, module: Module, node: ast.AST) -> ast.Try | None:
        """The ``try`` that catches that no group can be made, after which the program goes on without one."""
        child = node
        for around in module.ancestors(node):
            if isinstance(around, ast.Try) and child in around.body and around.handlers:
                ends = (part for handler in around.handlers for part in ast.walk(handler))
                if not any(isinstance(part, ast.Raise) or _is_exit_call(part) for part in ends):
                    return around
            if isinstance(around, _FUNCTIONS):
                return None
            child = around
        return None

    def always_several(self, launches: Iterable[ApiCall], start: ApiCall | None) -> int | None:
        """A written-out number of processes that is more than one."""
        calls = [(seen, seen.call.world_size) for seen in (*launches, *([start] if start else ()))]
        for seen, argument in calls:
            value = passed_argument(seen.node, argument)
            if isinstance(value, ast.Name):
                value = self._resolve_constant(seen.module, value) or value
            if isinstance(value, ast.Constant) and type(value.value) is int and value.value > 1:
                return value.value
        return None

    def _resolve_constant(self, module: Module, node: ast.Name) -> ast.expr | None:
        """The number that a name was assigned by a plain statement, once."""
        home = owner_scope(module, scope_of(module, node), node.id)
        result = bindings(module, home).get(node.id, ()) if home is not None else ()
        return result[0].value if len(result) == 1 and result[0].kind == "value" else None


def _is_exit_call(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and last_name(node.func) in ("exit", "_exit", "abort", "quit")


def is_rank_test(test: ast.expr) -> bool:
    """Whether a test is about the number of this process, and nothing else."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return is_rank_test(test.operand)
    if isinstance(test, ast.Compare):
        return len(test.ops) == 1 and is_rank_test(test.left)
    return "rank" in split_words(last_name(test.func if isinstance(test, ast.Call) else test))


def _selects_other_rank(test: ast.expr, holds: bool) -> bool:
    """Whether what runs where a test of the rank holds (or not) runs in a second process, but not in the only one, whose rank is 0 or -1."""
    told = [_evaluate_rank_test(test, rank) for rank in (1, 0, -1)]
    return None in told or (told[0] == holds and (told[1] != holds or told[2] != holds))


def _evaluate_rank_test(test: ast.expr, rank: int) -> bool | None:
    """What a test of the rank comes to; None where that is not known."""
    if isinstance(test, ast.UnaryOp):
        told = _evaluate_rank_test(test.operand, rank)
        return None if told is None else not told
    if not isinstance(test, ast.Compare):
        last = last_name(test.func if isinstance(test, ast.Call) else test)
        return rank in (0, -1) if split_words(last) & _FIRST else bool(rank)
    values = test.comparators[0]
    if isinstance(test.ops[0], (ast.In, ast.NotIn)) and isinstance(values, (ast.List, ast.Tuple, ast.Set)):
        numbers = [number_of(part) for part in values.elts]
        return None if None in numbers else (rank in numbers) == isinstance(test.ops[0], ast.In)
    return evaluate_comparison(test, rank)
