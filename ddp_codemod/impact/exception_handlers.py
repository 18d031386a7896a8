"""Whether a ``try`` lets a program go on where something in it cannot be done: only then is what it holds cared for."""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection

from ddp_codemod.parse.python import Module, last_name

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


def is_lost_silently(around: ast.Try, missing: Collection[str], shows: Collection[str]) -> bool:
    """Whether what fails in the body is only skipped: every handler does nothing, or only shows what was caught.

    Not where something takes its place: an ``else``, or what follows a body that leaves the function or loop. Nor where the body
    imports a package that is not of ``missing``: its handlers are for machines without that.
    """
    if around.orelse or not all(_does_nothing(handler, shows) for handler in around.handlers):
        return False
    for part in (part for statement in around.body for part in ast.walk(statement)):
        if isinstance(part, (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom)):
            return False
        if isinstance(part, (ast.Import, ast.ImportFrom)) and not _list_packages(part) <= {*missing, *sys.stdlib_module_names}:
            return False
    return True


def is_environment_key(module: Module, text: ast.AST) -> bool:
    """Whether a text is the key of an entry that a statement sets or takes out, which fails on no machine."""
    above = module.parents.get(text)
    if isinstance(above, ast.Call):
        return text in above.args[:1] and last_name(above.func) == "setdefault"
    return isinstance(above, ast.Subscript) and above.slice is text and isinstance(above.ctx, ast.Store)


def _list_packages(statement: ast.Import | ast.ImportFrom) -> set[str]:
    if isinstance(statement, ast.ImportFrom):
        return {(statement.module or "").partition(".")[0]} if not statement.level else set()
    return {alias.name.partition(".")[0] for alias in statement.names}


def _does_nothing(handler: ast.ExceptHandler, shows: Collection[str]) -> bool:
    return all(
        isinstance(part, ast.Pass)
        or (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))
        or (isinstance(part, ast.Expr) and isinstance(part.value, ast.Call) and last_name(part.value.func) in shows)
        for part in handler.body
    )


def leaves_unbound(module: Module, around: ast.Try, imported: ast.Import | ast.ImportFrom) -> bool:
    """Whether code that runs without a condition reads what is imported, where the handlers put nothing in its place."""
    if not all(isinstance(part, ast.Pass) for handler in around.handlers for part in handler.body):
        return False
    names = {alias.asname or alias.name.partition(".")[0] for alias in imported.names}
    return any(
        isinstance(use, ast.Name) and use.id in names and isinstance(use.ctx, ast.Load) and _is_unconditional(module, around, use)
        for use in module.nodes.get(ast.Name, ())
    )


def _is_unconditional(module: Module, around: ast.Try, use: ast.AST) -> bool:
    """Whether a place runs whenever its function does; what ``around`` holds itself does not."""
    for at in module.ancestors(use):
        if at is around or isinstance(at, (ast.If, ast.IfExp, ast.BoolOp, ast.Try, ast.Assert, ast.Match)):
            return False
        if isinstance(at, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return True
    return True


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
