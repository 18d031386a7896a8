"""What a program reaches: the code that it runs, as far as names tell."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Union

from ddp_codemod.parse.python import Module, last_name, walk
from ddp_codemod.sites.project import Project

Def = Union[ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef]
DEFS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class ProgramReach:
    """The code that runs when ``entry`` is started: the top level of every module that is imported, and the functions and classes
    whose names are mentioned in it. More than really runs, never less, but for code that is loaded by name at run time."""

    def __init__(self, project: Project, entry: Module, passing: frozenset[str], whole: bool = False) -> None:
        """``passing``: decorators that keep nothing; ``whole``: every function of the file may be what is started."""
        self.project, self.entry, self.passing, self.whole = project, entry, passing, whole
        self.modules: dict[str, Module] = {}
        self.parts: list[tuple[Module, ast.AST]] = []  # statements and definitions, each whole
        self._whole: set[ast.AST] = set()  # the same, to be asked quickly
        self._mentioned: set[Mention] = set()
        self._waiting: dict[Mention, list[tuple[Module, Def]]] = {}
        self._near: list[tuple[Module, ast.AST]] = []  # parts of the program's own file, which come first
        self._far: list[tuple[Module, ast.AST]] = []
        self._visited: set[ast.AST] = set()
        self._load_module(entry)
        for part in entry.tree.body if whole else ():
            if isinstance(part, DEFS):
                self._run_part(entry, part)

    def holds(self, module: Module, node: ast.AST) -> bool:
        """Whether a node is in the code that was followed so far."""
        return node in self._whole or any(at in self._whole for at in module.ancestors(node))

    def follow(self) -> Iterator[tuple[Module, ast.AST]]:
        """Go on following the imports and the mentions, part by part; where it was left, it goes on."""
        while todo := self._near or self._far:
            module, part = todo.pop()
            self.parts.append((module, part))
            self._whole.add(part)
            names, files = mentions_of(self.project, module, part)
            for name in names:
                self._note_mention(name)
            for other in files:
                self._load_module(other)
            yield module, part

    def _load_module(self, module: Module) -> None:
        if module.name in self.modules:
            return
        self.modules[module.name] = module
        for part in top_level_statements(module, module is self.entry):
            if (
                isinstance(part, DEFS)
                and not is_registered(part, self.passing)
                and self._mentioned.isdisjoint(keys := keys_of(module, part))
            ):
                for key in keys:
                    self._waiting.setdefault(key, []).append((module, part))
            else:
                self._run_part(module, part)

    def _run_part(self, module: Module, part: ast.AST) -> None:
        if part not in self._visited:
            self._visited.add(part)
            (self._near if module is self.entry else self._far).append((module, part))

    def _note_mention(self, name: Mention) -> None:
        if name not in self._mentioned:
            self._mentioned.add(name)
            for module, part in self._waiting.pop(name, ()):
                self._run_part(module, part)


Import = Union[ast.Import, ast.ImportFrom]
Mention = Union[str, tuple[str, str]]  # of whatever has the name; of what one file defines under it


def keys_of(module: Module, part: Def) -> tuple[Mention, Mention]:
    """What a part mentions that runs a definition: its name, or its name in this file."""
    return part.name, (module.name, part.name)


def is_registered(part: Def, passing: frozenset[str]) -> bool:
    """Whether a decorator may hand a function or class to someone who calls it without naming it."""
    return any(last_name(one.func if isinstance(one, ast.Call) else one) not in passing for one in part.decorator_list)


def mentions_of(project: Project, module: Module, part: ast.AST) -> tuple[tuple[Mention, ...], tuple[Module, ...]]:
    """The names in a part by which it may reach something of the project, in an order that is the same in every run, and its imports."""
    key = ("mentions", part)
    if key not in module.cache:
        names: set[Mention] = set()
        files: dict[int, Module] = {}
        for node in walk(part):
            if isinstance(node, ast.Name):
                names |= _resolve_mention(project, module, node.id)
            elif isinstance(node, ast.Attribute) and not _is_outside(project, module, node):
                names.add(node.attr)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                files |= {id(other): other for other in imported_files(project, module, node)}
        names |= named_at_run_time(project, module, part)
        module.cache[key] = tuple(sorted(names, key=str)), tuple(files.values())
    return module.cache[key]  # type: ignore[return-value]


def named_at_run_time(project: Project, module: Module, part: ast.AST) -> frozenset[Mention]:
    """What ``getattr(FILE, name)`` in a part may give: all that the file defines, and what it imports."""
    key = ("named at run time", part)
    if key not in module.cache:
        found: set[Mention] = set()
        for node in walk(part) if "getattr" in module.source.text else ():
            other = looked_up_in(project, module, node) if isinstance(node, ast.Call) else None
            if other is not None:
                found |= {(other.name, one.name) for kind in DEFS for one in other.nodes.get(kind, ()) if isinstance(one, DEFS)}
                found |= {alias.name for result in imports_of(other).values() for _, alias in result}
        module.cache[key] = frozenset(found)
    return module.cache[key]  # type: ignore[return-value]


def looked_up_in(project: Project, module: Module, call: ast.Call) -> Module | None:
    """The project's file of which ``getattr(FILE, name)`` takes something by a name that only the run knows."""
    if not (isinstance(call.func, ast.Name) and call.func.id == "getattr" and len(call.args) > 1):
        return None
    holder, name = call.args[:2]
    bound = imports_of(module).get(holder.id, []) if isinstance(holder, ast.Name) else []
    if len(bound) != 1 or isinstance(name, ast.Constant):
        return None
    node, alias = bound[0]
    if isinstance(node, ast.ImportFrom):
        source = "." * node.level + (node.module or "")
        return project.find(f"{source}{'' if source.endswith('.') else '.'}{alias.name}", module)
    return project.find(alias.name, module) if alias.asname or "." not in alias.name else None


