"""Which functions of a project run when a file is started: by their names, so that rather too much is reached than too little."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Union

from ddp_codemod.parse.python import Module
from ddp_codemod.sites.imports import Imports
from ddp_codemod.sites.mentioned import NOTHING, Branch, Part, parts_of
from ddp_codemod.sites.project import Project

MAIN = "__main__"
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
Truth = Callable[[Module, ast.expr], Union[bool, None]]  # whether a condition is true on the platform


def entries(project: Project, imports: Imports, names: Iterable[str]) -> set[str]:
    """The files that lead to one of the named ones and are started."""
    return {name for name in imports.above(names) if is_started(project, imports, name)}


def is_started(project: Project, imports: Imports, name: str) -> bool:
    """Whether a file is made to be started: it asks for ``__main__``, or nobody imports it."""
    return MAIN.encode() in project.data(name) or not imports.importers.get(name)


def acts(module: Module) -> bool:
    """Whether a file does something when it is run by its name, and does not only define and import."""
    own = {node.name for node in module.tree.body if isinstance(node, FUNCTIONS)}
    return not module.name.endswith("__init__.py") and _acts(module.tree.body, own)


def _acts(block: Iterable[ast.stmt], own: Collection[str]) -> bool:
    for statement in block:
        if isinstance(statement, (ast.For, ast.AsyncFor, ast.While, ast.Assert, ast.Match)):
            return True
        if isinstance(statement, ast.If) and _asks_for_main(statement.test):
            return True
        inside = (
            [*statement.body, *getattr(statement, "orelse", ())] if isinstance(statement, (ast.If, ast.Try, ast.With)) else []
        )
        if _acts(inside, own):
            return True
        if isinstance(statement, ast.Expr) and not isinstance(statement.value, ast.Constant):
            return True
        called = statement.value.func if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call) else None
        if isinstance(called, ast.Name) and called.id in own:  # a function of the file
            return True
    return False


class Reach:
    """The code that runs from some entries, in the files that they import."""

    def __init__(self, project: Project, files: Collection[str], started: Iterable[str], taken: Truth) -> None:
        self.project, self.taken = project, taken
        self._by_name: dict[str, list[tuple[Module, ast.AST]]] = {}  # what no code that runs has mentioned yet
        self._reached: set[ast.AST] = set()
        self._parts: dict[Module, dict[ast.AST, Part]] = {}  # of the files; needed only here
        modules = [module for name in sorted(files) for module in project.programs(name)]
        for module in modules:
            for kind in (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef):
                for node in module.nodes.get(kind, ()):
                    self._by_name.setdefault(node.name, []).append((module, node))  # type: ignore[attr-defined]
        self._ours = frozenset(self._by_name)
        self._started = frozenset(started)
        self._follow([(module, module.tree) for module in modules])
        self._parts.clear()

    def runs(self, module: Module, node: ast.AST) -> bool:
        """Whether a node stands in code that runs."""
        for around in module.ancestors(node):
            if isinstance(around, FUNCTIONS):
                return around in self._reached
            if around in _main_tests(module) and module.name not in self._started:
                return False
        return True

    def _follow(self, todo: list[tuple[Module, ast.AST]]) -> None:
        parts = [(module, self._part(module, scope)) for module, scope in todo]
        branches: list[tuple[Module, Branch]] = []  # asked last: most of what is in them runs anyway
        while parts or branches:
            if not parts:
                parts += self._taken(*branches.pop())
                continue
            module, part = parts.pop()
            branches += [(module, branch) for branch in part.branches]
            for name in part.names & self._by_name.keys():
                for found in self._by_name.pop(name):  # mentioned once, it runs
                    parts += [(one, self._part(one, scope)) for one, scope in self._enter(*found)]

    def _part(self, module: Module, scope: ast.AST) -> Part:
        """The code of a scope, without functions inside it; of its names those that are still to be reached."""
        if module not in self._parts:
            self._parts[module] = parts_of(module, self._by_name)
        return self._parts[module].get(scope, NOTHING)

    def _taken(self, module: Module, branch: Branch) -> Iterator[tuple[Module, Part]]:
        """The sides of a branch that the platform may take, where something in them is still to be reached."""
        node, body, orelse = branch
        if all(self._by_name.keys().isdisjoint(side.every) for side in (body, orelse)):
            return
        known = module.name in self._started if node in _main_tests(module) else self.taken(module, node.test)
        yield from ((module, side) for wanted, side in ((True, body), (False, orelse)) if known is not (not wanted))

    def _enter(self, module: Module, node: ast.AST) -> Iterator[tuple[Module, ast.AST]]:
        """What runs besides where a function or class is mentioned."""
        if node in self._reached:
            return
        self._reached.add(node)
        yield module, node
        if isinstance(node, ast.ClassDef):
            # a class that others made may have its methods called by them, and special methods are called unseen
            foreign = any(not self._is_ours(base) for base in node.bases)
            for part in node.body:
                if isinstance(part, FUNCTIONS):
                    if foreign or part.name.startswith("__"):
                        yield from self._enter(module, part)

    def _is_ours(self, base: ast.expr) -> bool:
        name = base.attr if isinstance(base, ast.Attribute) else base.id if isinstance(base, ast.Name) else ""
        return name == "object" or name in self._ours


def _main_tests(module: Module) -> set[ast.AST]:
    """The statements of a file that ask whether it is the one that was started."""
    if "main-tests" not in module.cache:
        branches = module.nodes.get(ast.If, ()) if MAIN in module.source.text else ()
        module.cache["main-tests"] = {node for node in branches if isinstance(node, ast.If) and _asks_for_main(node.test)}
    return module.cache["main-tests"]  # type: ignore[return-value]


def _asks_for_main(test: ast.expr) -> bool:
    return any(isinstance(part, ast.Constant) and part.value == MAIN for part in ast.walk(test))
