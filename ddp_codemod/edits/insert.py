"""Where a new statement goes: a line of its own where that is possible, else ``statement; `` in front of its neighbour.

Offsets are characters of ``Source.text``. Only the standard ``ast`` is used.
"""

from __future__ import annotations

import ast

from ddp_codemod.edits.imports import add_import, bound_import
from ddp_codemod.edits.spans import Insertion, line_ending
from ddp_codemod.model import Reason, Source
from ddp_codemod.parse.nodes import Parents

__all__ = ["Insertion", "add_import", "bound_import", "insert_before_statement", "insert_behind_statement", "insert_in_class"]

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def insert_before_statement(source: Source, parents: Parents, node: ast.AST, statement: str) -> Insertion | Reason:
    """Where ``statement`` runs once, right before what ``node`` belongs to is evaluated: one line, or one that ends in a colon and,
    behind a tab, what is under it.

    Gives a reason where no such place exists: in a lambda, a comprehension, a ``while`` test, a ``case``.
    """
    found = _find_statement(source, parents, node)
    if isinstance(found, Reason):
        return found
    start = _locate_start(source, found)
    line = source.line_span(start)[0]
    head = source.text[line:start]
    compound = hasattr(found, "body") or isinstance(found, ast.Match)
    if not head.strip(" \t\f") and not _is_continuation(source, line, compound):
        # a form feed starts a page and sets the indentation back to none; the new line belongs to the page
        page = line + head.rfind("\f") + 1
        indent, ending = source.text[page:start], line_ending(source, start)
        step = "\t" if "\t" in indent else "    "
        return Insertion(page, indent + statement.replace("\n\t", f"{ending}{indent}{step}") + ending)
    if compound or "\n" in statement:
        return Reason.of("insert-continued-line")
    return Insertion(start, statement + "; ")


def insert_behind_statement(source: Source, parents: Parents, node: ast.AST, statement: str) -> Insertion | Reason:
    """Where ``statement`` runs once, right behind the simple statement that ``node`` belongs to."""
    at = node
    while not isinstance(at, ast.stmt):
        if isinstance(at, (ast.Lambda, *_COMPREHENSIONS)):
            return Reason.of("insert-lambda" if isinstance(at, ast.Lambda) else "insert-comprehension")
        at = parents[at]
    if hasattr(at, "body") or isinstance(at, ast.Match):
        return Reason.of("insert-continued-line")
    return _insert_behind(source, at, statement)


def insert_in_class(source: Source, node: ast.ClassDef, statement: str) -> Insertion | Reason:
    """Where ``statement`` becomes the first line of a class's body, its docstring aside."""
    first = node.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return _insert_behind(source, first, statement)
    start = _locate_start(source, first)
    line = source.line_span(start)[0]
    head = source.text[line:start]
    if head.strip(" \t"):
        return Insertion(start, statement + "; ")
    return Insertion(line, head + statement + line_ending(source, start))


def _insert_behind(source: Source, at: ast.stmt, statement: str) -> Insertion:
    """The line below a statement, with its indentation; on its own line where others are before or behind it."""
    assert at.end_lineno is not None
    assert at.end_col_offset is not None
    start, stop = source.offset(at.lineno, at.col_offset), source.offset(at.end_lineno, at.end_col_offset)
    head = source.text[source.line_span(start)[0] : start]
    end = source.line_span(stop)[1]
    rest = source.text[stop:end].strip()
    if head.strip(" \t") or (rest and not rest.startswith("#")):
        return Insertion(stop, f"; {statement}")
    ending = line_ending(source, start)
    if source.text[:end].endswith(("\n", "\r")):
        return Insertion(end, head + statement + ending)
    return Insertion(end, ending + head + statement)


def _find_statement(source: Source, parents: Parents, node: ast.AST) -> ast.stmt | Reason:
    """The statement to insert before: the first one around ``node`` that a new one may precede."""
    at, child = node, node
    while not isinstance(at, ast.stmt):
        child, at = at, parents[at]
        if isinstance(at, ast.Lambda) and child is at.body:
            return Reason.of("insert-lambda")
        if isinstance(at, ast.match_case):
            return Reason.of("insert-case")
        if isinstance(at, _COMPREHENSIONS):
            first = at.generators[0]
            if child is not first or not _is_in_branch(parents, node, first, first.iter):
                return Reason.of("insert-comprehension")
    if isinstance(at, ast.While) and child is at.test:
        return Reason.of("insert-while-test")
    if isinstance(at, (ast.For, ast.AsyncFor)) and child is at.target:
        return Reason.of("insert-for-target")
    while isinstance(at, ast.If) and _is_elif(source, parents, at):
        at = parents[at]
        assert isinstance(at, ast.If)
    return at


def _is_in_branch(parents: Parents, node: ast.AST, top: ast.AST, branch: ast.AST) -> bool:
    """Whether ``node``, which is inside ``top``, is in this child of it."""
    at = node
    while at is not top:
        if at is branch:
            return True
        at = parents[at]
    return False


def _is_elif(source: Source, parents: Parents, node: ast.If) -> bool:
    parent = parents.get(node)
    if not (isinstance(parent, ast.If) and len(parent.orelse) == 1 and parent.orelse[0] is node):
        return False
    return source.text.startswith("elif", source.offset(node.lineno, node.col_offset))


def _locate_start(source: Source, node: ast.stmt) -> int:
    """Offset of a statement's first character, its decorators included."""
    start = source.offset(node.lineno, node.col_offset)
    if not isinstance(node, _DEFINITIONS) or not node.decorator_list:
        return start
    first = node.decorator_list[0]
    at = source.offset(first.lineno, first.col_offset)
    while (at := source.text.rfind("@", 0, at)) >= 0:  # parentheses and comments may be between
        if not source.text[source.line_span(at)[0] : at].strip(" \t\f"):
            return at
    return start


def _is_continuation(source: Source, line: int, compound: bool) -> bool:
    """Whether the line that starts here may belong to the one above, which ends in a backslash."""
    if line == 0:
        return False
    above = source.text[source.line_span(line - 1)[0] : line].strip()
    if compound:  # nothing but a bare backslash may be before it; other backslashes end a comment
        return above == "\\"
    return above.endswith("\\") and not above.startswith("#")
