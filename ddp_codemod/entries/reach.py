"""What a program reaches: the code that it runs, as far as names tell."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from typing import Union

from msgspec import Struct, field

from ddp_codemod.parse.python import Module, last_name, walk
from ddp_codemod.sites.project import Project

Def = Union[ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef]
DEFS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
# decorators that give back what they decorate, or something that does the same where it is called by its name
_PASSING = frozenset({
    "abstractmethod", "cache", "cached_property", "classmethod", "compile", "contextmanager", "asynccontextmanager", "dataclass", "deprecated",
    "final", "inference_mode", "ignore", "lru_cache", "njit", "jit", "no_grad", "enable_grad", "overload", "override", "property", "runtime_checkable",
    "script", "singledispatch", "staticmethod", "total_ordering", "unique", "wraps", "define", "rank_zero_only", "record", "autocast", "export",
})  # fmt: skip


class Reach(Struct, eq=False, dict=True):
    """The code that runs when ``entry`` is started: the top level of every module that is imported, and the functions and classes
    whose names are mentioned in it. More than really runs, never less, but for code that is loaded by name at run time."""

    entry: Module
    modules: dict[str, Module] = field(default_factory=dict)
    parts: list[tuple[Module, ast.AST]] = field(default_factory=list)  # statements and definitions, each whole

    def holds(self, module: Module, node: ast.AST) -> bool:
        """Whether a node is in the code."""
        return node in self.whole or any(at in self.whole for at in module.ancestors(node))

    @cached_property
    def whole(self) -> frozenset[ast.AST]:
        """The parts, to be asked quickly."""
        return frozenset(part for _, part in self.parts)


def reach(project: Project, entry: Module) -> Reach:
    """Follow the imports and the mentions of one program."""
    found = Reach(entry)
    mentioned: set[Mention] = set()
    waiting: dict[Mention, list[tuple[Module, Def]]] = {}
    todo: list[tuple[Module, ast.AST]] = []
    taken: set[ast.AST] = set()

    def load(module: Module) -> None:
        if module.name in found.modules:
            return
        found.modules[module.name] = module
        for part in top_level(module, module is entry):
            if isinstance(part, DEFS) and not registered(part) and mentioned.isdisjoint(keys := _keys(module, part)):
                for key in keys:
                    waiting.setdefault(key, []).append((module, part))
            else:
                run(module, part)

    def run(module: Module, part: ast.AST) -> None:
        if part not in taken:
            taken.add(part)
            todo.append((module, part))

    def mention(name: Mention) -> None:
        if name not in mentioned:
            mentioned.add(name)
            for module, part in waiting.pop(name, ()):
                run(module, part)

    load(entry)
    while todo:
        module, part = todo.pop()
        found.parts.append((module, part))
        names, statements = mentions(project, module, part)
        for name in names:
            mention(name)
        for node in statements:
            for other in imported(project, module, node):
                load(other)
    return found


Import = Union[ast.Import, ast.ImportFrom]
Mention = Union[str, tuple[str, str]]  # of whatever has the name; of what one file defines under it


def _keys(module: Module, part: Def) -> tuple[Mention, Mention]:
    return part.name, (module.name, part.name)


def registered(part: Def) -> bool:
    """Whether a decorator may hand a function or class to someone who calls it without naming it."""
    return any(last_name(one.func if isinstance(one, ast.Call) else one) not in _PASSING for one in part.decorator_list)


def mentions(project: Project, module: Module, part: ast.AST) -> tuple[frozenset[Mention], tuple[Import, ...]]:
    """The names in a part by which it may reach something of the project, and its imports."""
    key = ("mentions", part)
    if key not in module.cache:
        names: set[Mention] = set()
        statements: list[Import] = []
        for node in walk(part):
            if isinstance(node, ast.Name):
                names |= _meant(project, module, node.id)
            elif isinstance(node, ast.Attribute) and not _is_outside(project, module, node):
                names.add(node.attr)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                statements.append(node)
        module.cache[key] = frozenset(names), tuple(statements)
    return module.cache[key]  # type: ignore[return-value]


def _meant(project: Project, module: Module, name: str) -> frozenset[Mention]:
    """The names of definitions that a plain name can mean: the file's own, or what an import gives it, if that is the project's."""
    key = ("meant", name)
    if key not in module.cache:
        found: set[Mention] = set()
        bound, stars = imports_of(module).get(name, []), imports_of(module).get("*", [])
        if any(isinstance(node, DEFS) and node.name == name for kind in DEFS for node in module.nodes.get(kind, ())):
            found.add((module.name, name))
        for node, alias in bound:
            if isinstance(node, ast.ImportFrom) and next(imported(project, module, node), None) is not None:
                found.add(alias.name)
        if not bound and any(next(imported(project, module, node), None) is not None for node, _ in stars):
            found.add(name)
        module.cache[key] = frozenset(found)
    return module.cache[key]  # type: ignore[return-value]


def imports_of(module: Module) -> dict[str, list[tuple[Import, ast.alias]]]:
    """Every import of a file by the name that it binds."""
    if "imports by name" not in module.cache:
        table: dict[str, list[tuple[Import, ast.alias]]] = {}
        for kind in (ast.Import, ast.ImportFrom):
            for node in module.nodes.get(kind, ()):
                assert isinstance(node, (ast.Import, ast.ImportFrom))
                for alias in node.names:
                    table.setdefault(alias.asname or alias.name.split(".")[0], []).append((node, alias))
        module.cache["imports by name"] = table
    return module.cache["imports by name"]  # type: ignore[return-value]


def _is_outside(project: Project, module: Module, node: ast.Attribute) -> bool:
    """Whether a dotted name starts at an import of something that is not the project's."""
    root: ast.expr = node
    while isinstance(root, ast.Attribute):
        root = root.value
    bound = imports_of(module).get(root.id, []) if isinstance(root, ast.Name) else []
    return bool(bound) and all(next(imported(project, module, statement), None) is None for statement, _ in bound)


