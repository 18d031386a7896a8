"""Which names and attributes can hold a model that was handed to the process group."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterable, Iterator

from ddp_codemod.dataflow.calls import CallArguments, Def, find_passed_argument, is_bound_method
from ddp_codemod.parse.python import Module, last_name, walk
from ddp_codemod.single_process.api import Api
from ddp_codemod.single_process.enclosing_tests import enclosing_tests
from ddp_codemod.sites.entities import Definition
from ddp_codemod.sites.scopes import assignment_pairs, owner_scope, scope_of

INNER = "module"  # the attribute of a wrapped model that holds the model
_ROUNDS = 8
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class WrappedModels:
    """Follows wrapped models through assignments, arguments, lists and returns; attributes by their name alone."""

    def __init__(self, api: Api, parts: Iterable[tuple[Module, ast.AST]]) -> None:
        self.api = api
        self.nodes = [(module, node) for module, part in parts for node in walk(part)]
        self._functions: dict[str, list[Definition]] = {}
        for module, node in self.nodes:
            if isinstance(node, _FUNCTIONS):
                self._functions.setdefault(node.name, []).append(Definition(module, node))
        self._users: dict[Hashable, list[ast.stmt | None]] = {}  # by what statement; None: as an argument, or an attribute
        self._items: dict[int, set[int | None]] = {}  # what functions return
        if any(self.is_wrap(module, node) for module, node in self.nodes):
            for _ in range(_ROUNDS):
                before = self._count_values()
                for module, node in self.nodes:
                    self._follow_statement(module, node)
                if self._count_values() == before:
                    break

    def _count_values(self) -> int:
        return sum(map(len, self._users.values())) + sum(map(len, self._items.values()))

    def _add_value(self, key: Hashable, by: ast.stmt | None) -> None:
        found = self._users.setdefault(key, [])
        if by not in found:
            found.append(by)

    def holds(self, module: Module, node: ast.expr) -> bool:
        """Whether an expression can be a wrapped model, or a list with one in it."""
        if isinstance(node, ast.Name):
            return any(
                by is None or not self._is_used_before(module, node, by)
                for by in self._users.get(self._key_of_name(module, node), ())
            )
        if isinstance(node, ast.Attribute):
            return ("attribute", node.attr) in self._users
        if isinstance(node, ast.Subscript):
            return self.holds(module, node.value)
        if isinstance(node, (ast.Tuple, ast.List)):
            return any(self.holds(module, part) for part in node.elts)
        if isinstance(node, ast.Dict):
            return any(self.holds(module, part) for part in node.values)
        if isinstance(node, ast.IfExp):
            unwraps = {module.text(node.body), module.text(node.orelse)}
            if any(f"{text}.{INNER}" in unwraps for text in unwraps):
                return False  # ``net.module if ... else net``: the model itself
            return self.holds(module, node.body) or self.holds(module, node.orelse)
        if isinstance(node, ast.Starred):
            return self.holds(module, node.value)
        if isinstance(node, ast.Call):
            if self.is_wrap(module, node):
                return True
            if isinstance(node.func, ast.Attribute) and node.func.attr in self.api.moved and self.holds(module, node.func.value):
                return True
            return any(self._may_return_model(entity) for entity in self._find_called_functions(module, node))
        return False

    def _may_return_model(self, entity: Definition, at: int | None = None) -> bool:
        """Whether a function can return a wrapped model, by itself or at a place of a tuple."""
        held = self._items.get(id(entity.node), set())
        return None in held or (bool(held) if at is None else at in held)

    def is_wrap(self, module: Module, node: ast.AST) -> bool:
        """Whether an expression hands a model to the group."""
        if not isinstance(node, ast.Call):
            return False
        found, _ = self.api.call(module, node)
        return found is not None and found.role == "wrap"

    def _is_used_before(self, module: Module, node: ast.Name, by: ast.stmt) -> bool:
        """Whether a name is surely used before a statement of the same function gives it a wrapped model."""
        if by not in module.parents or scope_of(module, node) is not scope_of(module, by):
            return False
        if module.place(node).start >= module.place(by).end:
            return False
        around = set(module.ancestors(node))
        return not any(isinstance(at, (ast.For, ast.AsyncFor, ast.While)) and at in around for at in module.ancestors(by))

    def _key_of_name(self, module: Module, node: ast.Name) -> Hashable:
        return module.name, id(owner_scope(module, scope_of(module, node), node.id)), node.id

    def _follow_statement(self, module: Module, node: ast.AST) -> None:
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            for target, value in assignment_pairs(node):
                self._assign_value(module, target, value)
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            self._assign_value(module, node.target, node.iter)
        elif isinstance(node, ast.NamedExpr):
            self._assign_value(module, node.target, node.value)
        elif isinstance(node, ast.Return) and node.value is not None and self.holds(module, node.value):
            around = next((at for at in module.ancestors(node) if isinstance(at, _FUNCTIONS)), None)
            items = self._items.setdefault(id(around), set())
            if isinstance(node.value, ast.Tuple):
                items |= {at for at, part in enumerate(node.value.elts) if self.holds(module, part)}
            else:
                items.add(None)
        elif isinstance(node, ast.Call):
            self._pass_arguments(module, node)

    def _assign_value(self, module: Module, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            same = isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts)
            for at, part in enumerate(target.elts):
                if isinstance(value, ast.Call) and not any(
                    self._may_return_model(entity, at) for entity in self._find_called_functions(module, value)
                ):
                    continue
                self._assign_value(module, part, value.elts[at] if same and isinstance(value, (ast.Tuple, ast.List)) else value)
        elif isinstance(target, ast.Starred):
            self._assign_value(module, target.value, value)
        elif self.holds(module, value) and not self._is_alternative_branch(module, value):
            if isinstance(target, ast.Name):
                self._add_value(self._key_of_name(module, target), module.statement(target))
            elif isinstance(target, ast.Attribute):
                self._add_value(("attribute", target.attr), None)
            elif isinstance(target, ast.Subscript):
                self._assign_value(module, target.value, value)

    def _is_alternative_branch(self, module: Module, value: ast.expr) -> bool:
        """Whether a name is passed on only where another branch takes the inner model of it."""
        if not isinstance(value, (ast.Name, ast.Attribute)):
            return False
        inner = f"{module.text(value)}.{INNER}"
        parts = (part for test in enclosing_tests(module, value) for beside in test.beside for part in ast.walk(beside))
        return any(isinstance(part, ast.Attribute) and module.text(part) == inner for part in parts)

    def _pass_arguments(self, module: Module, call: ast.Call) -> None:
        values = [*call.args, *(keyword.value for keyword in call.keywords)]
        if not any(self.holds(module, value) for value in values) or self.is_wrap(module, call):
            return
        handed = CallArguments(module, call, tuple(call.args), tuple(call.keywords))
        for entity in self._find_called_functions(module, call):
            function = entity.node
            assert isinstance(function, _FUNCTIONS)
            for name in _parameter_names(function):
                value = find_passed_argument(handed, function, name, is_bound_method(entity.module, function))
                if value is not None and self.holds(module, value):
                    self._add_value((entity.module.name, id(function), name), None)

    def _find_called_functions(self, module: Module, call: ast.Call) -> Iterator[Definition]:
        """The project's functions that a call can run; a method of something unknown is every method of that name."""
        found = False
        for entity in self.api.resolver.resolve(module, call.func):
            found = True
            if not isinstance(entity, Definition):
                continue
            if isinstance(entity.node, ast.ClassDef):
                makers = self.api.resolver.member(entity, "__init__")
                yield from (maker for maker in makers if isinstance(maker, Definition) and isinstance(maker.node, _FUNCTIONS))
            else:
                yield entity
        if not found and isinstance(call.func, ast.Attribute):
            yield from self._functions.get(last_name(call.func), ())


def _parameter_names(function: Def) -> list[str]:
    arguments = function.args
    return [part.arg for part in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
