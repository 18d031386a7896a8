"""Which tests say that torch has its distributed package."""

from __future__ import annotations

import ast

from ddp_codemod.parse.python import Module
from ddp_codemod.single_process.api import Api
from ddp_codemod.single_process.enclosing_tests import enclosing_tests, is_implied
from ddp_codemod.single_process.guards import Guards
from ddp_codemod.single_process.model import ApiCall
from ddp_codemod.sites.entities import Definition

_DEPTH = 6


class AvailabilityTests:
    """``start``: the call that makes the group, where it stays as it is: what comes behind it runs only where it could."""

    def __init__(self, api: Api, guards: Guards, start: ApiCall | None) -> None:
        self.api, self.guards, self.start = api, guards, start

    def guarded(self, module: Module, node: ast.AST, depth: int = 0) -> bool:
        """Whether a node runs only where the package is there, or, where the start stays, only for several processes."""
        if self._is_after_start(module, node) or self.guards.guarded(module, node):
            return True
        for test in enclosing_tests(module, node):
            if self._implies_available(module, test.expression, test.holds):
                return True
            if self.start is not None and self.api.about_processes(module, test.expression):
                return True
        return depth < _DEPTH and self.guards.loads.only_where(
            module, node, lambda other, use: self.guarded(other, use, depth + 1)
        )

    def lacks(self, module: Module, around: ast.If, node: ast.AST) -> bool:
        """Whether a statement of an ``if`` runs because the package is not there."""
        inside = node in around.body
        return self._implies_available(module, around.test, not inside) and not self._implies_available(
            module, around.test, inside
        )

    def _is_after_start(self, module: Module, node: ast.AST) -> bool:
        """Whether the start that stays comes before a node, in its suite or in one around it; or is the node's own."""
        if self.start is None or module is not self.start.module:
            return False
        inside = {node, *module.ancestors(node)}
        if self.start.node in inside:
            return True
        around = module.statement(self.start.node)
        suite = [part for part in getattr(module.parents.get(around), "body", []) if isinstance(part, ast.stmt)]
        return around in suite and any(part in inside for part in suite[suite.index(around) :])

    def _implies_available(self, module: Module, test: ast.expr, holds: bool, depth: int = 0) -> bool:
        """Whether a test that holds (or does not) means that the package is there."""
        return depth <= _DEPTH and is_implied(test, holds, lambda part, so: self._asks_availability(module, part, so, depth))

    def _asks_availability(self, module: Module, test: ast.expr, holds: bool, depth: int) -> bool:
        """``is_available()``, or a function of the project that gives it."""
        if not isinstance(test, ast.Call) or not holds:
            return False
        for entity in self.api.resolver.resolve(module, test.func):
            if isinstance(entity, Definition):
                if isinstance(entity.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    returns = [part for part in ast.walk(entity.node) if isinstance(part, ast.Return)]
                    values = [part.value for part in returns if part.value is not None]
                    if len(values) == len(returns) == 1 and self._implies_available(entity.module, values[0], True, depth + 1):
                        return True
            elif getattr(entity, "name", "") == self.api.table.available:
                return True
        return False
