"""The statements of a block before one, of which each is looked at once where thousands ask, and those behind it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from ddp_codemod.parse.python import Module

_BUSY = "block-is-looked-at"


def find_in_preceding(
    module: Module, block: Sequence[ast.stmt], at: int, ends: Callable[[ast.stmt], ast.AST | None]
) -> ast.AST | None:
    """What the first of the statements before ``at`` gives that gives anything.

    An answer that is asked for while another one is worked out may be a provisional one, and is not kept.
    """
    if _BUSY in module.cache:
        return next((found for earlier in block[:at] if (found := ends(earlier)) is not None), None)
    key = ("block-ends", id(block))
    known: tuple[int, int, ast.AST | None] = module.cache.get(key, (0, 0, None))  # type: ignore[assignment]
    looked, first, found = known
    if found is None and looked < at:
        module.cache[_BUSY] = True
        try:
            for first in range(looked, at):
                if (found := ends(block[first])) is not None:
                    break
        finally:
            del module.cache[_BUSY]
        module.cache[key] = (at, first, found)
    return found if found is not None and first < at else None


def list_following(module: Module, statement: ast.stmt) -> Sequence[ast.stmt]:
    """The statements behind one in the same block."""
    blocks = [getattr(module.parents[statement], field, None) for field in ("body", "orelse", "finalbody")]
    return next((block[block.index(statement) + 1 :] for block in blocks if isinstance(block, list) and statement in block), [])
