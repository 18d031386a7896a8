"""Where a new import goes, and the name under which a module or object can be written already."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence

from msgspec import Struct

from ddp_codemod.edits.import_order import find_later_name, order_import
from ddp_codemod.edits.spans import Insertion, line_ending
from ddp_codemod.edits.visible_names import Bound, find_unbound_read, is_declared, list_bindings, list_imported_names, scopes_at
from ddp_codemod.model import Reason, Source


class WantedImport(Struct, frozen=True):
    """A module, or an object of it."""

    module: str
    name: str | None

    @property
    def full(self) -> str:
        """Its qualified name."""
        return f"{self.module}.{self.name}" if self.name else self.module

    @property
    def statement(self) -> str:
        """The import that binds it."""
        return f"from {self.module} import {self.name}" if self.name else f"import {self.module}"

    @property
    def target(self) -> str:
        """What the first name of that import stands for."""
        return self.full if self.name else self.package

    @property
    def bound(self) -> str:
        """The name that the import binds."""
        return self.name or self.package

    @property
    def package(self) -> str:
        """Its top package."""
        return self.module.partition(".")[0]


def bound_import(source: Source, tree: ast.Module, module: str, name: str | None = None, *, before: int) -> str | None:
    """How a module (or an object ``name`` of it) is written at the offset ``before``, through an import that surely ran before.

    None where no such import is seen from there.
    """
    wanted = WantedImport(module, name)
    if not _may_hold_name(source, wanted.package):
        return None
    scopes = scopes_at(source, tree, before)
    for depth, scope in enumerate(scopes):
        for statement in scope.earlier:
            for result in list_imported_names(statement):
                written = _format_bound_name(result, wanted)
                if written is None:
                    continue
                if any(list_bindings(inner.node, result.name) for inner in scopes[:depth]):
                    continue
                if all(other.target == result.target for other in list_bindings(scope.node, result.name)):
                    return written
    return None


def add_import(
    source: Source, tree: ast.Module, module: str, name: str | None = None, *, before: int
) -> tuple[Insertion | None, str] | Reason:
    """The import to add, if any, and how the module (or the object ``name`` of it) is then written at the offset ``before``.

    ``before`` is the place of the use (of the statement that uses it); the import lands at the top level in front of it.
    Gives a reason where the name means something else there, or no line in front of the use can take an import.
    """
    written = bound_import(source, tree, module, name, before=before)
    if written is not None:
        return None, written
    wanted = WantedImport(module, name)
    if _may_hold_name(source, wanted.bound) and (taken := _find_name_conflict(source, tree, wanted, before)) is not None:
        return taken
    place = _join_existing_import(source, tree, wanted, before) or _place_import(source, tree, wanted, before)
    return place if isinstance(place, Reason) else (place, wanted.full if not wanted.name else wanted.name)


def _may_hold_name(source: Source, name: str) -> bool:
    """Whether the text can hold a name; Python reads several spellings of one that are not ASCII."""
    return name in source.text or not source.text.isascii()


def _find_name_conflict(source: Source, tree: ast.Module, wanted: WantedImport, before: int) -> Reason | None:
    """Why the name cannot be passed to the import: it stands for something else, or code reads it that nothing gives it to."""
    for scope in scopes_at(source, tree, before):
        for other in list_bindings(scope.node, wanted.bound):
            if other.target != wanted.target or not isinstance(scope.node, ast.Module):
                return Reason.of("insert-name-taken", name=wanted.bound, line=other.line)
    if is_declared(tree, wanted.bound):
        return Reason.of("insert-name-taken", name=wanted.bound, line=1)
    unbound = find_unbound_read(source, tree, wanted.bound)
    return None if unbound is None else Reason.of("insert-name-unbound", name=wanted.bound, line=unbound)


def _format_bound_name(bound: Bound, wanted: WantedImport) -> str | None:
    """How ``wanted`` is written through a name that an import made."""
    if bound.whole is not None:  # "import a.b.c" gives a, a.b and a.b.c
        return wanted.full if f"{bound.whole}.".startswith(f"{wanted.module}.") else None
    if bound.target == wanted.full:
        return bound.name
    return f"{bound.name}.{wanted.name}" if wanted.name and bound.target == wanted.module else None


def choose_likeliest_name(source: Source, tree: ast.Module, names: Sequence[str], before: int) -> str:
    """The one of an object's qualified names that the file can write already, or imports the neighbours of; else the first."""
    for name in names:
        module, _, last = name.rpartition(".")
        if bound_import(source, tree, module, last, before=before) is not None:
            return name
    modules = [node.module for node in tree.body if isinstance(node, ast.ImportFrom) and not node.level]
    return next((name for name in names if name.rpartition(".")[0] in modules), names[0])


