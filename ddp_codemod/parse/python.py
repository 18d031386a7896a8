"""Python files: text to ``ast``, with parents and the way back to characters."""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field

from ddp_codemod.kinds import Meaning
from ddp_codemod.model import Place, Reason, Skipped, Source
from ddp_codemod.parse.nodes import FORWARD, Nodes, Parents, list_fields, remake_nodes

PYTHON_2 = r"(?m)^\s*(print\s+[\"'\w]|exec\s+[\"'\w]|except\s+[\w.]+\s*,\s*\w+\s*:|raise\s+\w+\s*,)"

# Names and operators of one file. A tree takes up to 1.3 kB for each, seen with CPython 3.11: so it stays below 1 GiB.
MOST = 750_000
_STRING = r"\"\"\"(?s:.*?)\"\"\"|'''(?s:.*?)'''|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'"
_PART = re.compile(rf"#[^\n]*|{_STRING}|(\w+|[\[({{]|[-+~*/%@&|^<>=!.]+)")


class Module(Struct, eq=False):
    """A parsed Python file. Identity is the file: two parses of one file are not equal."""

    source: Source
    tree: ast.Module
    parents: Parents
    nodes: Nodes  # by their classes
    cache: dict[object, object] = field(default_factory=dict)  # what later stages work out once per file
    scopes: dict[ast.AST, ast.AST] = field(default_factory=dict)  # the same, of each node that was asked about
    own: dict[object, object] = field(default_factory=dict)  # what the file says by itself, whatever is around it
    kept: bool = False  # the tree, and what it says by itself, outlive the survey

    @property
    def name(self) -> str:
        """Path relative to the root."""
        return self.source.name

    def place(self, node: ast.AST) -> Place:
        """Where a node is, in characters; parentheses around an expression are not part of it.

        A part that Python gives no place to (the ``for`` of a comprehension, an item of a ``with``) is where what it holds does.
        """
        if not hasattr(node, "lineno"):
            inside = [self.place(part) for part in ast.iter_child_nodes(node) if not isinstance(part, ast.expr_context)]
            return Place(self.source.name, min(one.start for one in inside), max(one.end for one in inside))
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

    def short_text(self, node: ast.AST) -> str:
        """Source text of a node on one line, cut where it is long."""
        text = " ".join(self.text(node).split())
        return text if len(text) <= 80 else text[:77] + "..."

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

    def take_apart(self) -> None:
        """Free the tree: it refers to itself, and so does what was worked out about it."""
        self.cache.clear()
        if self.kept:
            return
        self.own.clear()
        for nodes in self.nodes.values():
            for node in nodes:
                node.parent = None  # type: ignore[attr-defined]


SUITES = ("body", "handlers", "cases", "orelse", "finalbody")  # the fields that hold statements, as Python runs them


def parse(source: Source, deepest: int | None = None) -> Module | Skipped:
    """Parse a file; one that this Python cannot read, or that nests deeper, is skipped by name with what to do about it."""
    if len(source.text) > MOST and _count_parts(source.text) > MOST:
        return Skipped(source.name, Reason.of("skipped-too-many-names", limit=MOST))
    try:
        tree = parse_tree(source.text)
        if deepest is not None and is_nested_deeper(tree, deepest):
            return Skipped(source.name, Reason.of("skipped-parser", Meaning.GIVEN_UP, why="RecursionError"))
        return Module(source, tree, Parents(tree), remake_nodes(tree))
    except SyntaxError as why:
        if re.search(PYTHON_2, source.text):
            reason = Reason.of("skipped-python-2", line=why.lineno or 1)
        else:
            version = f"{sys.version_info.major}.{sys.version_info.minor}"
            reason = Reason.of("skipped-syntax", line=why.lineno or 1, why=why.msg, version=version)
        return Skipped(source.name, reason)
    except (ValueError, RecursionError, MemoryError) as why:
        return Skipped(source.name, Reason.of("skipped-parser", Meaning.GIVEN_UP, why=type(why).__name__))


def passing_tree(data: bytes, deepest: int | None = None) -> ast.Module | None:
    """The parser's own tree, for one look at it: it takes three times the memory of one that is kept. None where ``parse`` skips the file."""
    try:
        tree = parse_tree(data) if len(data) <= MOST else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return None if tree is None or (deepest is not None and is_nested_deeper(tree, deepest)) else tree


def parse_tree(text: str | bytes) -> ast.Module:
    """The tree of a program, also of one for a newer Python than the one that runs."""
    return _parse(text, "exec")  # type: ignore[no-any-return]


def parse_expression(text: str) -> ast.Expression:
    """The same of an expression on its own."""
    return _parse(text, "eval")  # type: ignore[no-any-return]


def _parse(text: str | bytes, mode: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes in strangers' code are not ours to report
        try:
            return ast.parse(text, mode=mode)
        except SyntaxError:
            from ddp_codemod.parse.newer_syntax import parse_newer  # with the first file that needs it

            tree = parse_newer(text, mode)
            if tree is None:
                raise
            return tree


def _count_parts(text: str) -> int:
    """How many names and operators a text has outside of its strings and comments."""
    return sum(1 for part in _PART.finditer(text) if part.lastindex)


def is_nested_deeper(tree: ast.AST, levels: int) -> bool:
    """Whether a tree has more levels."""
    row = [tree]
    for _ in range(levels):
        row = [child for node in row for child in ast.iter_child_nodes(node)]
    return bool(row)


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that ``ast.walk`` gives, in its order and in a third of its time, without contexts and operators."""
    todo = [node]
    known, any_node = FORWARD.get, ast.AST
    for at in todo:  # grows
        kind = type(at)
        fields = known(kind)
        for name in list_fields(kind) if fields is None else fields:
            value: Any = getattr(at, name, None)
            if type(value) is list:
                todo += [child for child in value if isinstance(child, any_node)]
            elif isinstance(value, any_node):
                todo.append(value)
        yield at


def walk_statements(node: ast.AST) -> Iterator[ast.AST]:
    """The statements in a statement, at any depth and with it, in the order of ``walk``; so the handlers and cases of some."""
    todo = [node]
    for at in todo:  # grows
        for name in SUITES:
            todo += getattr(at, name, ())
        yield at


def last_name(node: ast.AST) -> str:
    """The last name of a dotted expression: ``c`` of ``a.b.c``; "" for anything else."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
