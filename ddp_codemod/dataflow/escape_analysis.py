"""Where an object or a function goes: which methods are called on it, who calls it, whether it gets to code that is not read."""

from __future__ import annotations

import ast
from typing import Union

from msgspec import Struct, field

from ddp_codemod.dataflow.callees import callees_of
from ddp_codemod.dataflow.calls import CALL, find_default, find_names, find_parameter, is_read
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.entities import Definition, Instance
from ddp_codemod.sites.scopes import owner_scope, scope_of

MOST = 400  # expressions that are looked at for one object
GROWING = frozenset({"append", "extend", "insert"})  # methods of a list that put their last argument into it
LISTING = frozenset({"filter", "list", "reversed", "sorted", "tuple"})  # builtins that give the elements of a list again
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_Function = Union[ast.FunctionDef, ast.AsyncFunctionDef]


class EscapeInfo(Struct):
    """What is known of an object's way through the project."""

    methods: set[str] = field(default_factory=set)  # called on it
    attributes: set[str] = field(default_factory=set)  # read of it
    escapes: bool = False  # it is handed to code that is not read
    arguments: list[tuple[Module, ast.Call]] = field(default_factory=list)  # the calls that it is handed to, itself or in a list
    calls: list[tuple[Module, ast.Call]] = field(default_factory=list)  # of it, where it is a function
    places: list[tuple[Module, ast.expr]] = field(default_factory=list)  # the expressions that give it
    partials: list[tuple[Module, ast.Call]] = field(default_factory=list)  # the calls that bind some of its arguments


class _Container(Struct, frozen=True):
    """What the object is in: nothing, or a list or table, under a key where that is known."""

    inside: bool = False
    key: object = None


def analyze_escapes(tracer: Tracer, module: Module, made: ast.expr, near: bool = False) -> EscapeInfo:
    """Follow an object from the expression that makes it; worked out once for each.

    ``near``: as an attribute only in the file that makes it one, which is enough for what is written into a mapping.
    """
    key = ("escapes", made, near)
    return tracer.ask_once(module, key, lambda: _EscapeWalk(tracer, near).follow(module, made), EscapeInfo())


_ALONE, _LISTED = _Container(), _Container(True)


