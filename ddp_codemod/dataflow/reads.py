"""The reads of a value: found one after the other, and kept."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec import Struct

from ddp_codemod.parse.python import Module


class Read(Struct, frozen=True, eq=False):
    """An expression that gives the value, where nothing follows it any further."""

    module: Module
    node: ast.expr
    carrier: ast.expr  # what gives the value itself, where ``node`` is a text that holds it
    sure: bool = True  # False: only a word leads here, as that of an attribute does
    inside: bool = False  # ``node`` is a list or table that holds the value
    ends: bool = False  # code that is not read takes it, whatever the expression is in


class DefUse:
    """All reads of a value, each looked for when it is asked for: often the first ones settle it."""

    def __init__(self, found: Iterator[Read | None]) -> None:
        """``found``: the reads; None last where the value was not followed to its end."""
        self._more, self._found, self._lost = found, list[Read](), False

    def __iter__(self) -> Iterator[Read]:
        at = 0
        while at < len(self._found) or self._fetch_next():
            yield self._found[at]
            at += 1

    @property
    def lost(self) -> bool:
        """Whether the value was not followed to its end."""
        while self._fetch_next():
            pass
        return self._lost

    def _fetch_next(self) -> bool:
        """Look for one more read; whether there is one."""
        for found in self._more:
            if found is not None:
                self._found.append(found)
                return True
            self._lost = True
        return False
