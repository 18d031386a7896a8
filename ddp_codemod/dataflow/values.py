"""What tracing yields: sources, and the trace that led to them."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterable, Iterator
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from ddp_codemod.dataflow.fold import UNKNOWN, FoldResult
from ddp_codemod.kinds import Meaning, OriginKind
from ddp_codemod.model import Place, Reason, Step
from ddp_codemod.parse.python import Module
from ddp_codemod.parse.tree import Node, Tree, place_of, text_of
from ddp_codemod.sites.scopes import scope_of

MAX_DEPTH = 3  # of calls that are kept apart by what they hand over; what lies deeper is what any call can hand over


class PlatformDefault(Struct, frozen=True):
    """The value that torch itself picks for the device."""


class CurrentBackend(Struct, frozen=True):
    """The backend of a group that exists already."""


class Frame(Struct, frozen=True, eq=False):
    """A call that is being followed into: what its function's parameters are bound to."""

    function: ast.AST
    bound: dict[str, tuple[Module, ast.expr, Frame | None]]
    around: Frame | None = None
    spread: tuple[tuple[Module, ast.expr, Frame | None], ...] = ()  # the mappings that the call unpacks
    callers: tuple[ast.AST, ...] = ()  # the functions that it is called from, as far as they are kept apart

    def find(self, function: ast.AST) -> Frame | None:
        """The frame of a function, here or in the calls around."""
        at: Frame | None = self
        while at is not None and at.function is not function:
            at = at.around
        return at

    def within(self, module: Module, node: ast.AST) -> Frame | None:
        """This frame where it binds parameters that code at a node can read, else None."""
        scope: ast.AST | None = scope_of(module, node)
        while scope is not None and scope is not module.tree:
            if self.find(scope) is not None:
                return self
            scope = scope_of(module, scope)
        return None


class Confidence(Enum):
    """Why what is found on a way may not be the result."""

    NAME = "name"  # nothing but a name leads there: a candidate for review, never an edit
    REPLACED = "replaced"  # a decorator may hand over another value, so that a right one is not surely the result either
    OTHERS = "others"  # the object may also come from code that is not read
    DEFAULT = "default"  # what it replaces may have a value of its own


class Trace(Struct, frozen=True):
    """How tracing got here."""

    kind: OriginKind = OriginKind.LITERAL  # what the next literal is
    steps: tuple[Step, ...] = ()  # of the shortest way ...
    others: frozenset[Step] = frozenset()  # ... and those of longer ones that lead from and to the same
    frame: Frame | None = None
    doubt: Confidence | None = None
    doubted_at: str = ""  # source text of what the doubt is about
    certain: bool = False  # goes no further where nothing but a name leads, or an annotation says that it is no text ...
    near: bool = False  # ... nor through several functions that hand it on, nor into options and settings: for tensors
    handed: int = 0  # how many functions have handed the value on; 0 where that does not matter

    @property
    def is_over(self) -> bool:
        """Whether what lies further on does not count."""
        return self.handed > 1 or (self.certain and self.doubt is Confidence.NAME)

    @property
    def passed(self) -> tuple[Step, ...]:
        """Every step of every way, but of the longer ones those that bind a name; the shortest first."""
        rest = self.others.difference(self.steps)
        return (*self.steps, *sorted(rest, key=_make_sort_key)) if rest else self.steps

    @property
    def question(self) -> tuple[Hashable, ...]:
        """What the answer further on depends on."""
        return id(self.frame), self.kind, self.doubt, self.doubted_at, self.certain, self.near, self.handed

    def alone(self) -> Trace:
        """The same way as if it began here."""
        return replace(self, steps=(), others=frozenset()) if self.steps or self.others else self

    def followed_by(self, further: Trace) -> Trace:
        """The way on which another goes on that began where this one ends."""
        if not self.steps and not self.others:
            return further
        return replace(further, steps=self.steps + further.steps, others=self.others | further.others)

    def with_doubt(self, doubt: Confidence | None, text: str = "") -> Trace:
        """The same way, which leads no further than a guess; the graver doubt stays."""
        if doubt is None or (self.doubt is not None and doubt is not Confidence.NAME):
            return self
        return replace(self, doubt=doubt, doubted_at=" ".join(text.split()))

    def inside(self, frame: Frame | None) -> Trace:
        """The same way in another frame."""
        return replace(self, frame=frame)

    def step(self, place: Place, reason: Reason, kind: OriginKind | None = None) -> Trace:
        """One step further."""
        handed = self.handed + 1 if self.near and reason.means is Meaning.ARGUMENT else self.handed
        return replace(self, steps=(*self.steps, Step(place, reason)), kind=kind or self.kind, handed=handed)


