"""Gates: tests whether one backend is there, without which code gives up all communication, whatever backend its groups have."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from msgspec import Struct

from ddp_codemod.dataflow.blocks import list_following
from ddp_codemod.dataflow.demands import sources
from ddp_codemod.discover.kinds import is_test
from ddp_codemod.parse.python import Module, walk
from ddp_codemod.sites.entities import Definition
from ddp_codemod.sites.resolver import Resolver

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Gates(Struct, frozen=True):
    """What is asked in a gate, what makes or needs a group, and what asks whether there is one."""

    names: frozenset[str] = frozenset()
    used: frozenset[str] = frozenset()
    asked: frozenset[str] = frozenset()
    makers: frozenset[str] = frozenset()  # of what is used, what makes the default group

    def holds(self, resolver: Resolver, module: Module, call: ast.Call) -> bool:
        """Whether "no" as the answer to a call makes the code around end, or do without its group; a test of the project may."""
        if is_test(module.name):
            return False
        child: ast.AST = call
        comes = False  # what the test comes to where the answer is no
        for parent in module.ancestors(call):
            if isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not):
                comes = not comes
            elif isinstance(parent, ast.BoolOp):
                if comes is isinstance(parent.op, ast.And):
                    return False  # another operand decides
                if comes is False and any(self._is_group_query(resolver, module, part) for part in parent.values):
                    return True
            elif isinstance(parent, ast.Assert):
                return child is parent.test and not comes
            elif isinstance(parent, ast.IfExp) and child is parent.test:
                taken, left = (parent.body, parent.orelse) if comes else (parent.orelse, parent.body)
                return _is_nothing(taken) and self.has_group_use(resolver, module, [left])
            elif isinstance(parent, ast.If) and child is parent.test:
                return self._is_group_optional(resolver, module, parent, comes)
            else:
                return False
            child = parent
        return False

    def _is_group_optional(self, resolver: Resolver, module: Module, statement: ast.If, comes: bool) -> bool:
        taken, left = (statement.body, statement.orelse) if comes else (statement.orelse, statement.body)
        if not taken:
            return self.has_group_use(resolver, module, left)
        if not all(isinstance(one, ast.Expr) for one in taken[:-1]):
            return False
        last = taken[-1]
        if sources(last):
            return True
        if not isinstance(last, ast.Return) or not _is_empty_exit(module, last):
            return False
        return self.has_group_use(resolver, module, [*left, *list_following(module, statement)])

    def has_group_use(self, resolver: Resolver, module: Module, nodes: Iterable[ast.AST]) -> bool:
        """Whether code uses a group, itself or in a function of the project that it calls."""
        for call in _list_calls(nodes):
            for entity in resolver.resolve(module, call.func):
                if getattr(entity, "name", None) in self.used:
                    return True
                if isinstance(entity, Definition) and isinstance(entity.node, _FUNCTIONS):
                    inner = (name for part in _list_calls(entity.node.body) for name in resolver.names(entity.module, part.func))
                    if not self.used.isdisjoint(inner):
                        return True
        return False

    def _is_group_query(self, resolver: Resolver, module: Module, node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and not self.asked.isdisjoint(resolver.names(module, node.func))


NO_GATES = Gates()


def _list_calls(nodes: Iterable[ast.AST]) -> Iterator[ast.Call]:
    return (part for node in nodes for part in walk(node) if isinstance(part, ast.Call))


def _is_nothing(value: ast.expr | None) -> bool:
    """Whether a value says nothing but that there is no group: None, a number or a truth value, or several of them."""
    if isinstance(value, ast.Tuple):
        return all(map(_is_nothing, value.elts))
    return value is None or (isinstance(value, ast.Constant) and not isinstance(value.value, str))


def _is_empty_exit(module: Module, statement: ast.Return) -> bool:
    """Also where a function gives back what it was handed."""
    if _is_nothing(statement.value):
        return True
    function = next((around for around in module.ancestors(statement) if isinstance(around, _FUNCTIONS)), None)
    taken = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs] if function is not None else []
    return isinstance(statement.value, ast.Name) and statement.value.id in {one.arg for one in taken}
