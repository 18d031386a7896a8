"""What the modules beside this one may ask of the evaluator, each of which follows one kind of expression."""

from __future__ import annotations

import ast
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

from msgspec.structs import replace

from ddp_codemod.catalog.load import Rules
from ddp_codemod.catalog.model import Platform
from ddp_codemod.dataflow.calls import CallArguments, Def
from ddp_codemod.dataflow.facts import Facts
from ddp_codemod.dataflow.fold import UNKNOWN
from ddp_codemod.dataflow.memo import Memo
from ddp_codemod.dataflow.values import MAX_HOPS, Trace, Value, ValueSet
from ddp_codemod.kinds import Meaning, OriginKind
from ddp_codemod.model import Reason, Skipped
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.command_functions import CommandFunctions
from ddp_codemod.sites.hydra_programs import HydraPrograms
from ddp_codemod.sites.imports import Imports
from ddp_codemod.sites.resolver import Resolver
from ddp_codemod.sites.surface_calls import Finder

_BETWEEN, _LONGEST = 80, 120  # bytes between the name of an option and its value, and of such a value
MAX_STEPS, FEW_STEPS = 3_000, 750  # of one trace; ways multiply where a name is set many times from itself


class Tracer(ABC):
    """Tracing on one platform: branches that its facts exclude are not followed.

    What is followed from more than one kind of expression is asked here, so that no module needs one that needs it.
    """

    def __init__(self, resolver: Resolver, facts: Facts, rules: Rules, platform: Platform) -> None:
        self.resolver, self.facts, self.rules, self.platform = resolver, facts, rules, platform
        self.idioms = rules.idioms
        entries = (entry for known in rules.idioms for entry in known.config_entry)
        self.composed = HydraPrograms(resolver.project, resolver, entries)
        self.commands = CommandFunctions(resolver.project, resolver, rules.idioms)
        self.answers = Memo()
        self._steps, self.open = 0, False  # taken in the trace that is open
        self._most = MAX_STEPS  # half as many each time that they were not enough, so that the whole run comes to an end
        self._cut = set[str]()  # the files that ask for something which was not followed to its end
        self._gave_up = False  # in the trace that is open
        self.reads_settings: bool | None = None  # worked out once: whether the project reads Python files as configuration
        self.memory: dict[str, Any] = {}  # what the modules beside this one work out once for a project
        self.tensors = {name for idioms in self.idioms for name in idioms.tensors}
        self.no_texts = {name for idioms in self.idioms for name in idioms.no_texts}
        self.device_types = {device for other in rules.platforms.values() for device in other.device_types}

    @abstractmethod
    def step(self, module: Module, node: ast.expr, way: Trace) -> Iterable[Value]:
        """The leaves of an expression by its kind; ``evaluate`` is what to ask, which keeps count."""

    @abstractmethod
    def entry(self, module: Module, mapping: ast.expr, key: ast.expr, way: Trace, whole: bool = False) -> list[Value] | None:
        """The leaves of what is under a key of a mapping; None where the project does not write the mapping out."""

    @abstractmethod
    def callers_of(self, module: Module, function: Def) -> list[CallArguments]:
        """Every place of the project that calls a function."""

    @cached_property
    def finder(self) -> Finder:
        """Knows the surfaces by their names."""
        return Finder(self.rules.surfaces.values(), self.resolver, frozenset())

    @cached_property
    def imports(self) -> Imports:
        """Which files import which."""
        return Imports(self.resolver.project)

    @cached_property
    def backend_parameters(self) -> frozenset[str]:
        """Names of backend parameters that stand for nothing else: ``process_group_backend``, never a plain ``backend``."""
        every = {part.name for surface in self.rules.surfaces.values() for part in surface.parameters if part.role == "backend"}
        return frozenset(name for name in every if "_" in name)

    def could_be_value(self, text: str) -> bool:
        """Whether a text can be what a parameter of interest takes: a backend (of a device each, in a composite) or a URL."""
        return "://" in text or all(part.rpartition(":")[2].lower() in self.rules.backends for part in text.split(","))

    @cached_property
    def value_ahead(self) -> re.Pattern[bytes]:
        """Matches where the next word of a command holds such a text, or something that it is put together from."""
        names = "|".join(map(re.escape, sorted(self.rules.backends)))
        word = rf"[^\s\"',]{{0,{_LONGEST}}}?(?:://|[$%{{!*`]|(?<![a-z0-9])(?:{names})(?![a-z0-9]))"
        return re.compile(rf"[\s=:,\"'\\\[\]^`-]{{0,{_BETWEEN}}}{word}".encode(), re.IGNORECASE)

    def evaluate(self, module: Module, node: ast.expr, way: Trace | None = None) -> ValueSet:
        """All that an expression can be, each once; nothing where it can only come from what it is asked for."""
        way = way or Trace()
        if way.is_over:
            return ValueSet()
        key = (id(node), id(way.frame))
        if key in way.seen:
            self.answers.met(key)
            return ValueSet()
        if len(way.hops) > MAX_HOPS:
            self.answers.gave_up()
            again = any(known == id(node) for known, _ in way.seen)  # a function that calls itself
            return ValueSet() if again else ValueSet((self.give_up_at(module, node, way),))
        on = replace(way, seen=way.seen | {key})
        if not self.open:
            found = self.follow_outermost(module, node, way, lambda: list(self.step(module, node, on)))
            return ValueSet.of(found or [self.unknown(module, node, way, "why-itself", text=module.text(node))])
        if isinstance(node, ast.Constant):
            return ValueSet(tuple(self.step(module, node, on)))
        if self.spent():
            self.answers.gave_up()
            return ValueSet((self.give_up_at(module, node, way),))
        if (known := self.answers.recall(node, way)) is not None:
            self._steps += len(known)  # what is found at one place over many ways multiplies as ways do
            return known
        around = self.answers.begin(key, way)
        answer = None
        try:
            answer = ValueSet.of(self.step(module, node, on))
        finally:
            self.answers.end(around, node, way, answer)
        return answer

    def spent(self) -> bool:
        """Count a step of the trace that is open; whether it has taken more than it may."""
        self._steps += 1
        return self.is_spent

    @property
    def is_spent(self) -> bool:
        """Whether the trace that is open has taken more steps than it may, so that what it finds is not all."""
        return self._steps > self._most

    def descend(self, module: Module, node: ast.expr, keys: Sequence[str], way: Trace) -> list[Value]:
        """The leaves of what is under a path of keys of a mapping; [] where the keys are not there."""
        if not keys:
            return list(self.evaluate(module, node, way))
        found: list[Value] = []
        for leaf in self.entry(module, node, ast.Constant(keys[0]), way) or []:
            if len(keys) == 1:
                found.append(leaf)
            elif leaf.kind == OriginKind.OBJECT:
                # what was just reached is gone into: it is not met a second time
                found += self.descend(*leaf.code, keys[1:], replace(leaf.way, seen=frozenset()))  # type: ignore[arg-type]
        return found

    def follow_outermost(
        self, module: Module, node: ast.expr, way: Trace, follow: Callable[[], list[Value] | None]
    ) -> list[Value] | None:
        """What is followed where nothing else waits for it: what nests too deep, or leads on without end, is not known."""
        self._steps, self.open, self._gave_up = 0, True, False
        self.answers.forget()
        try:
            return follow()
        except RecursionError:
            return [self.give_up_at(module, node, way)]
        finally:
            self.open = False
            if self._gave_up:
                self._cut.add(module.name)
            if self._steps > self._most:
                self._most = max(FEW_STEPS, self._most // 2)

    def unknown(
        self, module: Module, node: ast.AST, way: Trace, key: str, means: Meaning | None = None, /, **args: object
    ) -> Value:
        """A leaf whose value is not known, and why."""
        return Value(module, node, OriginKind.UNKNOWN, UNKNOWN, Reason.of(key, means, **args), way.reached())

    def give_up_at(self, module: Module, node: ast.expr, way: Trace) -> Value:
        """A leaf where the tracer gives up: the reason names the place, so that a user goes on from there."""
        self._gave_up = True
        return self.unknown(module, node, way, "why-too-far", where=f"{module.name}:{module.line(node)}")

    def list_unfinished_files(self) -> Iterable[Skipped]:
        """The files that ask for something which was not followed to its end."""
        return (Skipped(name, Reason.of("skipped-too-far"), candidate=True) for name in sorted(self._cut))
