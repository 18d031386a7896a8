"""Which functions of a project run when a file is started: by their names, so that rather too much is reached than too little."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Union

from ddp_codemod.parse.python import Module
from ddp_codemod.sites.imports import Imports
from ddp_codemod.sites.mentioned import Part, parts_of
from ddp_codemod.sites.project import Project

MAIN = "__main__"
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
Branch = Callable[[Module, ast.expr], Union[bool, None]]  # whether a condition is true on the platform


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

    def __init__(self, project: Project, files: Collection[str], started: Iterable[str], taken: Branch) -> None:
        self.project, self.taken = project, taken
        self._by_name: dict[str, list[tuple[Module, ast.AST]]] = {}  # what no code that runs has mentioned yet
        self._reached: set[ast.AST] = set()
        self._names: dict[int, frozenset[str]] = {}  # by the part
        self._parts: dict[Module, dict[ast.AST, Part]] = {}  # of the files; needed only here
        modules = [module for name in sorted(files) for module in project.programs(name)]
        for module in modules:
            for kind in (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef):
                for node in module.nodes.get(kind, ()):
                    self._by_name.setdefault(node.name, []).append((module, node))  # type: ignore[attr-defined]
        self._ours = frozenset(self._by_name)
        self._started = frozenset(started)
        self._follow([(module, module.tree) for module in modules])
        self._names.clear()
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
        while todo:
            module, scope = todo.pop()
            for name in self._mentioned(module, scope) & self._by_name.keys():
                for found in self._by_name.pop(name):  # mentioned once, it runs
                    todo += self._enter(*found)

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

    def _mentioned(self, module: Module, scope: ast.AST) -> set[str]:
        """The names that the code of a scope mentions, without functions inside it and branches that the platform does not take."""
        found: set[str] = set()
        if module not in self._parts:
            self._parts[module] = parts_of(module)
        todo = [self._parts[module][scope]]
        while todo:
            part = todo.pop()
            found |= part.names
            todo += part.inside
            for node, body, orelse in part.branches:
                if all(self._by_name.keys().isdisjoint(self._all_names(branch)) for branch in (body, orelse)):
                    continue  # nothing in them is still to be reached, so it need not be known which is taken
                known = module.name in self._started if node in _main_tests(module) else self.taken(module, node.test)
                todo += [branch for wanted, branch in ((True, body), (False, orelse)) if known is not (not wanted)]
        return found

    def _all_names(self, part: Part) -> frozenset[str]:
        """The names that a part mentions, also in what runs with it and in its branches."""
        if id(part) not in self._names:
            inner = [*part.inside, *(branch for _, *branches in part.branches for branch in branches)]
            self._names[id(part)] = frozenset(part.names).union(*map(self._all_names, inner))
        return self._names[id(part)]


def _main_tests(module: Module) -> set[ast.AST]:
    """The statements of a file that ask whether it is the one that was started."""
    if "main-tests" not in module.cache:
        branches = module.nodes.get(ast.If, ()) if MAIN in module.source.text else ()
        module.cache["main-tests"] = {node for node in branches if isinstance(node, ast.If) and _asks_for_main(node.test)}
    return module.cache["main-tests"]  # type: ignore[return-value]


def _asks_for_main(test: ast.expr) -> bool:
    return any(isinstance(part, ast.Constant) and part.value == MAIN for part in ast.walk(test))
