"""Which functions of a project run when a file is started: by their names, so that rather too much is reached than too little."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence, Set
from typing import Union

from ddp_codemod.parse.python import Module
from ddp_codemod.sites.imports import Imports
from ddp_codemod.sites.mentions import Branch, Part
from ddp_codemod.sites.outlines import MAIN, Definition, asks_for_main, defined_in, outline_files
from ddp_codemod.sites.project import Project

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
Truth = Callable[[Module, ast.expr], Union[bool, None]]  # whether a condition is true on the platform


def find_entries(project: Project, imports: Imports, names: Iterable[str]) -> set[str]:
    """The files that lead to one of the named ones and are started."""
    return {name for name in imports.above(names) if is_started(project, imports, name)}


def is_started(project: Project, imports: Imports, name: str) -> bool:
    """Whether a file is made to be started: it asks for ``__main__``, or nobody imports it."""
    return MAIN.encode() in project.data(name) or not imports.importers.get(name)


def does_something(name: str, body: Sequence[ast.stmt]) -> bool:
    """Whether a file does something when it is run by its name, and does not only define and import."""
    own = {node.name: node for node in body if isinstance(node, FUNCTIONS)}
    if name.endswith("__init__.py") or any(_fails_at_once(statement, own) for statement in body):
        return False
    return _does_something(body, own)


def _does_something(block: Iterable[ast.stmt], own: Mapping[str, ast.FunctionDef | ast.AsyncFunctionDef]) -> bool:
    for statement in block:
        if isinstance(statement, (ast.For, ast.AsyncFor, ast.While, ast.Assert, ast.Match)):
            return True
        if isinstance(statement, ast.If) and asks_for_main(statement.test):
            return True
        inside = (
            [*statement.body, *getattr(statement, "orelse", ())] if isinstance(statement, (ast.If, ast.Try, ast.With)) else []
        )
        if _does_something(inside, own):
            return True
        if isinstance(statement, ast.Expr) and not isinstance(statement.value, ast.Constant):
            return True
        called = statement.value.func if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call) else None
        if isinstance(called, ast.Name) and called.id in own:  # a function of the file
            return True
    return False


def _fails_at_once(statement: ast.stmt, own: Mapping[str, ast.FunctionDef | ast.AsyncFunctionDef]) -> bool:
    """Whether all that a program does is to call a function of its own without what that requires: others import and call it."""
    body = statement.body if isinstance(statement, ast.If) and asks_for_main(statement.test) else []
    call = body[0].value if len(body) == 1 and isinstance(body[0], ast.Expr) else None
    if not isinstance(call, ast.Call) or call.args or call.keywords or not isinstance(call.func, ast.Name):
        return False
    function = own.get(call.func.id)
    if function is None or function.decorator_list:  # a decorator may pass what is required
        return False
    named = function.args
    required = len(named.posonlyargs) + len(named.args) - len(named.defaults)
    return required > 0 or None in named.kw_defaults


class ReachableCode:
    """The code that runs from some entries, in the files that they import."""

    def __init__(
        self,
        project: Project,
        files: Collection[str],
        started: Collection[str],
        taken: Truth,
        asked: Container[str],
        named: Iterable[str] = (),
    ) -> None:
        """``asked``: the files that ``runs`` is asked about; the trees of others are not kept, and both sides of their branches run.

        ``named``: what is loaded by names in texts.
        """
        self.taken = taken
        self._started = frozenset(started)
        self._reached: set[ast.AST] = set()
        wanted = {name for file in files for name in defined_in(project.data(file))}
        found = [
            one for file in sorted(files) for one in outline_files(project, file, wanted, file in asked, file in self._started)
        ]
        self._by_name: dict[str, list[Definition]] = {}  # what no code that runs has mentioned yet
        for outline in found:
            for one in outline.definitions:
                self._by_name.setdefault(one.name, []).append(one)
        self._ours = frozenset({*self._by_name, "object"})
        loaded = Part(frozenset(named))
        parts = [(None, loaded), *((outline.module, outline.part) for outline in found)]
        self._follow(parts, loaded, self._by_name.keys() - wanted)

    def runs(self, module: Module, node: ast.AST) -> bool:
        """Whether a node is in code that runs."""
        for around in module.ancestors(node):
            if isinstance(around, FUNCTIONS):
                return around in self._reached
            if around in _find_main_tests(module) and module.name not in self._started:
                return False
        return True

    def _follow(self, parts: list[tuple[Module | None, Part]], loaded: Part, unseen: Set[str]) -> None:
        """``unseen``: the names of definitions that the bytes do not show; code is not taken to mention them."""
        branches: list[tuple[Module, Branch]] = []  # asked last: most of what is in them runs anyway
        entered: set[Definition] = set()
        while parts or branches:
            if not parts:
                parts += self._follow_branch(*branches.pop())
                continue
            module, part = parts.pop()
            branches += [(module, branch) for branch in part.branches] if module is not None else ()
            names = part.names & self._by_name.keys()
            for name in names if part is loaded else names - unseen:
                for found in self._by_name.pop(name):  # mentioned once, it runs
                    parts += [(one.module, one.part) for one in self._enter_definition(found, entered)]

    def _follow_branch(self, module: Module, branch: Branch) -> Iterator[tuple[Module, Part]]:
        """The sides of a branch that the platform may take, where something in them is still to be reached."""
        node, body, orelse = branch
        if all(self._by_name.keys().isdisjoint(side.every) for side in (body, orelse)):
            return
        known = module.name in self._started if node in _find_main_tests(module) else self.taken(module, node.test)
        yield from ((module, side) for wanted, side in ((True, body), (False, orelse)) if known is not (not wanted))

    def _enter_definition(self, one: Definition, entered: set[Definition]) -> Iterator[Definition]:
        """What runs besides where a function or class is mentioned."""
        if one in entered:
            return
        entered.add(one)
        if one.node is not None:
            self._reached.add(one.node)
        yield one
        # a class that others made may have its methods called by them, and special methods are called unseen
        foreign = not self._ours.issuperset(one.bases)
        for method in one.methods:
            if foreign or method.name.startswith("__"):
                yield from self._enter_definition(method, entered)


def _find_main_tests(module: Module) -> set[ast.AST]:
    """The statements of a file that ask whether it is the one that was started."""
    if "main-tests" not in module.cache:
        branches = module.nodes.get(ast.If, ()) if MAIN in module.source.text else ()
        module.cache["main-tests"] = {node for node in branches if isinstance(node, ast.If) and asks_for_main(node.test)}
    return module.cache["main-tests"]  # type: ignore[return-value]
