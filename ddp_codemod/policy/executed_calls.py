"""The calls of a piece of code, and whether each surely runs."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

APART = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.Lambda,
    ast.ClassDef,
)  # whose bodies run when they are called, not where they are defined
_BRANCHES = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.IfExp, ast.BoolOp, ast.Match)


def walk_calls(
    top: ast.AST, absent: Callable[[ast.expr], bool], taken: Callable[[ast.expr], bool]
) -> Iterator[tuple[ast.Call, bool]]:
    """The calls in a statement or a function's body, and whether each surely has run by its end, where no group was there before."""
    body = top.body if isinstance(top, (ast.FunctionDef, ast.AsyncFunctionDef)) else [top]
    todo: list[tuple[ast.AST, bool]] = [(part, True) for part in body if not isinstance(part, APART)]
    for node, sure in todo:  # grows
        if isinstance(node, ast.Call):
            yield node, sure
        if sure and isinstance(node, ast.If) and not absent(node.test) and taken(node.test):
            parts = [(node.test, True), *((part, True) for part in node.body), *((part, False) for part in node.orelse)]
            todo += [(part, inner) for part, inner in parts if not isinstance(part, APART)]
            continue
        # the else of such a condition is where the group is there already
        whole = (isinstance(node, ast.If) and absent(node.test)) or (isinstance(node, ast.Try) and _is_body_completed(node))
        inner, asked = sure and (whole or not isinstance(node, _BRANCHES)), _find_first_part(node)
        todo += [
            (child, inner or (sure and child is asked)) for child in ast.iter_child_nodes(node) if not isinstance(child, APART)
        ]


def _find_first_part(node: ast.AST) -> ast.AST | None:
    """What always runs of a statement or expression with branches: its condition, or what it goes over."""
    if isinstance(node, (ast.If, ast.IfExp, ast.While)):
        return node.test
    if isinstance(node, (ast.For, ast.AsyncFor)):
        return node.iter
    return node.values[0] if isinstance(node, ast.BoolOp) else node.subject if isinstance(node, ast.Match) else None


def _is_body_completed(node: ast.Try) -> bool:
    """Whether what comes behind a ``try`` runs only where its body came to its end."""
    return all(isinstance(handler.body[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break)) for handler in node.handlers)
