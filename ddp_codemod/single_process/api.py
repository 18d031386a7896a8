"""The distributed API as rule data describes it: which call plays which role, and what a test is about."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import cached_property

from ddp_codemod.catalog.processes import Argument, GroupCall, Processes
from ddp_codemod.dataflow.calls import find_argument
from ddp_codemod.parse.python import Module, last_name, walk
from ddp_codemod.single_process.reachability import imports_of
from ddp_codemod.sites.entities import Definition
from ddp_codemod.sites.qualified_names import QualifiedNames
from ddp_codemod.sites.resolver import Resolver


class Api:
    """Answers what a call means to the number of processes."""

    def __init__(self, tables: Sequence[Processes], resolver: Resolver, bare: bool = False) -> None:
        """``bare``: torch may lack the package, so that nothing but ``is_available()`` can be asked of it."""
        self.tables, self.resolver, self.bare = tables, resolver, bare
        self.words = tuple(word for table in tables for word in table.words)
        self.machine = frozenset(name for table in tables for name in table.machine)
        self.trains = frozenset(name for table in tables for name in (*table.trains, *table.steps))
        self.by_name = frozenset(name for table in tables for name in table.by_name)
        self.outside = tuple(word for table in tables for word in table.outside)
        self.speaks = frozenset(word for table in tables for word in table.speaks)
        self.verbs = frozenset(word for table in tables for word in table.verbs)
        self.hints = frozenset(word for table in tables for word in table.hints)
        self.apart = frozenset(name for table in tables for name in table.apart)
        self.contexts = frozenset(name for table in tables for name in table.contexts)
        self.wrapped_only = frozenset(name for table in tables for name in table.wrapped_only)
        self.exposes = frozenset(name for table in tables for name in table.exposes)
        self.passing = frozenset(name for table in tables for name in table.passing)
        self.alone = frozenset(text for table in tables for text in table.alone)
        self.state = frozenset(name for table in tables for name in table.state)
        self.moved = frozenset(name for table in tables for name in table.moved)
        self.watched_tops = frozenset(name.partition(".")[0] for table in tables for name in table.watched)
        self.environment = {name: value for table in tables for name, value in table.environment.items()}
        self.launchers = {name: option for table in tables for name, option in table.launchers.items()}
        self.questions = frozenset(name for table in tables for name in table.questions)
        self._there = QualifiedNames((name, True) for table in tables for name in table.bare)
        self.table = tables[0]
        self._calls = QualifiedNames((name, call) for table in tables for call in table.call for name in call.names)
        self._strategies = QualifiedNames((name, True) for table in tables for name in table.strategies)

    @cached_property
    def starts(self) -> frozenset[str]:
        """Last names of the calls by which an entry is found."""
        wanted = ("start", "strategy", "alone")
        calls = (call for table in self.tables for call in table.call if call.role in wanted)
        return frozenset(name.rsplit(".", 1)[-1] for call in calls for name in call.names)

    @cached_property
    def loaders(self) -> frozenset[str]:
        """Last names of the calls that load code by name."""
        return frozenset(name.rsplit(".", 1)[-1] for name in self.by_name)

    @cached_property
    def lasts(self) -> frozenset[str]:
        """Last names of all calls that are known."""
        return frozenset(name.rsplit(".", 1)[-1] for table in self.tables for call in table.call for name in call.names)

    def words_in(self, module: Module) -> frozenset[str]:
        """The names by which a file can mean one of the known calls: their own, and those that it gives them."""
        if "group words" not in module.cache:
            found = {
                alias
                for alias, result in imports_of(module).items()
                for _, one in result
                if one.name.rsplit(".", 1)[-1] in self.lasts
            }
            for node in module.nodes.get(ast.Assign, ()):
                if isinstance(node, ast.Assign) and last_name(node.value) in self.lasts:
                    found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
            module.cache["group words"] = self.lasts | found
        return module.cache["group words"]  # type: ignore[return-value]

    def candidate(self, data: bytes) -> bool:
        """Whether a file can use a watched package."""
        return any(package.rsplit(".", 1)[-1].encode() in data for table in self.tables for package in table.watched)

    def named(self, name: str) -> GroupCall | None:
        """The entry of a qualified name."""
        return self._calls.get(name)

    def watched(self, name: str) -> bool:
        """Whether a name belongs to a package all of whose calls have to be known."""
        return any(name.startswith(f"{package}.") for table in self.tables for package in table.watched)

    def there(self, name: str) -> bool:
        """Whether a name of a watched package is there in a torch that was built without it."""
        return self._there.get(name) is not None

    def call(self, module: Module, node: ast.Call) -> tuple[GroupCall | None, str]:
        """What a call means and its qualified name; (None, name) where a watched package has more than is known, (None, "") otherwise."""
        key = ("group call", node)
        if key not in module.cache:
            module.cache[key] = self._resolve_call(module, node) if self._may_resolve(module, node) else (None, "")
        return module.cache[key]  # type: ignore[return-value]

    def _may_resolve(self, module: Module, node: ast.Call) -> bool:
        """Whether a call is worth resolving: not a method of something local, unless its name is known."""
        root: ast.expr = node.func
        while isinstance(root, ast.Attribute):
            root = root.value
        if root is node.func or last_name(node.func) in self.words_in(module) or not isinstance(root, ast.Name):
            return isinstance(root, (ast.Name, ast.Call)) and (
                root is node.func or last_name(node.func) in self.words_in(module) | {"__init__"}
            )
        return root.id in imports_of(module) or "*" in imports_of(module)

    def _resolve_call(self, module: Module, node: ast.Call) -> tuple[GroupCall | None, str]:
        unknown = ""
        for entity in self.resolver.resolve(module, node.func):
            names = [getattr(entity, "name", "")] if not isinstance(entity, Definition) else []
            if isinstance(entity, Definition) and isinstance(entity.node, ast.ClassDef):
                names = self.resolver.external_bases(entity.module, entity.node)
            for name in names:
                found = self.named(name.removesuffix(".__init__"))
                if found is not None:
                    return found, name
                if self.watched(name) and not isinstance(entity, Definition):
                    unknown = name
        return None, unknown

    def derived(self, module: Module, node: ast.Call) -> Definition | None:
        """The project's own class that is called, if it is one."""
        found = [e for e in self.resolver.resolve(module, node.func) if isinstance(e, Definition)]
        return next((entity for entity in found if isinstance(entity.node, ast.ClassDef)), None)

    def strategy(self, name: str) -> bool:
        """Whether a strategy's name, or class, forms a group."""
        return self._strategies.get(name) is not None

    def about_processes(self, module: Module, test: ast.expr) -> bool:
        """Whether a test can tell one process from several: not one on the machine alone, nor one on anything else."""
        wanted: list[str] = []
        choice = self._find_choices(test)
        for node in walk(test):
            if any(node in inside for inside in choice):
                continue
            if isinstance(node, (ast.Name, ast.Attribute)):
                names = self.resolver.names(module, node)
                whole = any(self._is_about_machine(name) for name in names)
                outer = module.parents.get(node)
                if not whole and not (isinstance(outer, ast.Attribute) and outer.value is node):
                    wanted.append(last_name(node))
                    wanted += names
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                wanted.append(node.value)
        return any(word in part.lower() for part in wanted for word in self.words if not self._is_about_machine(part))

    def _find_choices(self, test: ast.expr) -> list[set[ast.AST]]:
        """The parts of a test that compare with texts of which none says "not at all": a choice of the way, not of the number."""
        found: list[set[ast.AST]] = []
        for node in walk(test):
            if not isinstance(node, ast.Compare) or isinstance(node.left, ast.Constant):
                continue
            texts = [part.value for other in node.comparators for part in walk(other) if isinstance(part, ast.Constant)]
            if texts and all(isinstance(text, str) and text.lower() not in self.alone for text in texts):
                found.append(set(walk(node)))
        return found

    def _is_about_machine(self, name: str) -> bool:
        return name in self.machine


def passed_argument(call: ast.Call, argument: Argument | None) -> ast.expr | None:
    """What a call passes for a parameter."""
    return find_argument(call, argument.name, argument.position) if argument is not None else None
