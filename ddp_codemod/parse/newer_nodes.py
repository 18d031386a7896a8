"""The nodes of newer syntax, for a Python whose ``ast`` has none of them."""

from __future__ import annotations

import ast
from typing import Any

UNKNOWN = "__unknown__"  # bound nowhere, so that nothing is concluded from it


class _TypeAlias(ast.stmt):
    """``type Name[T] = value`` of Python 3.12."""

    _fields = ("name", "type_params", "value")


class FunctionDef(ast.FunctionDef):
    """A function with type parameters: the expressions in them, which are their bounds and defaults."""

    _fields = (*ast.FunctionDef._fields, "type_params")


class AsyncFunctionDef(ast.AsyncFunctionDef):
    """The same of an ``async`` one."""

    _fields = (*ast.AsyncFunctionDef._fields, "type_params")


class ClassDef(ast.ClassDef):
    """The same of a class."""

    _fields = (*ast.ClassDef._fields, "type_params")


class PlacedString(ast.JoinedStr):
    """An f-string whose parts have places in the file, as all have from Python 3.12 on.

    The name is one of its own, so that ``ast.unparse`` of an older Python does not fail at what that one could not write.
    """


class PlacedField(ast.FormattedValue):
    """A part in braces of such a string."""


TypeAlias: Any = getattr(ast, "TypeAlias", _TypeAlias)
DEFINITIONS: dict[type[ast.AST], type[ast.AST]] = (
    {}
    if "type_params" in ast.ClassDef._fields
    else {ast.FunctionDef: FunctionDef, ast.AsyncFunctionDef: AsyncFunctionDef, ast.ClassDef: ClassDef}
)
_PLAIN: dict[type[ast.AST], type[ast.AST]] = {
    FunctionDef: ast.FunctionDef,
    AsyncFunctionDef: ast.AsyncFunctionDef,
    ClassDef: ast.ClassDef,
    PlacedString: ast.JoinedStr,
    PlacedField: ast.FormattedValue,
}


def plain_kind(kind: type[ast.AST]) -> type[ast.AST]:
    """The class that a node is asked for by: the one in ``ast``."""
    return _PLAIN.get(kind, kind)
