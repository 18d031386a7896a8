"""Where the code of a program names its own functions and classes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from ddp_codemod.parse.python import Module, last_name, walk
from ddp_codemod.single_process.enclosing_tests import FUNCTIONS, in_body
from ddp_codemod.single_process.reachability import DEFS, Def, Mention, keys_of, named_at_run_time
from ddp_codemod.sites.entities import Definition
from ddp_codemod.sites.resolver import Resolver

IMPLICIT = frozenset({"forward", "backward"})  # methods that torch calls


class NameUses:
    """The uses of names in all parts of a program."""

    def __init__(self, resolver: Resolver, parts: Iterable[tuple[Module, ast.AST]]) -> None:
        self.resolver, self.parts = resolver, list(parts)
        self._known: dict[Def, list[tuple[Module, ast.expr]]] = {}

    @cached_property
    def _parts_by_name(self) -> dict[str, list[tuple[Module, ast.AST]]]:
        """The parts by the names that they use."""
        table: dict[str, list[tuple[Module, ast.AST]]] = {}
        for module, part in self.parts:
            for name in _collect_names(module, part):
                table.setdefault(name, []).append((module, part))
        return table

    def _find_name_uses(self, name: str) -> Iterator[tuple[Module, ast.expr]]:
        for module, part in self._parts_by_name.get(name, ()):
            for node in _collect_names(module, part)[name]:
                yield module, node

    def of(self, module: Module, definition: Def) -> list[tuple[Module, ast.expr]]:
        """Every use of a function or class outside itself; [] where it may be used without being named."""
        if definition not in self._known:
            self._known[definition] = self._find_definition_uses(module, definition)
        return self._known[definition]

    def only_where(self, module: Module, node: ast.AST, holds: Callable[[Module, ast.expr], bool]) -> bool:
        """Whether a function or class in whose body a node waits is used, and at such places only."""
        uses = (self.of(module, around) for around in _waiting_in(module, node))
        return any(found and all(holds(other, use) for other, use in found) for found in uses)

    @cached_property
    def _named_at_run_time(self) -> frozenset[Mention]:
        return frozenset().union(*(named_at_run_time(self.resolver.project, module, part) for module, part in self.parts))

    def _find_definition_uses(self, module: Module, definition: Def) -> list[tuple[Module, ast.expr]]:
        if not self._named_at_run_time.isdisjoint(keys_of(module, definition)):
            return []
        implicit = definition.name in IMPLICIT or definition.name.startswith("__") or definition.decorator_list
        if isinstance(module.parents.get(definition), ast.ClassDef) and implicit:
            return []
        found = [(other, use) for other, use in self._find_name_uses(definition.name) if self._may_mean(other, use, definition)]
        return [(other, use) for other, use in found if definition not in set(other.ancestors(use))]

    def _may_mean(self, module: Module, use: ast.expr, definition: Def) -> bool:
        entities = self.resolver.resolve(module, use)
        if not entities:
            return isinstance(use, ast.Attribute)  # a method of something unknown
        return any(isinstance(entity, Definition) and entity.node is definition for entity in entities)


def _waiting_in(module: Module, node: ast.AST) -> Iterator[Def]:
    """The functions and classes around a node that run it where they are used; defaults, decorators, annotations and what is in
    the body of a class run where they are defined."""
    child, waits = node, False
    for around in module.ancestors(node):
        if isinstance(around, FUNCTIONS) and in_body(around, child):
            waits = True
        if isinstance(around, DEFS) and waits and (isinstance(around, ast.ClassDef) or in_body(around, child)):
            yield around
        child = around


def _collect_names(module: Module, part: ast.AST) -> dict[str, list[ast.expr]]:
    """The names that a part uses, by their last part; worked out once."""
    key = ("loads", part)
    if key not in module.cache:
        table: dict[str, list[ast.expr]] = {}
        for node in walk(part):
            if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
                table.setdefault(last_name(node), []).append(node)
        module.cache[key] = table
    return module.cache[key]  # type: ignore[return-value]
