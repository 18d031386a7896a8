"""Where the code of a program names its own functions and classes."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ddp_codemod.entries.reach import Def
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.sites.resolve import Definition, Resolver

IMPLICIT = frozenset({"forward", "backward"})  # methods that torch calls


class Loads:
    """The uses of names in all parts of a program."""

    def __init__(self, resolver: Resolver, parts: Iterable[tuple[Module, ast.AST]]) -> None:
        self.resolver = resolver
        self._by_name: dict[str, list[tuple[Module, ast.expr]]] = {}
        for module, part in parts:
            for node in ast.walk(part):
                if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
                    self._by_name.setdefault(last_name(node), []).append((module, node))

    def of(self, module: Module, definition: Def) -> list[tuple[Module, ast.expr]]:
        """Every use of a function or class outside itself; [] where it may be used without being named."""
        implicit = definition.name in IMPLICIT or definition.name.startswith("__") or definition.decorator_list
        if isinstance(module.parents.get(definition), ast.ClassDef) and implicit:
            return []
        found = [(other, use) for other, use in self._by_name.get(definition.name, ()) if self._is(other, use, definition)]
        return [(other, use) for other, use in found if definition not in set(other.ancestors(use))]

    def _is(self, module: Module, use: ast.expr, definition: Def) -> bool:
        entities = self.resolver.resolve(module, use)
        if not entities:
            return isinstance(use, ast.Attribute)  # a method of something unknown
        return any(isinstance(entity, Definition) and entity.node is definition for entity in entities)
