"""Python files: text to ``ast``, with parents and the way back to characters."""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Iterator

from msgspec import Struct, field

from ddp_codemod.model import Place, Reason, Skipped, Source

PYTHON_2 = r"(?m)^\s*(print\s+[\"'\w]|exec\s+[\"'\w]|except\s+[\w.]+\s*,\s*\w+\s*:|raise\s+\w+\s*,)"


class Module(Struct, eq=False):
    """A parsed Python file. Identity is the file: two parses of one file are not equal."""

    source: Source
    tree: ast.Module
    parents: dict[ast.AST, ast.AST]
    nodes: dict[type[ast.AST], list[ast.AST]]  # every node by its class, in source order
    cache: dict[object, object] = field(default_factory=dict)  # what later stages work out once per file
    scopes: dict[ast.AST, ast.AST] = field(default_factory=dict)  # the same, of each node that was asked about

    @property
    def name(self) -> str:
        """Path relative to the root."""
        return self.source.name

    def place(self, node: ast.AST) -> Place:
        """Where a node stands, in characters; parentheses around an expression are not part of it."""
        line, column = node.lineno, node.col_offset  # type: ignore[attr-defined]
        end_line, end_column = node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]
        return Place(self.source.name, self.source.offset(line, column), self.source.offset(end_line, end_column))

    def line(self, node: ast.AST) -> int:
        """The line that a node starts on, as the reader of the file counts."""
        return self.source.position(self.place(node).start)[0]

    def text(self, node: ast.AST) -> str:
        """Source text of a node."""
        place = self.place(node)
        return self.source.text[place.start : place.end]

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The parent of a node, its parent, up to the module."""
        at = self.parents.get(node)
        while at is not None:
            yield at
            at = self.parents.get(at)

    def statement(self, node: ast.AST) -> ast.stmt:
        """The statement that a node belongs to (itself, if it is one)."""
        at = node
        while not isinstance(at, ast.stmt):
            at = self.parents[at]
        return at


def parse(source: Source, deepest: int | None = None) -> Module | Skipped:
    """Parse a file; one that this Python cannot read, or that nests deeper, is skipped by name with what to do about it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in strangers' code are not ours to report
            tree = ast.parse(source.text)
        if deepest is not None and nests_deeper(tree, deepest):
            return Skipped(source.name, Reason.of("skipped-parser", why="RecursionError"))
        return _index(source, tree)
    except SyntaxError as why:
        if re.search(PYTHON_2, source.text):
            reason = Reason.of("skipped-python-2", line=why.lineno or 1)
        else:
            version = f"{sys.version_info.major}.{sys.version_info.minor}"
            reason = Reason.of("skipped-syntax", line=why.lineno or 1, why=why.msg, version=version)
        return Skipped(source.name, reason)
    except (ValueError, RecursionError, MemoryError) as why:
        return Skipped(source.name, Reason.of("skipped-parser", why=type(why).__name__))


def nests_deeper(tree: ast.AST, levels: int) -> bool:
    """Whether a tree has more levels."""
    row = [tree]
    for _ in range(levels):
        row = [child for node in row for child in ast.iter_child_nodes(node)]
    return bool(row)


def _index(source: Source, tree: ast.Module) -> Module:
    """Every node by its class and its parent; contexts and operators, which no one asks for, are left out."""
    parents: dict[ast.AST, ast.AST] = {}
    nodes: dict[type[ast.AST], list[ast.AST]] = {}
    todo: list[ast.AST] = [tree]
    some_node = ast.AST  # every node of every tree comes by here
    while todo:  # iterative: deep trees must not exhaust the stack
        node = todo.pop()
        kind = type(node)
        if kind in nodes:
            nodes[kind].append(node)
        else:
            nodes[kind] = [node]
            fields_backwards(kind)
        held = node.__dict__
        for name in _FIELDS[kind]:
            value = held.get(name)
            if not value:
                continue
            if type(value) is list:
                for child in reversed(value):
                    if isinstance(child, some_node):
                        parents[child] = node
                        todo.append(child)
            elif isinstance(value, some_node):
                parents[value] = node
                todo.append(value)
    return Module(source, tree, parents, nodes)


_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {}
# fields that hold texts and numbers, and nodes that no one asks for
_PLAIN = frozenset(
    [
        "arg",
        "asname",
        "attr",
        "conversion",
        "ctx",
        "id",
        "is_async",
        "kind",
        "level",
        "module",
        "op",
        "ops",
        "rest",
        "simple",
        "type_comment",
    ]
)


def fields_backwards(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields of a kind of node that can hold nodes which someone asks for, the last one first."""
    if kind not in _FIELDS:
        names = () if kind is ast.Constant else reversed(kind._fields)
        _FIELDS[kind] = tuple(name for name in names if name not in _PLAIN)
    return _FIELDS[kind]


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that ``ast.walk`` gives, in its order and in a third of its time, without contexts and operators."""
    todo = [node]
    for at in todo:  # grows
        kind = type(at)
        if kind is not ast.Name and kind is not ast.Constant:
            held = at.__dict__
            for name in reversed(fields_backwards(kind)):
                value = held.get(name)
                if type(value) is list:
                    todo += [child for child in value if isinstance(child, ast.AST)]
                elif isinstance(value, ast.AST):
                    todo.append(value)
        yield at


def last_name(node: ast.AST) -> str:
    """The last name of a dotted expression: ``c`` of ``a.b.c``; "" for anything else."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
