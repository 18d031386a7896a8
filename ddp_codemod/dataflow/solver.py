"""Answers the questions of a run: each is followed once, and those that wait for each other until their answers stay the same.

Questions that wait for each other are a component (Tarjan's algorithm, as tabled logic programs use it). A question of an open component is
answered with what is known so far; those that read it are followed again when more is known. What holds where nothing is found (a parameter
without callers) is added to a component only when it is known that nothing is. An answer is kept when its component is finished, so it does
not depend on which question came first.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Hashable
from operator import attrgetter
from typing import Any

from ddp_codemod.dataflow.values import Value, ValueSet
from ddp_codemod.kinds import OriginKind

Key = tuple[Hashable, ...]
MAX_QUERIES = 50_000  # that one question may lead to: the most that Megatron-LM asks are 6,391
MAX_ROUNDS = 40  # in which a question of a component is followed: Megatron-LM takes 8
KEPT = 1_000  # answers from one outermost question to the next, so that memory does not grow with the number of call sites
_OTHERWISE = frozenset({OriginKind.UNKNOWN, OriginKind.PARAMETER})  # what stands for an expression for which nothing is found


class Query:
    """A question, what is known of its answer, and who has read that."""

    __slots__ = (
        "answer", "cyclic", "follow", "granted", "index", "kept", "lowest", "of_values", "otherwise", "readers", "rounds", "waits",
    )  # fmt: skip

    def __init__(self, index: int, follow: Callable[[], Any], nothing: Any) -> None:
        self.index = self.lowest = index
        self.follow, self.answer, self.of_values = follow, nothing, isinstance(nothing, ValueSet)
        self.kept: object = None  # what the key goes by the identity of
        self.readers: dict[Query, None] = {}
        self.waits = True  # its component is not finished
        self.cyclic = False  # it has read an answer that was not finished
        self.otherwise = ValueSet()  # what holds where nothing is found; kept back until that is known
        self.granted = False
        self.rounds = 0


class Solver:
    """Knows what was asked, what waits for what, and what was answered."""

    def __init__(self) -> None:
        self.followed = 0  # questions that were followed: what the work grows with
        self.is_cut = False  # the outermost question was not followed to its end
        self._known: dict[Key, Query] = {}
        self._stack: list[Query] = []  # those whose component is not finished
        self._keys: list[Key] = []  # of these
        self._asking: list[Query] = []  # those that are being followed, from the outermost
        self._limit = 0

    @property
    def is_idle(self) -> bool:
        """Whether no question is being answered."""
        return not self._asking

    @property
    def is_spent(self) -> bool:
        """Whether the outermost question has led to more than it may."""
        return self.followed > self._limit

    @property
    def deepest(self) -> Any:
        """What the key of the innermost question goes by that is being answered, and of which that is known."""
        return next((query.kept for query in reversed(self._asking) if query.kept is not None), None)

    def begin(self) -> None:
        """Begin with a question that nothing else waits for."""
        if len(self._known) > KEPT:
            self._known.clear()
        self.is_cut, self._limit = False, self.followed + MAX_QUERIES

    def end(self) -> None:
        """End with it; what was being answered when following broke off is forgotten."""
        for key in self._keys:
            self._known.pop(key, None)
        self._stack.clear()
        self._keys.clear()
        self._asking.clear()

    def ask(self, key: Key, follow: Callable[[], Any], nothing: Any, kept: object = None) -> Query:
        """The question with the answer that is known of it: ``nothing`` where it waits for itself and nothing is known yet."""
        query = self._known.get(key)
        if query is None:
            self.followed += 1
            query = self._known[key] = Query(len(self._stack), follow, nothing)
            query.kept = kept
            self._stack.append(query)
            self._keys.append(key)
            self._asking.append(query)
            found = follow()  # here and not in a method of its own, for questions nest deep
            self._asking.pop()
            _take(query, found)
            if query.lowest == query.index:
                self._finish(query)
        if query.waits and self._asking:
            reader = self._asking[-1]
            reader.lowest = min(reader.lowest, query.lowest)
            reader.cyclic = True
            query.readers[reader] = None
        return query

    def _finish(self, root: Query) -> None:
        """Follow the questions of a component until their answers stay the same."""
        start = root.index
        if root.cyclic:
            self._repeat(dict.fromkeys(self._stack[start:]))
            while granted := [
                query for query in self._stack[start:] if query.otherwise and not query.granted and not query.answer
            ]:
                for query in granted:
                    query.granted, query.answer = True, query.otherwise
                self._repeat(dict.fromkeys(reader for query in granted for reader in query.readers if reader.waits))
        for query, key in zip(self._stack[start:], self._keys[start:], strict=True):
            query.waits = False
            query.readers = {}
            query.follow = _never
            if self.is_cut:
                del self._known[key]
        del self._stack[start:], self._keys[start:]

    def _repeat(self, changed: dict[Query, None]) -> None:
        """Follow what has read an answer that has changed since, in turns.

        In each from those that were asked last: what they know goes to those that asked them in the same turn.
        """
        while changed:
            turn, changed = sorted(changed, key=_BY_INDEX), {}
            listed = set(turn)
            while turn:
                query = turn.pop()
                listed.discard(query)
                if not self._follow_again(query):
                    continue
                for reader in query.readers:
                    if not reader.waits or reader in listed:
                        continue
                    if reader.index < query.index:
                        insort(turn, reader, key=_BY_INDEX)
                        listed.add(reader)
                    else:
                        changed[reader] = None

    def _follow_again(self, query: Query) -> bool:
        """Follow a question once more; whether its answer is another than before."""
        query.rounds += 1
        if query.rounds > MAX_ROUNDS:
            self.is_cut = True
            return False
        self._asking.append(query)
        found = query.follow()
        self._asking.pop()
        return _take(query, found)


_BY_INDEX = attrgetter("index")


def _never() -> Any:
    raise AssertionError("a finished question is not followed again")


def _take(query: Query, found: Any) -> bool:
    """Take what was found for an answer; whether it says something else than the one before."""
    before = query.answer
    if not query.of_values:
        query.answer = found
        return not _is_same(before, found)
    if found is None:
        query.answer = None
        return before is not None
    found = ValueSet.of(found)
    if query.cyclic:
        found = _keep_back(query, found)
        query.answer, changed = _merge(before or ValueSet(), found)
        return changed or before is None
    query.answer = found
    return True


def _is_same(before: Any, found: Any) -> bool:
    """Whether an answer says what another says, in whatever order it was found."""
    if isinstance(found, (tuple, list)):
        return len(before) == len(found) and set(before) == set(found)
    return bool(found.is_same(before) if hasattr(found, "is_same") else found == before)


def _keep_back(query: Query, found: ValueSet) -> ValueSet:
    """What was found, without what holds only where nothing is."""
    if query.granted:
        return ValueSet.of([*query.otherwise, *found])
    if found and all(source.kind in _OTHERWISE and not source.trace.steps for source in found):
        query.otherwise = found
        return ValueSet()
    return found


def _merge(before: ValueSet, found: ValueSet) -> tuple[ValueSet, bool]:
    """What was found now, each on the shortest way that is known by now; and whether that tells more than before."""
    known: dict[Key, list[Value]] = {}
    for source in before:
        known.setdefault(source.key, []).append(source)
    merged: list[Value] = []
    changed = len(before) != len(found)
    for source in found:
        same = next((old for old in known.get(source.key, ()) if old.is_same(source)), None)
        merged.append(source if same is None else same.joined(source))
        changed = changed or merged[-1] is not same
    return ValueSet(tuple(merged)), changed