class _EscapeWalk:
    # within: the expression gives a list or table with the object in it; what is called on that says nothing of the object
    def __init__(self, tracer: Tracer, near: bool) -> None:
        self.tracer, self.near, self.found = tracer, near, EscapeInfo()
        self._seen: set[tuple[ast.AST, _Container]] = set()
        self._todo: list[tuple[Module, ast.expr, _Container]] = []
        self._within = _ALONE

    def follow(self, module: Module, made: ast.expr) -> EscapeInfo:
        self._todo.append((module, made, _ALONE))
        while self._todo:
            at, node, self._within = self._todo.pop()
            if (node, self._within) in self._seen:
                continue
            self._seen.add((node, self._within))
            if len(self._seen) > MOST:
                self.found.escapes = True
                break
            if not self._within.inside:
                self.found.places.append((at, node))
            self._follow_parent(at, node)
        return self.found

    def _enqueue(self, module: Module, node: ast.expr, within: _Container | None = None) -> None:
        self._todo.append((module, node, self._within if within is None else within))

    def _follow_parent(self, module: Module, node: ast.expr) -> None:
        """What the code around an expression does with the object that it gives."""
        around = module.parents.get(node)
        if isinstance(around, ast.keyword):
            self._follow_argument(module, module.parents[around], node, around.arg)
        elif isinstance(around, ast.Call) and node is not around.func:
            self._follow_argument(module, around, node, None)
        elif isinstance(around, ast.Call):
            self.found.calls += [] if self._within.inside else [(module, around)]
        elif isinstance(around, ast.Attribute):
            self._follow_attribute(module, around)
        elif isinstance(around, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and around.value is node:
            for target in around.targets if isinstance(around, ast.Assign) else [around.target]:
                self._follow_store(module, target, node)
            if isinstance(around, ast.NamedExpr):
                self._enqueue(module, around)
        elif isinstance(around, (ast.IfExp, ast.BoolOp)) and not (isinstance(around, ast.IfExp) and around.test is node):
            self._enqueue(module, around)
        elif isinstance(around, (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Starred)):
            self._enqueue(module, around, _locate_in_display(around, node))
        elif isinstance(around, (ast.For, ast.AsyncFor, ast.comprehension)) and around.iter is node:
            if isinstance(around, ast.comprehension):
                self._enqueue(module, module.parents[around], _LISTED)  # type: ignore[arg-type]
            if self._within.inside:
                self._within = _ALONE
                for target in around.target.elts if isinstance(around.target, (ast.Tuple, ast.List)) else [around.target]:
                    if isinstance(around, ast.comprehension) and isinstance(target, ast.Name):
                        self._follow_name(module, module.parents[around], target.id)
                    else:
                        self._follow_store(module, target)
        elif isinstance(around, ast.Subscript) and around.value is node and self._within.inside:
            self._follow_subscript(module, around)
        elif isinstance(around, ast.arguments):
            self._follow_default(module, around, node)
        elif isinstance(around, ast.Return):
            self._follow_return(module, around)
        elif isinstance(around, (ast.Yield, ast.Lambda)):
            self.found.escapes = True

    def _follow_attribute(self, module: Module, attribute: ast.Attribute) -> None:
        """An attribute or method of the object; of a table, a look-up."""
        call = module.parents.get(attribute)
        is_called = isinstance(call, ast.Call) and call.func is attribute
        if attribute.attr == CALL and not self._within.inside:
            self._enqueue(module, attribute)
        elif not self._within.inside:
            (self.found.methods if is_called else self.found.attributes).add(attribute.attr)
        elif isinstance(call, ast.Call) and is_called and attribute.attr == "get":
            self._enqueue(module, call, _ALONE)
        elif isinstance(call, ast.Call) and is_called and attribute.attr in ("values", "items"):
            self._enqueue(module, call, _LISTED)
        else:
            self.found.escapes = True

    def _follow_subscript(self, module: Module, node: ast.Subscript) -> None:
        key, known = self._within.key, node.slice.value if isinstance(node.slice, ast.Constant) else None
        if key is None or known is None or key == known:
            self.found.escapes = self.found.escapes or key is None or known is None
            self._enqueue(module, node, _ALONE)

    def _follow_default(self, module: Module, arguments: ast.arguments, node: ast.expr) -> None:
        """The default of a parameter."""
        function = module.parents.get(arguments)
        for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            if function is not None and find_default(function, argument.arg) is node:  # type: ignore[arg-type]
                self._follow_name(module, function, argument.arg)

    def _follow_store(self, module: Module, target: ast.expr, value: ast.expr | None = None) -> None:
        if isinstance(target, ast.Name):
            home = owner_scope(module, scope_of(module, target), target.id)
            if isinstance(home, ast.ClassDef):
                self._follow_member_reads(module, target.id, {base for _, base in self.tracer.resolver.lineage(module, home)})
            if home is not None:
                self._follow_name(module, home, target.id, value)
        elif isinstance(target, ast.Attribute):
            self._follow_attribute_store(module, target)
        elif isinstance(target, (ast.Tuple, ast.List)) and self._within.inside:
            key = self._within.key
            self._within = _ALONE
            for index, part in enumerate(target.elts):
                if key is None or key == index:
                    self._follow_store(module, part)
        elif isinstance(target, ast.Subscript):
            key = target.slice.value if isinstance(target.slice, ast.Constant) else None
            self._within = _Container(True, key)
            self._follow_store(module, target.value)
        else:
            self.found.escapes = True

    def _follow_name(self, module: Module, home: ast.AST, name: str, value: ast.expr | None = None) -> None:
        """Every place that reads a name of a scope, where it was passed this value if one is named."""
        for node in find_names(module, name):
            ours = is_read(module, node) and owner_scope(module, scope_of(module, node), name) is home
            if ours and not self._is_another(module, home, node, value):
                self._enqueue(module, node)
        if isinstance(home, ast.Module):
            self._follow_imports(module, name)

    def _is_another(self, module: Module, home: ast.AST, node: ast.Name, value: ast.expr | None) -> bool:
        """Whether a name holds another value by then: ``parser`` is made a second time."""
        if value is None or scope_of(module, node) is not home:
            return False
        made = self.tracer.facts.definitions(module, node)
        return bool(made) and all(one.kind == "value" and one.value is not None and one.value is not value for one in made)

    def _follow_imports(self, module: Module, name: str) -> None:
        """The files that take a module's name."""
        find = self.tracer.resolver.project.find
        for other, statement, alias in self._find_import_statements(name):
            if other is not module and find("." * statement.level + (statement.module or ""), other) is module:
                self._follow_name(other, other.tree, alias.asname or name)

    def _find_import_statements(self, name: str) -> list[tuple[Module, ast.ImportFrom, ast.alias]]:
        """The statements that take a name from another file; worked out once, for it may be in thousands of files."""
        known: dict[str, list[tuple[Module, ast.ImportFrom, ast.alias]]] = self.tracer.memory.setdefault("takers of names", {})
        if name not in known:
            project = self.tracer.resolver.project
            known[name] = []
            for module in filter(None, map(project.module, project.mentioning(name))):
                for statement in module.nodes.get(ast.ImportFrom, ()):
                    taken = [alias for alias in statement.names if alias.name == name]  # type: ignore[attr-defined]
                    known[name] += [(module, statement, alias) for alias in taken[:1]]  # type: ignore[misc]
        return known[name]

    def _follow_attribute_store(self, module: Module, target: ast.Attribute) -> None:
        """Every place that reads an attribute of the objects of the same class."""
        owners = self._find_classes(module, target.value)
        if not owners:
            self.found.escapes = True
            return
        self._follow_member_reads(module, target.attr, owners)

    def _follow_member_reads(self, module: Module, name: str, owners: set[ast.AST]) -> None:
        """Every place that reads an attribute of the objects of these classes."""
        project = self.tracer.resolver.project
        words = {getattr(node, "name", "") for node in owners}
        for node in owners if not self.near else ():
            words |= {base.name for _, base in self.tracer.resolver.subclasses(node)}  # type: ignore[arg-type]
        # an object is known by its class, which the file has to name
        naming = {module.name, *(file for word in sorted(words) for file in project.mentioning(word) if not self.near)}
        for file in sorted(naming & {module.name, *project.mentioning(name)}):
            other = project.module(file)
            for node in other.nodes.get(ast.Attribute, ()) if other is not None else ():
                assert other is not None
                if isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Load):
                    if owners & self._find_classes(other, node.value):
                        self._enqueue(other, node)

    def _find_classes(self, module: Module, node: ast.expr) -> set[ast.AST]:
        """The project's classes that an object can be of, with those that they derive from."""
        resolver = self.tracer.resolver
        return {
            base
            for entity in resolver.resolve(module, node)
            if isinstance(entity, (Instance, Definition)) and isinstance(entity.node, ast.ClassDef)
            for _, base in resolver.lineage(entity.module, entity.node)
        }

    def _follow_return(self, module: Module, statement: ast.Return) -> None:
        function = scope_of(module, statement)
        if isinstance(function, _FUNCTIONS):
            for given in self.tracer.callers_of(module, function):
                self._enqueue(given.module, given.call)

    def _follow_argument(self, module: Module, call: ast.AST, node: ast.expr, keyword: str | None) -> None:
        """An argument becomes a parameter of what is called."""
        if not isinstance(call, ast.Call):
            self.found.escapes = True
            return
        self.found.arguments.append((module, call))
        if self._within.inside and self._is_listing_builtin(module, call):
            self._enqueue(module, call, _LISTED)
            return
        if call.args and call.args[0] is node and self._is_partial(module, call):
            self.found.partials.append((module, call))
            self._enqueue(module, call)
            return
        position = call.args.index(node) if keyword is None and node in call.args else None
        spread = position is not None and any(isinstance(part, ast.Starred) for part in call.args[:position])
        targets = [] if spread else list(callees_of(self.tracer, module, call))
        if not targets:
            self.found.escapes = True
            if isinstance(call.func, ast.Attribute) and call.func.attr in GROWING and call.args[-1:] == [node]:
                self._within = _LISTED
                self._follow_store(module, call.func.value)
        for owner_module, function, skip in targets:
            parameter = find_parameter(function, keyword, position, skip)
            if parameter is None:
                self.found.escapes = True
            else:
                self._follow_name(owner_module, function, parameter)

    def _is_listing_builtin(self, module: Module, call: ast.Call) -> bool:
        """Whether a call is of a builtin that gives the elements of a list again."""
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        return name in LISTING and owner_scope(module, scope_of(module, call), name) is None

    def _is_partial(self, module: Module, call: ast.Call) -> bool:
        """Whether a call gives its first argument back with some of its arguments bound, or just as it is: ``partial``."""
        names = self.tracer.resolver.names(module, call.func)
        if isinstance(call.func, ast.Name) and call.func.id == "staticmethod":
            return True
        return any(
            name in forwarder.names and forwarder.args is None and forwarder.function_position == 0
            for idioms in self.tracer.idioms
            for forwarder in idioms.forwarder
            for name in names
        )


def _locate_in_display(around: ast.expr, node: ast.expr) -> _Container:
    """Where an element is in a display."""
    if isinstance(around, (ast.List, ast.Tuple)) and not any(isinstance(part, ast.Starred) for part in around.elts):
        return _Container(True, around.elts.index(node))
    if isinstance(around, ast.Dict) and node in around.values:
        key = around.keys[around.values.index(node)]
        return _Container(True, key.value if isinstance(key, ast.Constant) else None)
    return _LISTED
