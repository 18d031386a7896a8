"""Which branch of a statement a part of it is in, and what the patterns of a ``match`` ask for."""

from __future__ import annotations

import ast


def find_branch(parent: ast.If | ast.IfExp | ast.While, child: ast.AST) -> bool | None:
    """True in the body, False in the other branch, None in the test."""
    if child is parent.test:
        return None
    if isinstance(parent, ast.IfExp):
        return child is parent.body
    if child in parent.body:
        return True
    return False if isinstance(parent, ast.If) else None


def list_pattern_constants(pattern: ast.pattern) -> list[ast.expr] | None:
    """The values of a pattern, [] for one that takes anything, None where it is of another kind."""
    if isinstance(pattern, ast.MatchValue):
        return [pattern.value]
    if isinstance(pattern, ast.MatchAs) and pattern.pattern is None:
        return []
    if isinstance(pattern, ast.MatchOr):
        parts = [list_pattern_constants(part) for part in pattern.patterns]
        return None if any(not part for part in parts) else [value for part in parts for value in part or ()]
    return None
