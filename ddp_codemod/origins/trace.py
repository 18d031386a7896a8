"""Follows a value from where it is used to the expressions that it can start from."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

from msgspec.structs import replace

from ddp_codemod.kinds import Meaning, OriginKind
from ddp_codemod.model import Reason
from ddp_codemod.origins import loops, members, objects, options, parameters, pieces, unpacking
from ddp_codemod.origins.facts import Facts
from ddp_codemod.origins.fold import UNKNOWN, Known, truth
from ddp_codemod.origins.guards import fills_none
from ddp_codemod.origins.leaf import MAX_HOPS, Current, Default, Frame, Leaf, Way
from ddp_codemod.parse.python import Module
from ddp_codemod.rules.backend import assess
from ddp_codemod.rules.load import Rules
from ddp_codemod.rules.model import Platform
from ddp_codemod.sites.commands import Commands
from ddp_codemod.sites.composed import Composed
from ddp_codemod.sites.find import Finder
from ddp_codemod.sites.resolve import Definition, ModuleRef, Resolver, Variable
from ddp_codemod.sites.scopes import FUNCTIONS, Binding, owner, scope_of

MAX_STEPS, FEW_STEPS = 3_000, 200  # of one trace; ways multiply where a name is set many times from itself
LOOK_UPS = frozenset({"get", "pop", "setdefault"})  # methods of a mapping: of a key, and what holds where it is not there
TEXT_CHANGES = frozenset({"lower", "upper", "strip", "casefold"})  # methods that leave a name the same name


class Tracer:
    """Tracing on one platform: branches that its facts exclude are not followed."""

    def __init__(self, resolver: Resolver, facts: Facts, rules: Rules, platform: Platform) -> None:
        self.resolver, self.facts, self.rules, self.platform = resolver, facts, rules, platform
        self.idioms = rules.idioms
        entries = (entry for known in rules.idioms for entry in known.config_entry)
        self.composed = Composed(resolver.project, resolver, entries)
        self.commands = Commands(resolver.project, resolver, rules.idioms)
        self._steps, self._open = 0, False  # taken in the trace that is open
        self._most = MAX_STEPS  # half as many each time that they were not enough, so that the whole run comes to an end
        self.reads_settings: bool | None = None  # worked out once: whether the project reads Python files as configuration
        self.memory: dict[str, Any] = {}  # what the modules beside this one work out once for a project
        self.device_types = {device for other in rules.platforms.values() for device in other.device_types}

    @cached_property
    def finder(self) -> Finder:
        """Knows the surfaces by their names."""
        return Finder(self.rules.surfaces.values(), self.resolver, frozenset())

    @cached_property
    def backend_parameters(self) -> frozenset[str]:
        """Names of backend parameters that stand for nothing else: ``process_group_backend``, never a plain ``backend``."""
        every = {part.name for surface in self.rules.surfaces.values() for part in surface.parameters if part.role == "backend"}
        return frozenset(name for name in every if "_" in name)

    def could_be_value(self, text: str) -> bool:
        """Whether a text can be what a parameter of interest takes: a backend (of a device each, in a composite) or a URL."""
        return "://" in text or all(part.rpartition(":")[2].lower() in self.rules.backends for part in text.split(","))

    def trace(self, module: Module, node: ast.expr, way: Way | None = None) -> list[Leaf]:
        """All leaves of an expression, each once; [] where it can only come from itself."""
        way = way or Way()
        key = (id(node), id(way.frame))
        if key in way.seen:
            return []
        if len(way.hops) > MAX_HOPS:
            again = any(known == id(node) for known, _ in way.seen)  # a function that calls itself
            return [] if again else [self.unknown(module, node, way, "why-too-far")]
        if not self._open:
            return self._outermost(module, node, way, key)
        self._steps += 1
        if self._steps > self._most and not isinstance(node, ast.Constant):
            return [self.unknown(module, node, way, "why-too-far")]
        return list(self._trace(module, node, replace(way, seen=way.seen | {key})))

    def _outermost(self, module: Module, node: ast.expr, way: Way, key: tuple[int, int]) -> list[Leaf]:
        """A trace that no other waits for: what nests too deep, or leads on without end, is not known."""
        self._steps, self._open = 0, True
        try:
            return list(self._trace(module, node, replace(way, seen=way.seen | {key})))
        except RecursionError:
            return [self.unknown(module, node, way, "why-too-far")]
        finally:
            self._open = False
            if self._steps > self._most:
                self._most = max(FEW_STEPS, self._most // 2)

    def unknown(self, module: Module, node: ast.AST, way: Way, key: str, means: Meaning | None = None, /, **args: object) -> Leaf:
        """A leaf whose value is not known, and why."""
        return Leaf(module, node, OriginKind.UNKNOWN, UNKNOWN, Reason.of(key, means, **args), way)

    def _trace(self, module: Module, node: ast.expr, way: Way) -> Iterable[Leaf]:
        if isinstance(node, ast.Constant):
            return [Leaf(module, node, way.kind, Known(node.value), None, way)]
        if isinstance(node, (ast.IfExp, ast.BoolOp)):
            return self._choice(module, node, way)
        if isinstance(node, ast.NamedExpr):
            return self.trace(module, node.value, way)
        if isinstance(node, ast.Name):
            return self._name(module, node, way)
        if isinstance(node, ast.Attribute):
            return members.trace_attribute(self, module, node, way)
        if isinstance(node, ast.Subscript):
            return members.trace_subscript(self, module, node, way)
        if isinstance(node, ast.Call):
            return self._call(module, node, way)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):  # two mappings
            return [Leaf(module, node, OriginKind.OBJECT, UNKNOWN, Reason.of("why-expression", text=module.text(node)), way)]
        if isinstance(node, (ast.JoinedStr, ast.BinOp)):
            value = self.facts.fold(module, node, way.frame)
            if isinstance(value, Known) and not (self._is_wrong(value) and self._has_names(module, node, way)):
                return [Leaf(module, node, way.kind, value, None, way)]
            put_together = pieces.trace_pieces(self, module, node, way)
            if put_together is not None:
                return put_together
            return [self.unknown(module, node, way, "why-text-built", text=module.text(node))]
        if isinstance(node, (ast.Dict, ast.List, ast.Tuple, ast.Set, ast.Lambda)):
            return [Leaf(module, node, OriginKind.OBJECT, UNKNOWN, Reason.of("why-expression", text=module.text(node)), way)]
        return [self.unknown(module, node, way, "why-expression", text=module.text(node))]

    def _has_names(self, module: Module, node: ast.expr, way: Way) -> bool:
        """Whether a text is put together of variables that hold names of backends, which one text in its place would lose."""
        held = (self.facts.fold(module, piece, way.frame) for piece in pieces.pieces(node) or () if isinstance(piece, ast.expr))
        return any(isinstance(value, Known) and value.value in self.rules.backends for value in held)

    def _is_wrong(self, value: Known) -> bool:
        """Whether a text names a backend that the platform does not have."""
        return (
            isinstance(value.value, str)
            and self.could_be_value(value.value)
            and "://" not in value.value
            and assess(value.value, self.platform.backend, self.rules.backends).wanted is not None
        )

    def _choice(self, module: Module, node: ast.IfExp | ast.BoolOp, way: Way) -> list[Leaf]:
        """The parts of a ternary, or of an ``or``, that can be what it gives on the platform."""
        parts: list[ast.expr] = []
        if isinstance(node, ast.IfExp):
            known = self.facts.truth(module, node.test, way.frame)
            way = way.hop(module.place(node.test), _folded(module, node.test, known))
            parts = [node.body, node.orelse] if known is None else [node.body] if known else [node.orelse]
        else:
            ends = isinstance(node.op, ast.Or)
            for part in node.values[:-1]:
                known = self.facts.truth(module, part, way.frame)
                if known is not (not ends):
                    parts.append(part)
                if known is ends:
                    break
            else:
                parts.append(node.values[-1])
        found: list[Leaf] = []
        for part in parts:
            for leaf in self.trace(module, part, way):
                falsy = isinstance(leaf.value, Known) and truth(leaf.value) is False
                if isinstance(node, ast.BoolOp) and part is not node.values[-1]:
                    if falsy and isinstance(node.op, ast.Or):
                        continue  # None or "" in front of an ``or`` is never what comes out
                    if isinstance(node.op, ast.And) and not (isinstance(leaf.value, Known) and leaf.value.value is None):
                        continue  # in front of an ``and`` nothing else is, but for None
                inside = leaf.module is module and (leaf.node is part or leaf.outer is part)
                if inside and isinstance(node, ast.IfExp):
                    leaf = replace(leaf, outer=node, decided=leaf.decided and len(parts) == 1)
                found.append(leaf)
        return found

    def _name(self, module: Module, node: ast.Name, way: Way) -> list[Leaf]:
        home = owner(module, scope_of(module, node), node.id)
        if home is None:
            return self._imported(module, node, way)
        definitions = self.facts.definitions(module, node)
        return self.follow(module, home, node, definitions, way)

    def follow(self, module: Module, home: ast.AST, node: ast.AST, definitions: Sequence[Binding], way: Way) -> list[Leaf]:
        """The leaves of the bindings that can hold at ``node``."""
        found: list[Leaf] = []
        asking = {id(test): test for made in definitions if (test := fills_none(module, made)) is not None}
        for test in asking.values():  # ``if backend is None: backend = ...``: None does not get past it
            before = [made for made in definitions if getattr(made.node, "lineno", 0) < test.lineno]
            earlier = self.follow(module, home, node, before, way) if before else []
            found += (leaf for leaf in earlier if not (isinstance(leaf.value, Known) and leaf.value.value is None))
            definitions = [made for made in definitions if made not in before]
            if not definitions:
                return found
        for binding in definitions:
            if binding.kind == "parameter" and isinstance(home, FUNCTIONS):
                found += parameters.trace_parameter(self, module, home, binding, way)
            elif binding.kind == "value" and binding.value is not None:
                step = way.hop(module.place(binding.node), Reason.of("hop-assigned", name=binding.name), OriginKind.ASSIGNMENT)
                found += self.trace(module, binding.value, step)
            elif binding.kind == "unpack" and binding.value is not None:
                found += unpacking.trace_unpacked(self, module, binding, way)
            elif binding.kind == "import":
                found += self._imported(module, node, way, binding)
            elif binding.kind == "other" and (leaves := loops.trace_loop(self, module, binding, way)) is not None:
                found += leaves
            else:
                found.append(self.unknown(module, binding.node, way, "why-binding", name=binding.name))
        if not definitions:
            found.append(self.unknown(module, node, way, "why-unbound", text=module.text(node)))
        return found

    def _imported(self, module: Module, node: ast.AST, way: Way, binding: Binding | None = None) -> list[Leaf]:
        """A name that another module of the project gives its value."""
        name = ast.Name(binding.name) if binding else node
        if binding is not None:
            entities = self.resolver.variable(Variable(module, scope_of(module, binding.node), binding.name))
        else:
            entities = self.resolver.resolve(module, name) if isinstance(name, ast.expr) else []
        found: list[Leaf] = []
        for entity in entities:
            if isinstance(entity, Variable) and entity.module is not module:
                found += self.variable(entity, node, way)
            elif isinstance(entity, (Definition, ModuleRef)):
                found.append(self.unknown(module, node, way, "why-expression", text=module.text(node)))
        return found or [self.unknown(module, node, way, "why-import", text=module.text(node))]

    def variable(self, variable: Variable, node: ast.AST, way: Way) -> list[Leaf]:
        """The leaves of a variable of another module, as its code leaves it."""
        module, scope = variable.module, variable.scope
        made = self.facts.at_end(module, scope, variable.name)
        place = module.place(made[0].node) if made else None
        step = way.hop(place, Reason.of("hop-module", name=variable.name, file=module.name)) if place else way
        return self.follow(module, scope, node, made, step)

    def _call(self, module: Module, node: ast.Call, way: Way) -> list[Leaf]:
        names = self.resolver.names(module, node.func)
        for idioms in self.idioms:
            if any(name in idioms.default_functions for name in names):
                return [Leaf(module, node, OriginKind.PLATFORM_DEFAULT, Default(), None, way)]
            if any(name in idioms.current_functions for name in names):
                return [Leaf(module, node, OriginKind.CURRENT, Current(), None, way)]
            if any(name in idioms.backend_enums for name in names) and len(node.args) == 1:
                return self.trace(module, node.args[0], way)
        if isinstance(node.func, ast.Attribute):
            if node.func.attr in TEXT_CHANGES and not node.args:
                return self.trace(module, node.func.value, way)
            if node.func.attr in LOOK_UPS and node.args and not _is_position(node):
                return members.trace_get(self, module, node, way)
            if node.func.attr == "format" and (put_together := pieces.trace_pieces(self, module, node, way)) is not None:
                return put_together
        if isinstance(node.func, ast.Name):
            if node.func.id == "str" and len(node.args) == 1:
                return self.trace(module, node.args[0], way)
            if node.func.id == "getattr" and len(node.args) >= 2:
                return members.trace_getattr(self, module, node, way)
            if node.func.id == "dict":
                return [Leaf(module, node, OriginKind.OBJECT, UNKNOWN, Reason.of("why-expression", text="dict(...)"), way)]
        if any(name in ("os.getenv", "os.environ.get") for name in names):
            return members.trace_environment(self, module, node, way)
        declared = options.declared_default(self, module, node, names)
        if declared is not None:
            return self.trace(module, declared, way)
        return self._result(module, node, way)

    def _result(self, module: Module, node: ast.Call, way: Way) -> list[Leaf]:
        """What a function of the project returns for this call."""
        found: list[Leaf] = []
        for entity in self.resolver.resolve(module, node.func):
            if isinstance(entity, Definition) and isinstance(entity.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                found += self.returned(entity, way, parameters.frame(self, module, node, entity, way.frame))
        if (
            not found
            and isinstance(node.func, ast.Attribute)
            and objects.of_surface(self, module, node.func.value, node.func.attr)
        ):
            return [Leaf(module, node, OriginKind.HANDED_ON, way=way)]
        return found or [self.unknown(module, node, way, "why-call", text=_short(module.text(node.func)))]

    def returned(self, entity: Definition, way: Way, frame: Frame | None) -> list[Leaf]:
        """The leaves of a function's ``return`` statements that the platform can reach."""
        function, module = entity.node, entity.module
        step = replace(way, frame=frame).hop(
            module.place(function), Reason.of("hop-returns", name=function.name), OriginKind.RETURN
        )
        found: list[Leaf] = []
        for statement in module.nodes.get(ast.Return, ()):
            if isinstance(statement, ast.Return) and scope_of(module, statement) is function and statement.value is not None:
                if self.facts.unreachable(module, statement) is None:
                    found += self.trace(module, statement.value, step)
        return found


def _is_position(node: ast.Call) -> bool:
    """Whether a look-up is of a place in a list that changes with each of them: ``names.pop(0)``."""
    return len(node.args) == 1 and isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, int)


def _folded(module: Module, test: ast.expr, known: bool | None) -> Reason:
    key = "hop-condition-open" if known is None else "hop-condition-true" if known else "hop-condition-false"
    return Reason.of(key, text=_short(module.text(test)))


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 80 else text[:77] + "..."
