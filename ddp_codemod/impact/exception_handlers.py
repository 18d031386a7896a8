"""Whether a ``try`` lets a program go on where something in it cannot be done: only then is what it holds cared for."""

from __future__ import annotations

import ast
from collections.abc import Collection

from ddp_codemod.parse.python import last_name

# What ends loops, programs and lookups, or tells of too little memory: nothing that a machine lacks raises these.
_ELSEWHERE = {
    "KeyboardInterrupt",
    "SystemExit",
    "GeneratorExit",
    "StopIteration",
    "KeyError",
    "IndexError",
    "EOFError",
    "OutOfMemoryError",
}


# Built-in exceptions that a machine's lack raises: a handler for one of them catches none of the others.
_KINDS = {"AssertionError", "AttributeError", "ImportError", "ModuleNotFoundError", "OSError", "RuntimeError", "ValueError"}


def can_continue(around: ast.Try, raises: Collection[str] = ()) -> bool:
    """Whether a handler may catch what fails in the body, and never raises it or another exception again.

    ``raises``: the exceptions by which it fails, where they are known.
    """
    others = _ELSEWHERE | (_KINDS.difference(raises) if raises else set())
    return any(not _has_raise(handler) and not _is_for_other_exceptions(handler.type, others) for handler in around.handlers)


def _has_raise(handler: ast.ExceptHandler) -> bool:
    """Whether a handler has a ``raise`` of its own: what it does not know ends the program as if it were not there."""
    parts: list[ast.AST] = [*handler.body]
    while parts:
        part = parts.pop()
        if isinstance(part, ast.Raise):
            return True
        if not isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            parts.extend(ast.iter_child_nodes(part))
    return False


def _is_for_other_exceptions(caught: ast.expr | None, others: Collection[str]) -> bool:
    """Whether a handler is for exceptions alone that something else raises."""
    kinds = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return all(kind is not None and last_name(kind) in others for kind in kinds)