def top_level(module: Module, started: bool) -> Iterator[ast.AST]:
    """The statements of a module that are taken or left whole; what is under its main guard runs only where it is started."""
    todo: list[ast.stmt] = list(module.tree.body)
    while todo:
        node = todo.pop(0)
        if isinstance(node, ast.If) and is_main_guard(node.test):
            if started:
                yield node.test
                todo = [*node.body, *node.orelse, *todo]
        elif isinstance(node, (ast.If, ast.Try)):
            yield from (child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr))
            inner = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)]
            inner += [part for child in getattr(node, "handlers", ()) for part in child.body]
            todo = [*inner, *todo]
        else:
            yield node


def is_main_guard(test: ast.expr) -> bool:
    """``__name__ == "__main__"``"""
    return isinstance(test, ast.Compare) and any(isinstance(part, ast.Name) and part.id == "__name__" for part in ast.walk(test))


def has_main_guard(module: Module) -> bool:
    """Whether a file is made to be started."""
    return any(isinstance(node, ast.If) and is_main_guard(node.test) for node in module.tree.body)


def imported(project: Project, module: Module, node: Import) -> Iterator[Module]:
    """The project's files that an import statement runs."""
    key = ("imported", node)
    if key not in module.cache:
        module.cache[key] = tuple(_imported(project, module, node))
    yield from module.cache[key]  # type: ignore[misc]


def _imported(project: Project, module: Module, node: Import) -> Iterator[Module]:
    dotted: list[str] = []
    if isinstance(node, ast.Import):
        for alias in node.names:
            parts = alias.name.split(".")
            dotted += [".".join(parts[:end]) for end in range(1, len(parts) + 1)]
    else:
        source = "." * node.level + (node.module or "")
        joint = "" if source.endswith(".") else "."
        parts = (node.module or "").split(".")
        if not node.level:
            dotted += [".".join(parts[:end]) for end in range(1, len(parts))]
        dotted += [source, *(f"{source}{joint}{alias.name}" for alias in node.names if alias.name != "*")]
    for name in dotted:
        other = project.find(name, module)
        if other is not None and other is not module:
            yield other


class Importers:
    """Which files import a file, directly or not."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._direct: dict[str, list[Module]] = {}

    def of(self, module: Module) -> list[Module]:
        """All files that can run a file by importing it, itself first."""
        found, todo = {module.name: module}, [module]
        while todo:
            for other in self.direct(todo.pop()):
                if other.name not in found:
                    found[other.name] = other
                    todo.append(other)
        return list(found.values())

    def direct(self, module: Module) -> list[Module]:
        """The files with an import of this one."""
        if module.name not in self._direct:
            stem = module.name.removesuffix(".py").removesuffix("/__init__").rsplit("/", 1)[-1]
            self._direct[module.name] = [
                other
                for name in self.project.mentioning(stem)
                if name.endswith(".py")
                and self.project.may_import(name, stem)
                and (other := self.project.module(name)) is not None
                if other is not module and self._imports(other, module)
            ]
        return self._direct[module.name]

    def _imports(self, other: Module, module: Module) -> bool:
        return any(
            found is module
            for kind in (ast.Import, ast.ImportFrom)
            for node in other.nodes.get(kind, ())
            if isinstance(node, (ast.Import, ast.ImportFrom))
            for found in imported(self.project, other, node)
        )