def _join_existing_import(source: Source, tree: ast.Module, wanted: WantedImport, before: int) -> Insertion | None:
    """Behind the last name of a ``from module import ...`` that has surely run before, the nearest first."""
    if not wanted.name:
        return None
    for node in (statement for scope in scopes_at(source, tree, before) for statement in scope.earlier):
        if isinstance(node, ast.ImportFrom) and not node.level and node.module == wanted.module:
            last = node.names[-1]
            assert last.end_lineno is not None
            assert last.end_col_offset is not None
            end = source.offset(last.end_lineno, last.end_col_offset)
            if last.name == "*" or end > before:
                continue
            line = source.text[slice(*source.line_span(end))]
            above = node.names[-2].lineno if len(node.names) > 1 else node.lineno
            alone = above != last.lineno  # each name has a line of its own
            indent = line[: len(line) - len(line.lstrip(" \t"))]
            if (later := find_later_name(node, wanted.name)) is not None:
                between = f",{line_ending(source, end)}{indent}" if alone else ", "
                return Insertion(source.offset(later.lineno, later.col_offset), f"{wanted.name}{between}")
            return Insertion(end, f",{line_ending(source, end)}{indent}{wanted.name}" if alone else f", {wanted.name}")
    return None


def _place_import(source: Source, tree: ast.Module, wanted: WantedImport, before: int) -> Insertion | Reason:
    body = tree.body
    imports = [at for at, node in enumerate(body) if isinstance(node, (ast.Import, ast.ImportFrom)) and not _is_future(node)]
    imports = [at for at in imports if _get_offset(source, body[at]) <= before]
    for place in (
        *_find_import_places(source, body, imports, wanted),
        _insert_at_top(source, body, wanted),
        _insert_inline(source, body, wanted),
    ):
        if place is not None and place.offset <= before:
            return place
    return Reason.of("insert-import-no-place", statement=wanted.statement)


def _find_import_places(
    source: Source, body: Sequence[ast.stmt], imports: Sequence[int], wanted: WantedImport
) -> Iterator[Insertion | None]:
    """Places next to the imports that a reader would look among, best first."""
    like = [at for at in imports if wanted.package in _list_packages(body[at])]
    # a plug-in such as "torch_x" is by its host "torch"
    like = like or [at for at in imports if any(wanted.package.startswith(f"{top}_") for top in _list_packages(body[at]))]
    if like:
        run = set(_collect_import_run(body, like[0]))
        yield _insert_sorted(source, body, [at for at in like if at in run], wanted)
    standard = [at for at in imports if _list_packages(body[at]) & sys.stdlib_module_names]
    if wanted.package in sys.stdlib_module_names:
        for at in (*standard[:1], *imports[:1]):
            yield _insert_line_before(source, body[at], wanted)
        return
    others = [at for at in imports if at not in standard]
    if others:
        yield _insert_line_before(source, body[others[0]], wanted)
    if imports:
        yield _insert_line_after(source, body, _collect_import_run(body, imports[0])[-1], wanted)


def _insert_sorted(source: Source, body: Sequence[ast.stmt], near: Sequence[int], wanted: WantedImport) -> Insertion | None:
    """Behind the imports of a package; among them where they are sorted as isort and ruff have them."""
    keys = [order_import(body[at]) for at in near]
    own = (bool(wanted.name), wanted.module.lower())
    before = sum(key <= own for key in keys)
    if keys == sorted(keys) and 0 < before < len(near):
        return _insert_line_after(source, body, near[before - 1], wanted)
    following = body[near[0] + 1 : near[0] + 2]
    alone = not any(
        other.lineno == body[near[0]].end_lineno for other in following
    )  # as what stands for a notebook's magic is not
    if keys == sorted(keys) and not before and alone:
        return _insert_line_before(source, body[near[0]], wanted)
    return _insert_line_after(source, body, near[-1], wanted)


