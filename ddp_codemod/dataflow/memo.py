"""What an expression can be, remembered: asked again on another way, a question gets the answer that following would find again."""

from __future__ import annotations

import ast

from msgspec import Struct
from msgspec.structs import replace

from ddp_codemod.dataflow.values import MAX_HOPS, Confidence, Trace, Value, ValueSet
from ddp_codemod.kinds import OriginKind

Key = tuple[int, int]  # of a node and the frame that it is looked at in
QueryKey = tuple[int, int, int, OriginKind, Confidence | None, str, bool, int]
QUESTIONS = (
    1_000  # that are remembered from one trace to the next: more took a sixteenth of the memory of a run, and saved no time
)
MOST = 4  # answers to one question, which differ by where the ways to it have been


class MemoEntry(Struct, frozen=True, eq=False):
    """What was found on one way, and on which others it is found too."""

    found: ValueSet
    node: ast.expr  # kept alive, as the way keeps its frame: the question goes by their identities
    way: Trace
    met: frozenset[Key]  # all that was asked on from here
    cut: frozenset[Key]  # those of them where following ended, for the way here had been there
    steps: int  # of the longest way from here


class OpenQuery:
    """What has been asked since a question was begun."""

    __slots__ = ("gave_up", "hops", "met")

    def __init__(self, met: set[Key], hops: int) -> None:
        self.met, self.hops, self.gave_up = met, hops, False


class Memo:
    """The answers of one run."""

    def __init__(self) -> None:
        self._known: dict[QueryKey, list[MemoEntry]] = {}
        self._asked = OpenQuery(set(), 0)

    def forget(self) -> None:
        """Between two traces: begin anew where much is remembered."""
        if len(self._known) > QUESTIONS:
            self._known.clear()

    def met(self, key: Key) -> None:
        """Note that following came to where it had been."""
        self._asked.met.add(key)

    def gave_up(self) -> None:
        """Note that what is asked around here is not followed to its end, so that its answer is good for this way alone."""
        self._asked.gave_up = True

    def recall(self, node: ast.expr, way: Trace) -> ValueSet | None:
        """The answer that is known, as if it had been found on this way; None where it has to be followed."""
        for known in self._known.get(_make_query_key(node, way), ()):
            begins_alike = bool(way.hops) == bool(known.way.hops)  # one that begins anew cannot be told from one that goes on
            if begins_alike and len(way.hops) + known.steps <= MAX_HOPS and known.met & way.seen == known.cut:
                self._asked.met |= known.met
                self._asked.hops = max(self._asked.hops, len(way.hops) + known.steps)
                return ValueSet(tuple(_transfer_value(leaf, known.way, way) for leaf in known.found))
        return None

    def begin(self, key: Key, way: Trace) -> OpenQuery:
        """Begin to follow; gives what was asked around it, for ``end``."""
        around, self._asked = self._asked, OpenQuery({key}, len(way.hops))
        return around

    def end(self, around: OpenQuery, node: ast.expr, way: Trace, found: ValueSet | None) -> None:
        """Remember the result; None where following broke off."""
        asked, self._asked = self._asked, around
        around.met |= asked.met
        around.hops = max(around.hops, asked.hops)
        around.gave_up |= asked.gave_up or found is None
        if found is None or asked.gave_up or not all(leaf.way.hops[: len(way.hops)] == way.hops for leaf in found):
            return
        known = self._known.setdefault(_make_query_key(node, way), [])
        if len(known) < MOST:
            met, hops = frozenset(asked.met), max([asked.hops, *(len(leaf.way.hops) for leaf in found)])
            known.append(MemoEntry(found, node, way, met, met & way.seen, hops - len(way.hops)))


def _make_query_key(node: ast.expr, way: Trace) -> QueryKey:
    return id(node), id(way.frame), way.objects, way.kind, way.doubt, way.doubted_at, way.certain, way.handed


def _transfer_value(leaf: Value, since: Trace, way: Trace) -> Value:
    """A leaf of one way as if it had been found on another."""
    hops = (*way.hops, *leaf.way.hops[len(since.hops) :])
    seen = (leaf.way.seen - since.seen) | way.seen if since.seen <= leaf.way.seen else leaf.way.seen
    return replace(leaf, way=replace(leaf.way, hops=hops, seen=seen))
