"""Where a value goes that is an argument of a call: into parameters, fields, options, other texts, or code that is not read."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from ddp_codemod.catalog.idioms import Flag
from ddp_codemod.dataflow.callers import run_through
from ddp_codemod.dataflow.calls import default_of, is_value, names_of, parameter_for
from ddp_codemod.dataflow.declared_options import destination, flags_of
from ddp_codemod.dataflow.options import declared_default
from ddp_codemod.dataflow.run_by import functions_run
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.model import Place
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.sites.entities import Definition
from ddp_codemod.sites.words import Words

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COPYING = frozenset(
    {"dict", "OrderedDict", "ChainMap", "copy", "deepcopy", "list", "tuple", "sorted", "set", "MappingProxyType"}
    | {"vars", "asdict", "Namespace", "SimpleNamespace", "to_container"}
)
_SIGNATURES = Words(["signature", "getfullargspec", "getargspec", "__defaults__", "__kwdefaults__"])  # tell a function's defaults
_TEXTS = frozenset({"str", "repr", "format", "hash"})  # what these give holds all of an object
_DUMPS = frozenset({"dumps", "pformat", "to_yaml", "to_json", "model_dump_json"})  # ... and so does what these do
_WRITING = frozenset({"dump", "safe_dump", "dump_all", "save"})  # write an object to a file
_CACHES = frozenset({"cache", "lru_cache"})  # decorators under which a function runs once for the same arguments
SAME = ("same",)  # stands for the path that a step has already
Path = tuple[object, ...]  # the keys under which a value stands in lists and tables; "*" for any


class Step(Struct, frozen=True):
    module: Module
    node: ast.expr
    carrier: ast.expr
    sure: bool = True
    key: Path = ()  # in the list or table that the expression gives


class ArgumentSteps(ABC):
    """The part of the walk that knows calls; the rest of it is asked through the abstract methods."""

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer
        self._calls: dict[Place, str] = {}  # the calls that are known to hand the value on, and the parameter that takes it
        self._ways: set[Place] = set()  # what the value passes, as far as that is known

    @abstractmethod
    def _go(self, at: Step, node: ast.expr, module: Module | None = None, derived: bool = False, key: Path = SAME) -> None:
        """Go on with an expression that gives the value."""

    @abstractmethod
    def _end(self, at: Step, ends: bool = False) -> None:
        """Nothing follows the value any further."""

    @abstractmethod
    def _word(self, word: str, key: Path = ()) -> None:
        """Go on with what reads an attribute, a key or an option by a word."""

    @abstractmethod
    def _reads(self, at: Step, module: Module, home: ast.AST, name: str) -> None:
        """Go on with what reads a name of a scope."""

    @abstractmethod
    def _stored(self, at: Step, target: ast.expr) -> None:
        """Go on with what reads the target of an assignment."""

    @abstractmethod
    def _field(self, at: Step, node: ast.AST) -> None:
        """Go on with what the assignment around an expression gives its value."""

    def _default(self, at: Step, arguments: ast.arguments) -> None:
        function = at.module.parents.get(arguments)
        for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            if isinstance(function, _FUNCTIONS) and default_of(function, argument.arg) is at.node:
                self._reads(at, at.module, function, argument.arg)
                if self._is_looked_through(at.module, function):
                    self._end(at, ends=True)
                self._word_of_options(at.module, function, argument.arg)
            elif isinstance(function, ast.Lambda):
                self._end(at)

    def _is_looked_through(self, module: Module, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        """Whether a file that hands a function around asks functions for their parameters: ``inspect.signature``."""
        asks = _SIGNATURES.some(self.tracer.resolver.project.data(module.name))
        used = names_of(module, function.name) if asks else ()
        return any(is_value(module, node) for node in used if isinstance(node.ctx, ast.Load))

    def _word_of_options(self, module: Module, function: ast.AST, name: str) -> None:
        if isinstance(function, _FUNCTIONS) and function.name == "__init__":
            self._word(name)  # what makes the object may keep it under its own name

    def _lambda(self, at: Step, around: ast.Lambda) -> None:
        """What a function without a name gives: the default of a field, or the call's own business."""
        given = at.module.parents.get(around)
        if isinstance(given, ast.keyword) and given.arg == "default_factory":
            self._field(at, around)
        else:
            self._end(at)

    def _handed(self, at: Step, call: ast.Call, position: int | None, keyword: str | None, key: Path = SAME) -> None:
        """An argument: of a function of the project, of one that gives it on, or of code that is not read."""
        tracer, module, last = self.tracer, at.module, last_name(call.func)
        at = replace(at, key=at.key if key is SAME else key)
        derived = at.node is not at.carrier
        flag = next((one for one in flags_of(tracer) if last == one.method and _is_default(one, position, keyword)), None)
        if flag is not None and isinstance(call.func, ast.Attribute):
            if (name := destination(call, flag)) is not None:
                self._word(name)
                return
        if keyword is not None and any(last == one.defaults_method for one in flags_of(tracer)):
            self._word(keyword)
            return
        if at.key and (last in _TEXTS if isinstance(call.func, ast.Name) else last in _DUMPS):
            self._go(at, call, derived=True, key=())
            return
        if at.key and (spawned := self._calls.get(module.place(call))) is not None:
            self._word_of_parameters(spawned, derived=False)  # ``spawn(worker, args=(rank, backend))``
            return
        if at.key and self._run_through(at, call):
            return
        if at.key and module.place(call) in self._ways:
            self._go(at, call, derived=True)  # the value was found through this call, which keeps the entries
            return
        targets = [] if isinstance(position, int) and self._after_star(call, position) else functions_run(tracer, module, call)
        for home, function, skip in targets:
            name = parameter_for(function, keyword, position, skip)
            if name is not None:
                self._reads(at, home, function, name)
                if any(last_name(one.func if isinstance(one, ast.Call) else one) in _CACHES for one in function.decorator_list):
                    self._end(at, ends=True)  # what is kept is found under the argument
            elif keyword is not None and function.args.kwarg is not None:
                self._word(keyword, at.key)
                self._reads(replace(at, key=(keyword, *at.key)), home, function, function.args.kwarg.arg)
            elif position is not None and function.args.vararg is not None:
                plain = len(function.args.posonlyargs) + len(function.args.args)
                self._reads(replace(at, key=(position + skip - plain, *at.key)), home, function, function.args.vararg.arg)
            else:
                self._end(at, ends=True)
        if targets or self._made_object(at, call, position, keyword):
            return
        if (taken := self._calls.get(module.place(call))) is not None:
            self._word_of_parameters(taken, derived)
            return
        if keyword is not None and last in ("replace", "_replace"):  # a copy of the object, with this field
            self._word(keyword, at.key)
            self._go(at, call, derived=True, key=(keyword, *at.key))
            return
        if keyword is not None and module.place(call) in self._ways:  # the value was found through this call
            self._word(keyword, at.key)
            return
        if self._gives_on(module, call, last, position, keyword):
            self._go(at, call, derived=derived)
        elif at.key and last in _WRITING:
            if isinstance(at.key[0], str) and at.key[0] != "*":
                self._word(at.key[0], at.key[1:])  # another program may read what is written
            self._end(at)
        elif last in ("append", "add") and isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
            self._stored(replace(at, key=("*", *at.key)), call.func.value)
        elif last in ("format", "join") and isinstance(call.func, ast.Attribute):
            self._go(at, call, derived=True, key=())
        elif last in ("dict", "SimpleNamespace", "Namespace", "update", "namedtuple") and keyword is not None:
            if last == "dict":
                self._go(at, call, derived=True, key=(keyword, *at.key))
            else:
                self._word(keyword, at.key)
        elif last == "update" and at.key and at.key[0] != "*":
            self._word(str(at.key[0]), at.key[1:])
        elif at.key and (last in _COPYING or self._wraps(module, call)):
            self._go(at, call, derived=True)
        elif last == "setdefault" and position == 1 and isinstance(call.args[0], ast.Constant):
            if isinstance(call.func, ast.Attribute) and "os.environ" in tracer.resolver.names(module, call.func.value):
                self._end(at, ends=True)  # every process that is started from here may read it
            self._word(str(call.args[0].value))
            self._go(at, call)
        elif last == "setattr" and position is not None and len(call.args) == 3:
            if position == 2 and isinstance(call.args[1], ast.Constant):
                self._word(str(call.args[1].value))
        elif last == "getattr" and position == 0 and at.key and len(call.args) > 1:
            if not isinstance(call.args[1], ast.Constant) or call.args[1].value == at.key[0]:
                self._go(at, call, key=at.key[1:])
        elif (
            last in ("field", "Field", "attrib", "ib")
            and keyword in ("default", None)
            and isinstance(module.parents.get(call), (ast.Assign, ast.AnnAssign))
        ):
            self._field(at, call)
        elif declared_default(tracer, module, call, tracer.resolver.names(module, call.func)) is at.node:
            self._go(at, call)
        elif self._binds(module, call) and (position or keyword):
            self._bound(at, call, position, keyword)
        else:
            self._end(at)

    def _run_through(self, at: Step, call: ast.Call) -> bool:
        """Whether the call hands a tuple of arguments, or a table of them, to a function of the project that it runs later."""
        first, found = at.key[0], False
        for handed, given in run_through(self.tracer, at.module, call):
            for home, function, skip in functions_run(self.tracer, at.module, ast.Call(handed, [], [])):
                position = first + given.skip if isinstance(first, int) else None
                name = parameter_for(function, first if isinstance(first, str) else None, position, skip)
                if name is not None:
                    self._reads(replace(at, key=at.key[1:]), home, function, name)
                    found = True
        return found

    def _word_of_parameters(self, name: str, derived: bool) -> None:
        """Every parameter of this name, of a function that a call finds otherwise than by its name."""
        project = self.tracer.resolver.project
        for module in filter(None, map(project.module, project.mentioning(name))):
            for node in module.nodes.get(ast.arg, ()):
                if isinstance(node, ast.arg) and node.arg == name:
                    function, held = module.parents[module.parents[node]], ast.Name(name)
                    self._reads(Step(module, held, ast.Name(name) if derived else held, False), module, function, name)

    def _wraps(self, module: Module, call: ast.Call) -> bool:
        """Whether a call gives an object that has the entries of a mapping as its attributes."""
        kinds = {name for idioms in self.tracer.idioms for name in idioms.attribute_mappings}
        return not kinds.isdisjoint(self.tracer.resolver.names(module, call.func))

    def _gives_on(self, module: Module, call: ast.Call, last: str, position: int | None, keyword: str | None) -> bool:
        """Whether a call gives the argument back: ``str(x)``, ``Backend(x)``, ``get(key, x)``, ``cast(T, x)``."""
        if keyword in ("default", "fallback") or position == 1:
            if last in ("get", "pop", "getenv", "cast", "field"):
                return True
        if last == "getattr":
            return position == 2
        names = self.tracer.resolver.names(module, call.func)
        enums = {name for idioms in self.tracer.idioms for name in idioms.backend_enums}
        return position == 0 and (last in ("str", "deepcopy") or not enums.isdisjoint(names))

    def _made_object(self, at: Step, call: ast.Call, position: int | None, keyword: str | None) -> bool:
        """Whether the call makes an object of a class of the project that has no ``__init__``: its fields take the arguments."""
        for entity in self.tracer.resolver.resolve(at.module, call.func):
            if isinstance(entity, Definition) and isinstance(entity.node, ast.ClassDef):
                if keyword is not None:
                    self._word(keyword)
                    return True
                if at.key and any(last_name(base) in ("dict", "OrderedDict", "UserDict") for base in entity.node.bases):
                    self._go(at, call, derived=True)  # its entries are its attributes, or are looked up
                    return True
                names = [
                    name
                    for _, base in reversed(list(self.tracer.resolver.lineage(entity.module, entity.node)))
                    for name in _fields(base)
                ]
                if position is not None and position < len(names):
                    self._word(names[position])
                    return True
                self._end(at)
                return True
        return False

    def _binds(self, module: Module, call: ast.Call) -> bool:
        """Whether a call binds arguments of the function that is its first: ``partial``."""
        forwarders = (
            one for idioms in self.tracer.idioms for one in idioms.forwarder if one.function_position == 0 and one.args is None
        )
        return not {name for one in forwarders for name in one.names}.isdisjoint(self.tracer.resolver.names(module, call.func))

    def _bound(self, at: Step, call: ast.Call, position: int | None, keyword: str | None) -> None:
        inner = ast.Call(call.args[0], [], []) if call.args else call
        targets = functions_run(self.tracer, at.module, inner) if call.args else []
        for home, function, skip in targets:
            name = parameter_for(function, keyword, None if position is None else position - 1, skip)
            self._reads(at, home, function, name) if name is not None else self._end(at, ends=True)
        if not targets:
            self._end(at)

    def _after_star(self, call: ast.Call, position: int) -> bool:
        return any(isinstance(part, ast.Starred) for part in call.args[:position])


def _is_default(flag: Flag, position: int | None, keyword: str | None) -> bool:
    return keyword == flag.default if keyword is not None else position is not None and position == flag.default_position


def _fields(made: ast.ClassDef) -> Iterator[str]:
    return (part.target.id for part in made.body if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name))