def _resolve_mention(project: Project, module: Module, name: str) -> frozenset[Mention]:
    """The names of definitions that a plain name can mean: the file's own, or what an import gives it, if that is the project's."""
    key = ("meant", name)
    if key not in module.cache:
        found: set[Mention] = set()
        bound, stars = imports_of(module).get(name, []), imports_of(module).get("*", [])
        if any(isinstance(node, DEFS) and node.name == name for kind in DEFS for node in module.nodes.get(kind, ())):
            found.add((module.name, name))
        for node, alias in bound:
            if isinstance(node, ast.ImportFrom) and next(imported_files(project, module, node), None) is not None:
                found.add(alias.name)
        if not bound and any(next(imported_files(project, module, node), None) is not None for node, _ in stars):
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
    return bool(bound) and all(next(imported_files(project, module, statement), None) is None for statement, _ in bound)


def top_level_statements(module: Module, started: bool) -> tuple[ast.AST, ...]:
    """The statements of a module that are taken or left whole; what is under its main guard runs only where it is started."""
    key = ("top level", started)
    if key not in module.cache:
        module.cache[key] = tuple(_find_top_level_statements(module, started))
    return module.cache[key]  # type: ignore[return-value]


def _find_top_level_statements(module: Module, started: bool) -> Iterator[ast.AST]:
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


def imported_files(project: Project, module: Module, node: Import) -> Iterator[Module]:
    """The project's files that an import statement runs."""
    key = ("imported", node)
    if key not in module.cache:
        module.cache[key] = tuple(_find_imported_files(project, module, node))
    yield from module.cache[key]  # type: ignore[misc]


def _find_imported_files(project: Project, module: Module, node: Import) -> Iterator[Module]:
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


class ImportGraph:
    """Which files import a file, directly or not."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._direct: dict[str, list[Module]] = {}

    def of(self, module: Module) -> Iterator[Module]:
        """All files that can run a file by importing it, itself first, then the nearest."""
        found, todo = {module.name}, [module]
        for one in todo:  # grows
            yield one
            for other in self.direct(one):
                if other.name not in found:
                    found.add(other.name)
                    todo.append(other)

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
                if other is not module and self._has_import_of(other, module)
            ]
        return self._direct[module.name]

    def _has_import_of(self, other: Module, module: Module) -> bool:
        key = "imported files"
        if key not in other.cache:
            statements = (node for kind in (ast.Import, ast.ImportFrom) for node in other.nodes.get(kind, ()))
            known = (node for node in statements if isinstance(node, (ast.Import, ast.ImportFrom)))
            other.cache[key] = {id(found) for node in known for found in imported_files(self.project, other, node)}
        return id(module) in other.cache[key]  # type: ignore[operator]
