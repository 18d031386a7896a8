"""Where a value goes that is an argument of a call: into parameters, fields, options, other texts, or code that is not read."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from ddp_codemod.dataflow.attribute_hooks import find_setters
from ddp_codemod.dataflow.callees import callees_of
from ddp_codemod.dataflow.callers import find_forwarded_functions
from ddp_codemod.dataflow.calls import find_default, find_parameter
from ddp_codemod.dataflow.declared_options import find_destination, is_default, list_flags
from ddp_codemod.dataflow.name_reads import is_introspected
from ddp_codemod.dataflow.options import find_declared_default
from ddp_codemod.dataflow.shared_reads import find_shared_parses
from ddp_codemod.dataflow.text_fields import leaves_out
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.model import Place
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.sites.entities import Definition

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COPYING = frozenset(
    {"dict", "OrderedDict", "ChainMap", "copy", "deepcopy", "list", "tuple", "sorted", "set", "MappingProxyType"}
    | {"vars", "asdict", "Namespace", "SimpleNamespace", "to_container"}
)
_HOLDERS = frozenset({"dict", "SimpleNamespace", "Namespace", "update", "namedtuple"})  # keep a keyword under its own name
_TEXTS = frozenset({"str", "repr", "format", "hash"})  # what these give holds all of an object
_DUMPS = frozenset({"dumps", "pformat", "to_yaml", "to_json", "model_dump_json"})  # ... and so does what these do
_WRITING = frozenset({"dump", "safe_dump", "dump_all", "save"})  # write an object to a file
_CACHES = frozenset({"cache", "lru_cache"})  # decorators under which a function runs once for the same arguments
PARTS = ((".keywords",), (".args",))  # how the path of what an object of ``partial`` binds begins
SAME = ("same",)  # stands for the path that a step has already
Path = tuple[object, ...]  # the keys under which a value is in lists and tables; "*" for any


class WalkStep(Struct, frozen=True):
    module: Module
    node: ast.expr
    carrier: ast.expr
    sure: bool = True
    key: Path = ()  # in the list or table that the expression gives
    made: bool = False  # what is there is a text with the value in it


class ArgumentSteps(ABC):
    """The part of the walk that knows calls; the rest of it is asked through the abstract methods."""

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer
        self._calls: dict[Place, str] = {}  # the calls that are known to hand the value on, and the parameter that takes it
        self._traces: set[Place] = set()  # what the value passes, as far as that is known

    @abstractmethod
    def _enqueue(
        self, at: WalkStep, node: ast.expr, module: Module | None = None, derived: bool = False, key: Path = SAME
    ) -> None:
        """Go on with an expression that gives the value."""

    @abstractmethod
    def _record_read(self, at: WalkStep, ends: bool = False) -> None:
        """Nothing follows the value any further."""

    @abstractmethod
    def _follow_word(self, word: str, key: Path = ()) -> None:
        """Go on with what reads an attribute, a key or an option by a word."""

    @abstractmethod
    def _follow_name_reads(self, at: WalkStep, module: Module, home: ast.AST, name: str) -> None:
        """Go on with what reads a name of a scope."""

    @abstractmethod
    def _follow_store(self, at: WalkStep, target: ast.expr) -> None:
        """Go on with what reads the target of an assignment."""

    @abstractmethod
    def _follow_filled(self, at: WalkStep, call: ast.Call, position: int | None, keyword: str | None) -> None:
        """Go on with what reads the mapping that a call puts an argument into."""

    @abstractmethod
    def _follow_enclosing_assignment(self, at: WalkStep, node: ast.AST) -> None:
        """Go on with what the assignment around an expression gives its value."""

    def _follow_attribute_store(self, at: WalkStep, holder: ast.expr, name: str) -> None:
        """What reads an attribute of this name, and the code of the project that runs where it is set."""
        self._follow_word(name, at.key)
        for home, function, parameter in find_setters(self.tracer, at.module, holder, name):
            self._follow_name_reads(at, home, function, parameter)

    def _follow_default(self, at: WalkStep, arguments: ast.arguments) -> None:
        function = at.module.parents.get(arguments)
        for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            if isinstance(function, _FUNCTIONS) and find_default(function, argument.arg) is at.node:
                self._follow_name_reads(at, at.module, function, argument.arg)
                if is_introspected(self.tracer, at.module, function):
                    self._record_read(at, ends=True)
                self._follow_option_word(at.module, function, argument.arg)
            elif isinstance(function, ast.Lambda):
                self._record_read(at)

    def _follow_option_word(self, module: Module, function: ast.AST, name: str) -> None:
        if isinstance(function, _FUNCTIONS) and function.name == "__init__":
            self._follow_word(name)  # what makes the object may keep it under its own name

    def _follow_argument(self, at: WalkStep, call: ast.Call, position: int | None, keyword: str | None, key: Path = SAME) -> None:
        """An argument: of a function of the project, of one that gives it on, or of code that is not read."""
        tracer, module, last = self.tracer, at.module, last_name(call.func)
        at = replace(at, key=at.key if key is SAME else key)
        derived = at.node is not at.carrier
        self._follow_filled(at, call, position, keyword)
        if last in ("update", "setdefault") and f"os.environ.{last}" in tracer.resolver.names(module, call.func):
            self._record_read(at, ends=True)  # every process that is started from here may read it
        flag = next((one for one in list_flags(tracer) if last == one.method and is_default(one, position, keyword)), None)
        if flag is not None and isinstance(call.func, ast.Attribute):
            if (name := find_destination(call, flag)) is not None:
                self._follow_word(name)
                for home, parsed in find_shared_parses(tracer, module, call):
                    self._enqueue(at, parsed, home, derived=True, key=(name,))
                return
        if keyword is not None and any(last == one.defaults_method for one in list_flags(tracer)):
            self._follow_word(keyword)
            return
        if at.key and (last in _TEXTS if isinstance(call.func, ast.Name) else last in _DUMPS):
            self._enqueue(at, call, derived=True, key=())
            return
        if at.key and self._follow_forwarded_arguments(at, call):  # ``spawn(worker, args=(rank, backend))``
            return
        if at.key and (spawned := self._calls.get(module.place(call))) is not None:
            self._follow_parameter_word(spawned, derived=at.made)
            return
        if at.key and module.place(call) in self._traces:
            self._enqueue(at, call, derived=True)  # the value was found through this call, which keeps the entries
            return
        targets = [] if isinstance(position, int) and self._is_after_star(call, position) else callees_of(tracer, module, call)
        for home, function, skip in targets:
            name = find_parameter(function, keyword, position, skip)
            if name is not None:
                self._follow_name_reads(at, home, function, name)
                if any(last_name(one.func if isinstance(one, ast.Call) else one) in _CACHES for one in function.decorator_list):
                    self._record_read(at, ends=True)  # what is kept is found under the argument
            elif keyword is not None and function.args.kwarg is not None:
                self._follow_word(keyword, at.key)
                self._follow_name_reads(replace(at, key=(keyword, *at.key)), home, function, function.args.kwarg.arg)
            elif position is not None and function.args.vararg is not None:
                plain = len(function.args.posonlyargs) + len(function.args.args)
                self._follow_name_reads(
                    replace(at, key=(position + skip - plain, *at.key)), home, function, function.args.vararg.arg
                )
            else:
                self._record_read(at, ends=True)
        if targets or self._follow_constructed_fields(at, call, position, keyword):
            return
        if keyword is not None and last in _HOLDERS:  # also where the call is itself what is passed on
            self._enqueue(at, call, derived=True, key=(keyword, *at.key)) if last == "dict" else self._follow_word(
                keyword, at.key
            )
            return
        if (taken := self._calls.get(module.place(call))) is not None:
            self._follow_parameter_word(taken, derived)
            return
        if keyword is not None and last in ("replace", "_replace"):  # a copy of the object, with this field
            self._follow_word(keyword, at.key)
            self._enqueue(at, call, derived=True, key=(keyword, *at.key))
            return
        if keyword is not None and module.place(call) in self._traces:  # the value was found through this call
            self._follow_word(keyword, at.key)
            return
        if self._is_passthrough_call(module, call, last, position, keyword):
            self._enqueue(at, call, derived=derived)
        elif at.key and last in _WRITING:
            if isinstance(at.key[0], str) and at.key[0] != "*":
                self._follow_word(at.key[0], at.key[1:])  # another program may read what is written
            self._record_read(at)
        elif last in ("append", "add") and isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
            self._follow_store(replace(at, key=("*", *at.key)), call.func.value)
        elif last in ("format", "join") and isinstance(call.func, ast.Attribute):
            if not leaves_out(call, keyword):
                self._enqueue(at, call, derived=True, key=())
        elif last == "update" and at.key and at.key[0] != "*":
            self._follow_word(str(at.key[0]), at.key[1:])
        elif at.key and (last in _COPYING or self._is_namespace_wrapper(module, call)):
            self._enqueue(at, call, derived=True)
        elif last == "setdefault" and position == 1 and isinstance(call.args[0], ast.Constant):
            self._follow_word(str(call.args[0].value))
            self._enqueue(at, call)
        elif last == "setattr" and position is not None and len(call.args) == 3:
            if position == 2 and isinstance(call.args[1], ast.Constant):
                self._follow_attribute_store(at, call.args[0], str(call.args[1].value))
            elif position == 2:  # under any name
                self._record_read(at)
        elif last == "getattr" and position == 0 and at.key and len(call.args) > 1:
            if not isinstance(call.args[1], ast.Constant) or call.args[1].value == at.key[0]:
                self._enqueue(at, call, key=at.key[1:])
        elif (
            last in ("field", "Field", "attrib", "ib")
            and keyword in ("default", None)
            and isinstance(module.parents.get(call), (ast.Assign, ast.AnnAssign))
        ):
            self._follow_enclosing_assignment(at, call)
        elif find_declared_default(tracer, module, call, tracer.resolver.names(module, call.func)) is at.node:
            self._enqueue(at, call)
        elif self._is_partial(module, call) and (position or keyword):
            self._follow_partial(at, call, position, keyword)
        else:
            self._record_read(at)

    def _follow_forwarded_arguments(self, at: WalkStep, call: ast.Call) -> bool:
        """Whether the call hands a tuple of arguments, or a table of them, to a function of the project that it runs later."""
        first, found = at.key[0], False
        for handed, given in find_forwarded_functions(self.tracer, at.module, call):
            for home, function, skip in callees_of(self.tracer, at.module, ast.Call(handed, [], [])):
                position = first + given.skip if isinstance(first, int) else None
                name = find_parameter(function, first if isinstance(first, str) else None, position, skip)
                if name is not None:
                    self._follow_name_reads(replace(at, key=at.key[1:]), home, function, name)
                    found = True
        return found

    def _follow_parameter_word(self, name: str, derived: bool) -> None:
        """Every parameter of this name, of a function that a call finds otherwise than by its name."""
        project = self.tracer.resolver.project
        for module in filter(None, map(project.module, project.mentioning(name))):
            for node in module.nodes.get(ast.arg, ()):
                if isinstance(node, ast.arg) and node.arg == name:
                    function, held = module.parents[module.parents[node]], ast.Name(name)
                    self._follow_name_reads(
                        WalkStep(module, held, ast.Name(name) if derived else held, False), module, function, name
                    )

    def _is_namespace_wrapper(self, module: Module, call: ast.Call) -> bool:
        """Whether a call gives an object that has the entries of a mapping as its attributes."""
        kinds = {name for idioms in self.tracer.idioms for name in idioms.attribute_mappings}
        return not kinds.isdisjoint(self.tracer.resolver.names(module, call.func))

    def _is_passthrough_call(self, module: Module, call: ast.Call, last: str, position: int | None, keyword: str | None) -> bool:
        """Whether a call gives the argument back: ``str(x)``, ``Backend(x)``, ``get(key, x)``, ``cast(T, x)``."""
        if keyword in ("default", "fallback") or position == 1:
            if last in ("get", "pop", "getenv", "cast", "field"):
                return True
        if last == "getattr":
            return position == 2
        names = self.tracer.resolver.names(module, call.func)
        enums = {name for idioms in self.tracer.idioms for name in idioms.backend_enums}
        return position == 0 and (last in ("str", "deepcopy") or not enums.isdisjoint(names))

    def _follow_constructed_fields(self, at: WalkStep, call: ast.Call, position: int | None, keyword: str | None) -> bool:
        """Whether the call makes an object of a class of the project that has no ``__init__``: its fields take the arguments."""
        for entity in self.tracer.resolver.resolve(at.module, call.func):
            if isinstance(entity, Definition) and isinstance(entity.node, ast.ClassDef):
                if keyword is not None:
                    self._follow_word(keyword)
                    return True
                if at.key and any(last_name(base) in ("dict", "OrderedDict", "UserDict") for base in entity.node.bases):
                    self._enqueue(at, call, derived=True)  # its entries are its attributes, or are looked up
                    return True
                names = [
                    name
                    for _, base in reversed(list(self.tracer.resolver.lineage(entity.module, entity.node)))
                    for name in _list_field_names(base)
                ]
                if position is not None and position < len(names):
                    self._follow_word(names[position])
                    return True
                self._record_read(at)
                return True
        return False

    def _is_partial(self, module: Module, call: ast.Call) -> bool:
        """Whether a call binds arguments of the function that is its first: ``partial``."""
        forwarders = (
            one for idioms in self.tracer.idioms for one in idioms.forwarder if one.function_position == 0 and one.args is None
        )
        return not {name for one in forwarders for name in one.names}.isdisjoint(self.tracer.resolver.names(module, call.func))

    def _follow_partial(self, at: WalkStep, call: ast.Call, position: int | None, keyword: str | None) -> None:
        part = (".keywords", keyword) if position is None else (".args", position - 1)
        self._enqueue(at, call, derived=True, key=(*part, *at.key))
        inner = ast.Call(call.args[0], [], []) if call.args else call
        targets = callees_of(self.tracer, at.module, inner) if call.args else []
        for home, function, skip in targets:
            name = find_parameter(function, keyword, None if position is None else position - 1, skip)
            self._follow_name_reads(at, home, function, name) if name is not None else self._record_read(at, ends=True)
        if not targets:
            self._record_read(at)

    def _is_after_star(self, call: ast.Call, position: int) -> bool:
        return any(isinstance(part, ast.Starred) for part in call.args[:position])


def _list_field_names(made: ast.ClassDef) -> Iterator[str]:
    return (part.target.id for part in made.body if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name))