def _make_sort_key(step: Step) -> tuple[object, ...]:
    return step.place.name, step.place.start, step.place.end, str(step.reason)


_GIVEN = frozenset(
    {
        OriginKind.OPTION_DEFAULT, OriginKind.FIELD_DEFAULT, OriginKind.ENVIRONMENT_DEFAULT, OriginKind.CONFIG_KEY,
        OriginKind.COMMAND_LINE, OriginKind.LAUNCH, OriginKind.LAUNCH_VARIABLE, OriginKind.KEY_DEFAULT, OriginKind.PARAMETER_DEFAULT,
    }
)  # fmt: skip


class Value(Struct, frozen=True):
    """An expression that a value can start from, and what it gives."""

    module: Tree
    node: Node
    kind: OriginKind
    value: FoldResult | PlatformDefault | CurrentBackend = UNKNOWN
    why: Reason | None = None  # of an unknown value: what stopped the trace
    trace: Trace = Trace()
    outer: ast.expr | None = None  # the whole conditional expression that this is a branch of
    open: bool = False  # not a value, but a place where one may come from unseen: a mapping that is not known
    decided: bool = True  # the platform decides every condition of ``outer``

    @property
    def is_lost(self) -> bool:
        """Whether what it gives is not understood; what the user gives at run time is the user's."""
        return self.kind == OriginKind.UNKNOWN and self.why is not None and self.why.means is not Meaning.GIVEN_AT_START

    @property
    def is_given(self) -> bool:
        """Whether who starts the program, or calls the function, may give something else than the project's own files say."""
        given = self.kind in _GIVEN or self.trace.kind in _GIVEN
        return given or any(step.reason.means is Meaning.GIVEN_AT_START for step in self.trace.passed)

    @property
    def key(self) -> tuple[Hashable, ...]:
        """What two that are one have in common, as far as it can be looked up."""
        return id(self.node), self.kind, *self.trace.question

    def is_same(self, other: Value) -> bool:
        """Whether two of one ``key`` are one, by whatever steps their ways lead there."""
        same = self.outer is other.outer and self.open is other.open and self.decided is other.decided
        return same and self.value == other.value and self.why == other.why

    def joined(self, other: Value) -> Value:
        """One of two that are the same, on the shorter way."""
        short, long = (self, other) if len(self.trace.steps) <= len(other.trace.steps) else (other, self)
        more = [step for step in long.trace.steps if step.reason.means is not Meaning.NAMED and step not in short.trace.steps]
        if short.trace.others.issuperset(more) and long.trace.others <= short.trace.others:
            return short
        return replace(short, trace=replace(short.trace, others=short.trace.others.union(long.trace.others, more)))

    @property
    def place(self) -> Place:
        """Where the expression is."""
        return place_of(self.module, self.node)

    @property
    def code(self) -> tuple[Module, ast.AST]:
        """The module and node of a source that is in Python code."""
        assert isinstance(self.module, Module)
        assert isinstance(self.node, ast.AST)
        return self.module, self.node

    @property
    def text(self) -> str:
        """Source text of the expression."""
        return text_of(self.module, self.node)


class ValueSet(Struct, frozen=True, eq=False):
    """All that an expression can be: the answer to the one question that callees, objects, arguments and values ask."""

    values: tuple[Value, ...] = ()

    @staticmethod
    def of(found: Iterable[Value]) -> ValueSet:
        """What was found, each once: of several ways that lead to the same place the shortest is told."""
        values = [*found]
        if len(values) > 1:
            known: list[Value] = []
            alike: dict[tuple[Hashable, ...], list[int]] = {}
            for source in values:
                same = alike.setdefault(source.key, [])
                at = next((number for number in same if known[number].is_same(source)), None)
                if at is None:
                    same.append(len(known))
                    known.append(source)
                else:
                    known[at] = known[at].joined(source)
            values = known
        return ValueSet(tuple(values))

    def __iter__(self) -> Iterator[Value]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def closed(self) -> bool:
        """Whether each way that leads here is known to its end: nothing in the project that can reach the place is unread."""
        return self.why is None

    @property
    def why(self) -> Value | None:
        """What keeps it open: the first that is not understood, else the first that is only guessed to reach the place."""
        lost = next((source for source in self.values if source.is_lost), None)
        return lost or next((source for source in self.values if source.trace.doubt is not None), None)
