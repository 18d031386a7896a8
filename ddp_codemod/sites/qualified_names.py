"""Tables by qualified name, whose keys may omit where in a package a name is defined."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar

V = TypeVar("V")


class QualifiedNames(Generic[V]):
    """Looks up qualified names. In a key ``a.*.B`` the star is any number of segments, also none; ``a.*`` is all that is in ``a``."""

    def __init__(self, entries: Iterable[tuple[str, V]]) -> None:
        self._exact: dict[str, V] = {}
        self._open: dict[str, list[tuple[str, V]]] = {}  # by what is after the star
        for name, value in entries:
            _, star, tail = name.partition("*")
            if star:
                self._open.setdefault(tail.rpartition(".")[2], []).append((name, value))
            else:
                self._exact[name] = value

    def get(self, name: str) -> V | None:
        """The value of the key that is the name, else of the first one whose star can be filled to give it."""
        found = self._exact.get(name)
        if found is None:
            last = name.rpartition(".")[2]
            fitting = (*self._open.get(last, ()), *self._open.get("", ()))
            found = next((value for key, value in fitting if _matches_pattern(key, name)), None)
        return found


def _matches_pattern(key: str, name: str) -> bool:
    head, _, tail = key.partition("*")
    if not tail:
        return name.startswith(head) and len(name) > len(head)
    return name.startswith(head) and f".{name}".endswith(tail) and len(name) > len(head) + len(tail) - 2
