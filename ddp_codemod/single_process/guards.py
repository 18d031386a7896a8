"""Which tests say that there is a process group, or that there are several processes."""

from __future__ import annotations

import ast

from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.single_process.api import Api
from ddp_codemod.single_process.enclosing_tests import enclosing_tests, is_implied
from ddp_codemod.single_process.name_uses import NameUses
from ddp_codemod.sites.entities import Definition
from ddp_codemod.sites.scopes import bindings, owner_scope, scope_of

_DEPTH = 6


class Guards:
    """``sizes``: last names under which the code knows how many processes there are."""

    def __init__(self, api: Api, sizes: frozenset[str], loads: NameUses) -> None:
        self.api, self.sizes, self.loads = api, sizes, loads

    def guarded(self, module: Module, node: ast.AST, depth: int = 0) -> bool:
        """Whether a node runs only where there is a group: by a test around it, or because all is so that names its function."""
        if any(self.implies(module, test.expression, test.holds) for test in enclosing_tests(module, node)):
            return True
        return depth < _DEPTH and self.loads.only_where(module, node, lambda other, use: self.guarded(other, use, depth + 1))

    def implies(self, module: Module, test: ast.expr, holds: bool = True, depth: int = 0) -> bool:
        """Whether a test that holds (or does not) means that there is a group."""
        return depth <= _DEPTH and is_implied(test, holds, lambda part, so: self._implies_group(module, part, so, depth))

    def _implies_group(self, module: Module, test: ast.expr, holds: bool, depth: int) -> bool:
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            return self._comparison_implies_group(module, test, holds, depth)
        if isinstance(test, ast.Call) and holds:
            return self._calls_guard(module, test, depth)
        if isinstance(test, ast.Name) and holds:
            return self._names_guard(module, test, depth)
        return False

    def _comparison_implies_group(self, module: Module, test: ast.Compare, holds: bool, depth: int) -> bool:
        left, right, operator = test.left, test.comparators[0], test.ops[0]
        if isinstance(left, ast.Constant):
            flipped = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}
            left, right, operator = right, left, flipped.get(type(operator), type(operator))()
        if not isinstance(right, ast.Constant) or type(right.value) is not int or not self.counts(module, left, depth):
            return False
        number = right.value
        if holds:
            several = (isinstance(operator, ast.Gt) and number >= 1) or (isinstance(operator, ast.GtE) and number >= 2)
            return several or (isinstance(operator, ast.NotEq) and number == 1)
        one = (isinstance(operator, ast.LtE) and number >= 1) or (isinstance(operator, ast.Lt) and number >= 2)
        return one or (isinstance(operator, ast.Eq) and number == 1)

    def counts(self, module: Module, node: ast.expr, depth: int = 0) -> bool:
        """Whether an expression is the number of processes."""
        if depth > _DEPTH:
            return False
        if isinstance(node, ast.Call):
            found, _ = self.api.call(module, node)
            if found is not None and found.role == "answer":
                return found.value == "1"
            return any(
                self.counts(entity.module, part.value, depth + 1)
                for entity in self.api.resolver.resolve(module, node.func)
                if isinstance(entity, Definition) and not isinstance(entity.node, ast.ClassDef)
                for part in ast.walk(entity.node)
                if isinstance(part, ast.Return) and part.value is not None
            )
        if last_name(node) in self.sizes:
            return True
        if isinstance(node, ast.Name):
            home = owner_scope(module, scope_of(module, node), node.id)
            result = bindings(module, home).get(node.id, ()) if home is not None else ()
            return any(
                one.kind == "value" and one.value is not None and self.counts(module, one.value, depth + 1) for one in result
            )
        return isinstance(node, ast.IfExp) and self.counts(module, node.body, depth + 1)

    def _names_guard(self, module: Module, node: ast.Name, depth: int) -> bool:
        """A name that holds the outcome of such a test."""
        home = owner_scope(module, scope_of(module, node), node.id)
        result = bindings(module, home).get(node.id, ()) if home is not None else ()
        values = [one.value for one in result if one.kind == "value" and one.value is not None]
        told = [value for value in values if not (isinstance(value, ast.Constant) and not value.value)]
        return bool(told) and len(values) == len(result) and all(self.implies(module, value, True, depth + 1) for value in told)

    def _calls_guard(self, module: Module, call: ast.Call, depth: int) -> bool:
        """``is_initialized()``, or a function of the project that says no where there is no group."""
        for entity in self.api.resolver.resolve(module, call.func):
            name = getattr(entity, "name", "")
            if not isinstance(entity, Definition):
                if name.rsplit(".", 1)[-1] == self.api.table.asked.rsplit(".", 1)[-1] and self.api.watched(name):
                    return True
            elif isinstance(entity.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                if self._returns_guard(entity.module, entity.node, depth):
                    return True
        return False

    def _returns_guard(self, module: Module, function: ast.FunctionDef | ast.AsyncFunctionDef, depth: int) -> bool:
        """Whether every ``return`` of a function that may be true is where there is a group."""
        returns = [part for part in ast.walk(function) if isinstance(part, ast.Return)]
        if not returns:
            return False
        for part in returns:
            value = part.value
            false = value is None or (isinstance(value, ast.Constant) and not value.value)
            if false or any(self.implies(module, test.expression, test.holds) for test in enclosing_tests(module, part)):
                continue
            if not self.implies(module, value, True, depth + 1):  # type: ignore[arg-type]
                return False
        return True
