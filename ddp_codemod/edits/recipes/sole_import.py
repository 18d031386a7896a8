"""Tells an import of one name: taking the name out leaves nothing to lay out, so LibCST is not loaded for it."""

from __future__ import annotations

import ast

LONGEST = 500  # characters; a longer one is left to the recipe and its limits


def binds_only(text: str, name: str) -> bool:
    """Whether the text is one import statement that binds this name and no other."""
    if len(text) > LONGEST:
        return False
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    if len(body) != 1 or not isinstance(body[0], (ast.Import, ast.ImportFrom)) or len(body[0].names) != 1:
        return False
    alias = body[0].names[0]
    return name == (alias.asname or alias.name.partition(".")[0])
