"""What the modules beside this one may ask of the evaluator, each of which follows one kind of expression."""

from __future__ import annotations

import ast
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cached_property, partial
from typing import Any, TypeVar

from msgspec.structs import replace

from ddp_codemod.catalog.load import Rules
from ddp_codemod.catalog.model import Platform
from ddp_codemod.dataflow.calls import CallArguments, Def
from ddp_codemod.dataflow.facts import Facts
from ddp_codemod.dataflow.fold import UNKNOWN
from ddp_codemod.dataflow.solver import Solver
from ddp_codemod.dataflow.values import Trace, Value, ValueSet
from ddp_codemod.kinds import Meaning, OriginKind
from ddp_codemod.model import Reason, Skipped
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.command_functions import CommandFunctions
from ddp_codemod.sites.hydra_programs import HydraPrograms
from ddp_codemod.sites.imports import Imports
from ddp_codemod.sites.resolver import Resolver
from ddp_codemod.sites.surface_calls import Finder

T = TypeVar("T")
_BETWEEN, _LONGEST = 80, 120  # bytes between the name of an option and its value, and of such a value


class Tracer(ABC):
    """Tracing on one platform: branches that its facts exclude are not followed.

    What is followed from more than one kind of expression is asked here, so that no module needs one that needs it.
    """

    def __init__(
        self, resolver: Resolver, facts: Facts, rules: Rules, platform: Platform, names: Iterable[str] | None = None
    ) -> None:
        self.resolver, self.facts, self.rules, self.platform = resolver, facts, rules, platform
        # What a value of interest is called; None: the backends. Files and commands are not asked for other texts.
        self.value_names = frozenset(rules.backends if names is None else names)
        self.idioms = rules.idioms
        entries = (entry for known in rules.idioms for entry in known.config_entry)
        self.composed = HydraPrograms(resolver.project, resolver, entries)
        self.commands = CommandFunctions(resolver.project, resolver, rules.idioms)
        self.solver = Solver()
        self._cut = set[str]()  # the files that ask for something which was not followed to its end
        self.reads_settings: bool | None = None  # worked out once: whether the project reads Python files as configuration
        self.memory: dict[str, Any] = {}  # what the modules beside this one work out once for a project
        self.tensors = {name for idioms in self.idioms for name in idioms.tensors}
        self.no_texts = {name for idioms in self.idioms for name in idioms.no_texts}
        self.device_types = {device for other in rules.platforms.values() for device in other.device_types}

    @abstractmethod
    def step(self, module: Module, node: ast.expr, trace: Trace) -> Iterable[Value]:
        """The sources of an expression by its kind; ``evaluate`` is what to ask, which keeps count."""

    @abstractmethod
    def entry(self, module: Module, mapping: ast.expr, key: ast.expr, trace: Trace, whole: bool = False) -> list[Value] | None:
        """The sources of what is under a key of a mapping; None where the project does not write the mapping out."""

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
        return "://" in text or all(part.rpartition(":")[2].lower() in self.value_names for part in text.split(","))

    def of_other_names(self, names: Iterable[str]) -> Tracer:
        """The same for values of these names, such as the texts that stand for a framework's objects."""
        wanted = frozenset(names)
        known: dict[frozenset[str], Tracer] = self.memory.setdefault("of other names", {})
        if wanted not in known:
            known[wanted] = type(self)(self.resolver, self.facts, self.rules, self.platform, wanted)
        return known[wanted]

    @cached_property
    def value_ahead(self) -> re.Pattern[bytes]:
        """Matches where the next word of a command holds such a text, or something that it is put together from."""
        names = "|".join(map(re.escape, sorted(self.value_names)))
        word = rf"[^\s\"',]{{0,{_LONGEST}}}?(?:://|[$%{{!*`]|(?<![a-z0-9])(?:{names})(?![a-z0-9]))"
        return re.compile(rf"[\s=:,\"'\\\[\]^`-]{{0,{_BETWEEN}}}{word}".encode(), re.IGNORECASE)

    def evaluate(self, module: Module, node: ast.expr, trace: Trace | None = None) -> ValueSet:
        """All that an expression can be, each once; nothing where it can only come from what it is asked for."""
        trace = trace or Trace()
        if trace.is_over:
            return ValueSet()
        if isinstance(node, ast.Constant):
            return ValueSet(tuple(self.step(module, node, trace)))
        if trace.frame is not None and trace.frame.within(module, node) is None:
            trace = trace.inside(None)
        is_outermost = self.solver.is_idle
        found = self.ask(module, node, trace, (), partial(self.step, module, node))
        if is_outermost and not found:
            return ValueSet((self.unknown(module, node, trace, "why-itself", text=module.text(node)),))
        return found or ValueSet()

    def ask(
        self,
        module: Module,
        node: ast.AST,
        trace: Trace,
        of: tuple[Hashable, ...],
        follow: Callable[[Trace], Iterable[Value] | None],
    ) -> ValueSet | None:
        """The answer to a question about an expression (``of``: which), followed once for all ways that lead here.

        None where the question does not apply to the expression.
        """
        is_outermost = self._begin()
        if self.solver.is_spent:
            return ValueSet((self.give_up_at(module, node, trace),))
        on = trace.alone()
        try:
            key = (id(node), *of, *trace.question)
            found: ValueSet | None = self.solver.ask(key, partial(follow, on), ValueSet(), (module, node, trace.frame)).answer
            if is_outermost and self.solver.is_cut and not any(source.is_lost for source in found or ()):
                found = ValueSet((*(found or ()), self.give_up_at(module, node, on)))
        except RecursionError:
            if not is_outermost:
                raise
            last, at, _ = self.solver.deepest or (module, node, None)
            found = ValueSet((self.give_up_at(last, at, on),))
        finally:
            self._end(module, is_outermost)
        if not found or on is trace:
            return found
        return ValueSet(tuple(replace(source, trace=trace.followed_by(source.trace)) for source in found))

    def ask_once(self, module: Module, key: tuple[Hashable, ...], follow: Callable[[], T], nothing: T) -> T:
        """What is asked of a node wherever the question comes from; ``nothing`` while it waits for itself."""
        if key in module.cache:
            return module.cache[key]  # type: ignore[return-value]
        is_outermost = self._begin()
        try:
            query = self.solver.ask((id(module), *key), follow, nothing)
        except RecursionError:
            if not is_outermost:
                raise
            self.solver.is_cut = True
            return nothing
        finally:
            self._end(module, is_outermost)
        if not query.waits and not self.solver.is_cut:
            module.cache[key] = query.answer
        return query.answer  # type: ignore[no-any-return]

    def _begin(self) -> bool:
        """Whether a question is one that nothing else waits for."""
        is_outermost = self.solver.is_idle
        if is_outermost:
            self.solver.begin()
        return is_outermost

    def _end(self, module: Module, is_outermost: bool) -> None:
        """Note the file whose question was not followed to its end."""
        if is_outermost:
            self.solver.end()
            if self.solver.is_cut:
                self._cut.add(module.name)

    def descend(self, module: Module, node: ast.expr, keys: Sequence[str], trace: Trace) -> list[Value]:
        """The sources of what is under a path of keys of a mapping; [] where the keys are not there."""
        if not keys:
            return list(self.evaluate(module, node, trace))
        found: list[Value] = []
        for source in self.entry(module, node, ast.Constant(keys[0]), trace) or []:
            if len(keys) == 1:
                found.append(source)
            elif source.kind == OriginKind.OBJECT:
                found += self.descend(*source.code, keys[1:], source.trace)  # type: ignore[arg-type]
        return found

    def unknown(
        self, module: Module, node: ast.AST, trace: Trace, key: str, means: Meaning | None = None, /, **args: object
    ) -> Value:
        """A source whose value is not known, and why."""
        return Value(module, node, OriginKind.UNKNOWN, UNKNOWN, Reason.of(key, means, **args), trace)

    def give_up_at(self, module: Module, node: ast.AST, trace: Trace) -> Value:
        """A source where the tracer gives up: the reason names the place, so that a user goes on from there."""
        self.solver.is_cut = True
        return self.unknown(module, node, trace, "why-too-far", where=f"{module.name}:{module.line(node)}")

    def list_unfinished_files(self) -> Iterable[Skipped]:
        """The files that ask for something which was not followed to its end."""
        return (Skipped(name, Reason.of("skipped-too-far"), candidate=True) for name in sorted(self._cut))
