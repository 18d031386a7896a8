"""Which names are bound at a place of a file, by what, and which statements surely ran before it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

from ddp_codemod.model import Source
from ddp_codemod.parse.nodes import list_fields_backwards
from ddp_codemod.parse.python import walk

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_SCOPES = (*_FUNCTIONS, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_NAMING = ("name", "rest")  # fields whose text is a name that is bound


class Bound(Struct, frozen=True):
    """A name that a scope binds. ``target`` is the qualified name of what an import gives it, "" for anything else.

    ``whole`` is the dotted module of an ``import a.b.c`` that binds ``a``.
    """

    name: str
    target: str
    line: int
    whole: str | None = None


class Scope(Struct, frozen=True):
    """A module, function or class, and the statements in it that surely ran before the place."""

    node: ast.AST
    earlier: tuple[ast.stmt, ...]


def list_imported_names(node: ast.AST) -> Iterator[Bound]:
    """The names that an import statement binds; a relative import's target starts with its dots."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.asname:
                yield Bound(alias.asname, alias.name, node.lineno)
            else:
                package = alias.name.partition(".")[0]
                yield Bound(package, package, node.lineno, alias.name)
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            yield Bound(alias.asname or alias.name, f"{'.' * node.level}{node.module or ''}.{alias.name}", node.lineno)


def scopes_at(source: Source, tree: ast.Module, offset: int) -> list[Scope]:
    """The scopes whose names code at the offset sees, the innermost first, the module last."""
    found: list[Scope] = []
    scope: ast.AST = tree
    earlier: list[ast.stmt] = []
    suite: list[ast.stmt] | None = tree.body
    while suite is not None:
        at = next((node for node in suite if _locate_end(source, node) > offset), None)
        earlier.extend(node for node in suite if _locate_end(source, node) <= offset)
        if at is None or _locate_start(source, at) > offset:
            break
        suite = next((inner for inner in _iterate_suites(at) if _is_in_suite(source, inner, offset)), None)
        if suite is not None and isinstance(at, _SCOPES):
            found.append(Scope(scope, tuple(earlier)))
            scope, earlier = at, []
    found.append(Scope(scope, tuple(earlier)))
    found.reverse()
    return [found[0], *(outer for outer in found[1:] if not isinstance(outer.node, ast.ClassDef))]


def find_unbound_read(source: Source, tree: ast.Module, name: str) -> int | None:
    """The line of code that reads a name which nothing gives it: an import would change what happens there. None where there is none."""
    names_read = _collect_names(tree)
    if list_bindings(tree, name) or names_read.takes_all:
        return None
    for node in names_read.read.get(name, ()):
        if not any(
            list_bindings(scope.node, name) for scope in scopes_at(source, tree, source.offset(node.lineno, node.col_offset))
        ):
            return node.lineno
    return None


def is_declared(tree: ast.Module, name: str) -> bool:
    """Whether a function says that a name is that of a scope around it (``global``, ``nonlocal``)."""
    return name in _collect_names(tree).declared


class _NameUse(Struct, frozen=True):
    """The names that a file reads and declares, and whether it takes all of a module."""

    read: dict[str, list[ast.Name]]
    declared: frozenset[str]
    takes_all: bool


@lru_cache(maxsize=128)  # edits of one file come rule by rule
def _collect_names(tree: ast.Module) -> _NameUse:
    read: dict[str, list[ast.Name]] = {}
    declared: set[str] = set()
    takes_all = False
    for node in walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            read.setdefault(node.id, []).append(node)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            declared.update(node.names)
        elif isinstance(node, ast.ImportFrom):
            takes_all = takes_all or node.names[0].name == "*"
    return _NameUse(read, frozenset(declared), takes_all)


def list_bindings(scope: ast.AST, name: str) -> list[Bound]:
    """All that binds a name in one scope, without the scopes inside it."""
    return _index_bindings(scope).get(name, [])


@lru_cache(maxsize=256)  # edits of one file, one rule after the other, ask for the same scopes
def _index_bindings(scope: ast.AST) -> dict[str, list[Bound]]:
    found: dict[str, list[Bound]] = {}
    for bound in _iterate_bindings(scope):
        found.setdefault(bound.name, []).append(bound)
    return found


def _iterate_bindings(scope: ast.AST) -> Iterator[Bound]:
    if isinstance(scope, _FUNCTIONS):
        for part in ast.walk(scope.args):
            if isinstance(part, ast.arg):
                yield Bound(part.arg, "", part.lineno)
    todo: list[ast.AST] = list(getattr(scope, "body", []))
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Name):  # most of them
            if not isinstance(node.ctx, ast.Load):
                yield Bound(node.id, "", node.lineno)
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from list_imported_names(node)
            continue
        line = getattr(node, "lineno", 0)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield Bound(node.name, "", line)
            continue
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, _COMPREHENSIONS):  # their targets are their own; a walrus in them is the scope's
            for part in ast.walk(node):
                if isinstance(part, ast.NamedExpr):
                    yield Bound(part.target.id, "", line)
            continue
        for field in reversed(list_fields_backwards(type(node))):
            value = getattr(node, field, None)
            if isinstance(value, list):
                todo += [child for child in value if isinstance(child, ast.AST)]
            elif isinstance(value, ast.AST):
                todo.append(value)
            elif isinstance(value, str) and field in _NAMING:  # except ... as, case patterns
                yield Bound(value, "", line)


def _iterate_suites(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    for part in (node, *getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        for name in ("body", "orelse", "finalbody"):
            suite = getattr(part, name, None)
            if isinstance(suite, list) and suite:
                yield suite


def _is_in_suite(source: Source, suite: list[ast.stmt], offset: int) -> bool:
    return _locate_line(source, suite[0]) <= offset < _locate_end(source, suite[-1])


def _locate_line(source: Source, node: ast.stmt) -> int:
    """Where a new line before the statement would go."""
    start = _locate_start(source, node)
    line = source.line_span(start)[0]
    return line if not source.text[line:start].strip() else start


def _locate_start(source: Source, node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    lines = [node.lineno, *(decorator.lineno for decorator in decorators)]
    if min(lines) < node.lineno:
        return source.line_starts[min(lines) - 1]
    return source.offset(node.lineno, node.col_offset)


def _locate_end(source: Source, node: ast.stmt) -> int:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return source.offset(node.end_lineno, node.end_col_offset)
