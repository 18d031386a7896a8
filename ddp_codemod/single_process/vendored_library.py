"""A library whose own source lies in the tree, though no program there imports it by its path: what its code asks of the group."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ddp_codemod.parse.python import Module, last_name, walk
from ddp_codemod.single_process.api import Api
from ddp_codemod.single_process.enclosing_tests import enclosing_tests
from ddp_codemod.single_process.guards import Guards
from ddp_codemod.single_process.name_uses import NameUses
from ddp_codemod.single_process.name_words import split_words
from ddp_codemod.single_process.reachability import DEFS
from ddp_codemod.sites.entities import Definition, Entity, ModuleRef

_MOST = 300  # definitions that are looked into for one call
_MAKES = frozenset({"__init__", "__new__", "__post_init__", "__call__"})
_ASKING = frozenset({"start", "wrap", "skip", "gather", "answer", "sampler", "launch", "bound", "context"})


class VendoredLibrary:
    """Looks up qualified names from elsewhere in packages of the tree, such as ``python/NAME/``."""

    def __init__(self, api: Api) -> None:
        self.api, self.project = api, api.resolver.project
        self._answers: dict[tuple[str, bool], bool | None] = {}
        self._packages: dict[str, str | None] = {}
        self._defined: dict[str, bool] = {}
        self._guards = Guards(api, frozenset(), NameUses(api.resolver, []))

    def asks(self, name: str, switched: bool = False) -> bool | None:
        """Whether a function or class asks the group somewhere without looking whether there is one; None where it is not in the tree.

        ``switched``: a switch of it by whose name the group is meant is on.
        """
        if (name, switched) not in self._answers:
            found = [one for one in self._resolve_entities(name) if isinstance(one, Definition)] or self._find_only_definition(
                name
            )
            self._answers[name, switched] = any(self._asks_anywhere(one, switched) for one in found) if found else None
        return self._answers[name, switched]

    def defines(self, name: str) -> bool:
        """Whether any file of the project has a function, a class or an attribute of this name."""
        if name not in self._defined:
            result = re.compile(rf"\b(?:def|class)\s+{re.escape(name)}\b|\.{re.escape(name)}\s*(?::[^=\n]*)?=(?!=)".encode())
            self._defined[name] = any(result.search(self.project.data(file)) for file in self.project.mentioning(name))
        return self._defined[name]

    def _resolve_entities(self, name: str) -> list[Entity]:
        top, _, rest = name.partition(".")
        file = self._find_package(top)
        start = self.project.module(file) if file else None
        found: list[Entity] = [ModuleRef(start)] if start is not None else []
        for part in rest.split(".") if rest else ():
            found = [inner for entity in found for inner in self.api.resolver.member(entity, part)]
        return found

    def _find_only_definition(self, name: str) -> list[Definition]:
        """The only definition of this name in the package, where the package loads its own parts by name."""
        top, last = name.partition(".")[0], name.rpartition(".")[2]
        folder = (self._find_package(top) or "").rpartition("/")[0]
        if not folder or not self.defines(last):
            return []
        files = (file for file in self.project.mentioning(last) if file.startswith(f"{folder}/") and file.endswith(".py"))
        modules = (module for file in files if (module := self.project.module(file)) is not None)
        found = [
            Definition(module, part)
            for module in modules
            for part in module.tree.body
            if isinstance(part, DEFS) and part.name == last
        ]
        return found if len(found) == 1 else []

    def _find_package(self, top: str) -> str | None:
        """The one package of this name."""
        if top not in self._packages:
            found = [file for file in self.project.names if file.endswith(f"/{top}/__init__.py")]
            self._packages[top] = found[0] if len(found) == 1 else None
        return self._packages[top]

    def _asks_anywhere(self, entity: Definition, switched: bool) -> bool:
        """Look through a definition and what it calls, as far as that can be resolved; what a switch turns on is left to the switch."""
        todo: list[tuple[Definition, bool]] = [(entity, True)]
        seen = {entity.node}
        while todo:
            one, whole = todo.pop()
            for part in self._find_running_parts(one, whole):
                for module, node in ((part.module, node) for node in walk(part.node) if isinstance(node, ast.Call)):
                    if not switched and self._is_under_switch(module, node):
                        continue
                    if self._asks_group(module, node):
                        return True
                    for found in self.api.resolver.resolve(module, node.func):
                        if isinstance(found, Definition) and found.node not in seen:
                            seen.add(found.node)
                            todo.append((found, False))
            if len(seen) > _MOST:
                return True  # too much to say no
        return False

    def _find_running_parts(self, one: Definition, whole: bool) -> Iterator[Definition]:
        """What runs of a definition: a class that is only made in passing runs no more than what makes it."""
        if not isinstance(one.node, ast.ClassDef):
            yield one
            return
        for module, node in self.api.resolver.lineage(one.module, one.node):
            inner = (part for part in node.body if isinstance(part, DEFS) and (whole or part.name in _MAKES))
            yield from (Definition(module, part) for part in inner)

    def _is_under_switch(self, module: Module, node: ast.AST) -> bool:
        """Whether a node runs only under a switch by whose name the group is meant: ``if self.use_ddp:``."""
        names = (part for test in enclosing_tests(module, node) if test.holds for part in ast.walk(test.expression))
        return any(
            isinstance(part, (ast.Name, ast.Attribute)) and split_words(last_name(part)) & self.api.speaks for part in names
        )

    def _asks_group(self, module: Module, node: ast.Call) -> bool:
        call, name = self.api.call(module, node)
        if call is None and not name:
            return False
        asking = call is None or call.role in _ASKING
        return asking and not self._guards.guarded(module, node)