def _collect_import_run(body: Sequence[ast.stmt], at: int) -> list[int]:
    """The statements from this one on that are imports without anything else between."""
    end = at
    while end < len(body) and isinstance(body[end], (ast.Import, ast.ImportFrom)):
        end += 1
    return list(range(at, end))


def _list_packages(node: ast.stmt) -> set[str]:
    """The top packages that an import names; none for a relative one."""
    if isinstance(node, ast.Import):
        return {alias.name.partition(".")[0] for alias in node.names}
    if isinstance(node, ast.ImportFrom) and not node.level and node.module:
        return {node.module.partition(".")[0]}
    return set()


def _insert_line_before(source: Source, node: ast.stmt, wanted: WantedImport) -> Insertion | None:
    start = _get_offset(source, node)
    line = source.line_span(start)[0]
    if source.text[line:start].strip("\f") or source.text[:line].rstrip("\r\n").endswith("\\"):
        return None
    return Insertion(start, wanted.statement + line_ending(source, start))


def _insert_line_after(source: Source, body: Sequence[ast.stmt], at: int, wanted: WantedImport) -> Insertion | None:
    end = _locate_line_end(source, body, at)
    if end is None:
        return None
    newline = line_ending(source, end - 1)
    missing = "" if source.text[:end].endswith(("\n", "\r")) else newline
    return Insertion(end, missing + wanted.statement + newline)


def _locate_line_end(source: Source, body: Sequence[ast.stmt], at: int) -> int | None:
    """End of the line on which a statement ends, if no statement goes on behind it."""
    while at + 1 < len(body) and body[at + 1].lineno == body[at].end_lineno:
        at += 1
    last = body[at]
    assert last.end_lineno is not None
    assert last.end_col_offset is not None
    stop = source.offset(last.end_lineno, last.end_col_offset)
    end = source.line_span(stop)[1]
    rest = source.text[stop:end].strip().removeprefix(";").strip()
    return end if not rest or rest.startswith("#") else None


def _insert_at_top(source: Source, body: Sequence[ast.stmt], wanted: WantedImport) -> Insertion | None:
    """A paragraph of its own behind the docstring and ``from __future__`` lines, or behind the comments that head the file."""
    header = [at for at, node in enumerate(body) if _is_future(node) or (at == 0 and _is_docstring(node))]
    if header:
        start = _locate_line_end(source, body, header[-1])
        if start is None:
            return None
    else:
        start = _locate_after_header(source)
    at = start
    while at < len(source.text) and not source.text[slice(*source.line_span(at))].strip():
        at = source.line_span(at)[1]
    newline = line_ending(source, at)
    parted = at > start or start == 0 or not header
    return Insertion(at, ("" if parted else newline) + wanted.statement + newline + newline)


def _locate_after_header(source: Source) -> int:
    """End of the first block of comment lines (interpreter, encoding, licence), if the file starts with one."""
    at, seen = 0, False
    while at < len(source.text):
        start, end = source.line_span(at)
        line = source.text[start:end].strip()
        if line.startswith("#"):
            seen = True
        elif line or seen:
            break
        at = end
    return at if seen else 0


def _insert_inline(source: Source, body: Sequence[ast.stmt], wanted: WantedImport) -> Insertion | None:
    """In front of the first ordinary statement, on its line."""
    for at, node in enumerate(body):
        if not _is_future(node) and not (at == 0 and _is_docstring(node)):
            start = _get_offset(source, node)
            simple = not hasattr(node, "body")
            return Insertion(start, wanted.statement + "; ") if simple else None
    return None


def _get_offset(source: Source, node: ast.stmt) -> int:
    return source.offset(node.lineno, node.col_offset)


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
