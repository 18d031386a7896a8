"""Functions whose parameters are options of a command line: what fire, typer, tyro and jsonargparse are handed."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cached_property

from ddp_codemod.catalog.idioms import Idioms
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.sites.entities import Definition
from ddp_codemod.sites.key_path_uses import imports_package
from ddp_codemod.sites.project import Project
from ddp_codemod.sites.resolver import Resolver
from ddp_codemod.sites.scopes import bindings

_DEFS = (ast.FunctionDef, ast.AsyncFunctionDef)


class CommandFunctions:
    """The commands of one project."""

    def __init__(self, project: Project, resolver: Resolver, idioms: Sequence[Idioms]) -> None:
        self.project, self.resolver = project, resolver
        self._callers = {name for one in idioms for name in one.commanders}
        self._makers = {maker: methods for one in idioms for maker, methods in one.command_methods.items()}

    @cached_property
    def functions(self) -> frozenset[ast.AST]:
        """Their functions."""
        return frozenset([*self._find_passed_functions(), *self._find_decorated_functions()])

    def _find_passed_functions(self) -> Iterator[ast.AST]:
        for name in sorted(self._callers):
            for module in self._find_importing_files(name):
                whole = False  # such calls may be thousands, and say the same
                for call in module.nodes.get(ast.Call, ()):
                    if not isinstance(call, ast.Call) or (whole and not call.args):
                        continue
                    if last_name(call.func) == name.rpartition(".")[2] and name in self.resolver.names(module, call.func):
                        whole = whole or not call.args
                        yield from self._find_functions_of_call(module, call)

    def _find_functions_of_call(self, module: Module, call: ast.Call) -> Iterator[ast.AST]:
        """What a call makes commands of: its first argument, what is in it, a class's methods; without one all functions of the file."""
        if not call.args:
            yield from (node for node in module.tree.body if isinstance(node, _DEFS))
            return
        first = call.args[0]
        inside = (
            first.values if isinstance(first, ast.Dict) else first.elts if isinstance(first, (ast.List, ast.Tuple)) else [first]
        )
        for entity in (entity for part in inside for entity in self.resolver.resolve(module, part)):
            node = entity.node if isinstance(entity, Definition) else None
            yield from (
                (one for one in node.body if isinstance(one, _DEFS))
                if isinstance(node, ast.ClassDef)
                else (node,)
                if node
                else ()
            )

    def _find_decorated_functions(self) -> Iterator[ast.AST]:
        for maker, methods in self._makers.items():
            for module in self._find_importing_files(maker):
                for function in (node for kind in _DEFS for node in module.nodes.get(kind, ())):
                    if isinstance(function, _DEFS) and any(
                        self._is_made_by(module, one, maker, methods) for one in function.decorator_list
                    ):
                        yield function

    def _is_made_by(self, module: Module, decorator: ast.expr, maker: str, methods: tuple[str, ...]) -> bool:
        """Whether a decorator is a method of an object at the top of the file that a call of ``maker`` made."""
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if not isinstance(called, ast.Attribute) or called.attr not in methods or not isinstance(called.value, ast.Name):
            return False
        made = [binding.value for binding in bindings(module, module.tree).get(called.value.id, ())]
        return any(isinstance(value, ast.Call) and maker in self.resolver.names(module, value.func) for value in made)

    def _find_importing_files(self, name: str) -> Iterator[Module]:
        """The files that import the package of a name, and hold its last part."""
        package, last = name.partition(".")[0], name.rpartition(".")[2]
        for file in sorted({*self.project.mentioning(package)} & {*self.project.mentioning(last)}):
            module = self.project.module(file)
            if module is not None and imports_package(module, [package]):
                yield module
