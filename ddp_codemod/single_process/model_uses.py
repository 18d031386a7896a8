"""What is done with a model that may be wrapped: ``.module``, its state, and what only the wrapping has."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ddp_codemod.edits.imports import bound_import
from ddp_codemod.model import Reason, Recipe
from ddp_codemod.parse.python import Module, walk
from ddp_codemod.single_process.api import Api
from ddp_codemod.single_process.contexts import is_entered, write_null_context
from ddp_codemod.single_process.enclosing_tests import enclosing_tests
from ddp_codemod.single_process.guards import Guards
from ddp_codemod.single_process.model import EntryRewrite, Problem, SpanEdit
from ddp_codemod.single_process.wrapped_models import INNER, WrappedModels
from ddp_codemod.sites.entities import Variable
from ddp_codemod.sites.scopes import SELF

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_ASKS = frozenset({"hasattr", "isinstance", "type"})


def is_plain(node: ast.AST | None) -> bool:
    """Whether an expression can be written twice: a name, an attribute of one, or an item of one."""
    if isinstance(node, ast.Attribute):
        return is_plain(node.value)
    if isinstance(node, ast.Subscript):
        return is_plain(node.value) and isinstance(node.slice, (ast.Constant, ast.Name))
    return isinstance(node, ast.Name)


def calls_of_wrapped(wrapped: WrappedModels) -> Iterator[tuple[Module, ast.Call]]:
    """Where a wrapped model is run."""
    for module, node in wrapped.nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)) and wrapped.holds(module, node.func):
            yield module, node


class ModelUses:
    """Makes every use of a model right, wrapped or not."""

    def __init__(self, api: Api, guards: Guards, wrapped: WrappedModels, parts: Iterable[tuple[Module, ast.AST]]) -> None:
        self.api, self.guards, self.wrapped, self.parts = api, guards, wrapped, list(parts)
        self.found = EntryRewrite()

    def run(self) -> EntryRewrite:
        """Edits and problems of all parts."""
        for module, part in self.parts:
            for node in walk(part):
                if isinstance(node, ast.Attribute):
                    if node.attr == INNER:
                        self._rewrite_inner_model(module, node)
                    elif node.attr in self.api.state:
                        self._rewrite_state_keys(module, node)
                    elif node.attr in self.api.wrapped_only and self.wrapped.holds(module, node.value):
                        self._rewrite_wrapper_member(module, node)
        return self.found

    def _note_problem(self, module: Module, node: ast.AST, key: str, **args: str) -> None:
        self.found.problems.append(Problem(module, node, Reason(key, tuple(args.items()))))

    def _rewrite_inner_model(self, module: Module, node: ast.Attribute) -> None:
        """``net.module`` becomes ``getattr(net, "module", net)``."""
        held = self.wrapped.holds(module, node.value)
        if not held and self._is_other(module, node):
            return
        if self._is_handled(module, node, node.value):
            return
        text = module.text(node.value)
        twice = any(isinstance(part, ast.Attribute) and part.attr == INNER for part in ast.walk(node.value))
        if not isinstance(node.ctx, ast.Load) or not is_plain(node.value) or twice or "\n" in module.text(node):
            if held or not isinstance(node.ctx, ast.Load):
                self._note_problem(module, node, "single-inner", text=" ".join(module.text(node).split()))
            return
        place = module.place(node)
        quote = "'" if module.source.text.count("'") > module.source.text.count('"') else '"'
        after = f"getattr({text}, {quote}{INNER}{quote}, {text})"
        self.found.span_edits.append(SpanEdit(module, place.start, place.end, after, Reason.of("single-module", text=text)))

    def _is_other(self, module: Module, node: ast.Attribute) -> bool:
        """Whether the attribute surely is of something else: an import, a class, or an object that has it by its own class."""
        if isinstance(node.value, ast.Name) and node.value.id in SELF:
            return True
        entities = self.api.resolver.resolve(module, node.value)
        return any(not isinstance(entity, Variable) for entity in entities)

    def _is_handled(self, module: Module, node: ast.AST, owner_of: ast.expr) -> bool:
        """Whether the code asks first: ``hasattr``, ``isinstance``, a test for several processes, or a ``try``."""
        text = module.text(owner_of)
        for test in enclosing_tests(module, node):
            if self.guards.implies(module, test.expression, test.holds):
                return True
            for part in ast.walk(test.expression):
                asks = isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id in _ASKS
                if asks and isinstance(part, ast.Call) and part.args and module.text(part.args[0]) == text:
                    return True
        child = node
        for around in module.ancestors(node):
            if isinstance(around, ast.Try) and child in around.body and around.handlers:
                caught = {
                    part.id
                    for handler in around.handlers
                    for part in ast.walk(handler.type or ast.Pass())
                    if isinstance(part, ast.Name)
                }
                plain = any(handler.type is None for handler in around.handlers)
                if "AttributeError" in caught or (
                    (plain or "Exception" in caught) and self._uses_outer_model(module, around.handlers, text)
                ):
                    return True
            if isinstance(around, _FUNCTIONS):
                return False
            child = around
        return False

    def _uses_outer_model(self, module: Module, handlers: Iterable[ast.AST], text: str) -> bool:
        """Whether the handlers use the model without its inner one."""
        parts = [part for handler in handlers for part in ast.walk(handler) if isinstance(part, (ast.Name, ast.Attribute))]
        return any(module.text(part) == text for part in parts)

    def _rewrite_wrapper_member(self, module: Module, node: ast.Attribute) -> None:
        if isinstance(node.ctx, ast.Store) or self._is_handled(module, node, node.value):
            return
        if node.attr in self.api.contexts and is_plain(node.value) and "\n" not in module.text(node):
            self._rewrite_no_sync(module, node)
            return
        self._note_problem(module, node, "single-wrapped-only", text=module.text(node))

    def _rewrite_no_sync(self, module: Module, node: ast.Attribute) -> None:
        """``net.no_sync()`` where there is such a context, else one that does nothing."""
        nothing = write_null_context(self.api, module, node)
        if isinstance(nothing, Reason):
            self.found.problems.append(Problem(module, node, nothing))
            return
        written, result = nothing
        net, call, place = module.text(node.value), module.parents.get(node), module.place(node)
        quote = "'" if module.source.text.count("'") > module.source.text.count('"') else '"'
        reason = Reason.of("single-context", text=module.text(node))
        if isinstance(call, ast.Call) and call.func is node and (call.args or call.keywords):
            if not is_entered(module, call):
                self._note_problem(module, node, "single-wrapped-only", text=module.text(node))
                return
            bare, end = isinstance(module.parents.get(call), ast.withitem), module.place(call).end
            test = f" if hasattr({net}, {quote}{node.attr}{quote}) else {written}()"
            self.found.span_edits += [*result, SpanEdit(module, end, end, test if bare else f"{test})", reason)]
            if not bare:
                self.found.span_edits.append(SpanEdit(module, place.start, place.start, "(", reason))
            return
        after = f"getattr({net}, {quote}{node.attr}{quote}, {written})"
        self.found.span_edits += [*result, SpanEdit(module, place.start, place.end, after, reason)]

    def _rewrite_state_keys(self, module: Module, node: ast.Attribute) -> None:
        """The keys of a wrapped model start with the attribute's name; they stay so without the wrapping."""
        call, net = module.parents.get(node), node.value
        if not isinstance(call, ast.Call) or call.func is not node or not isinstance(net, (ast.Name, ast.Attribute)):
            return
        if not self.wrapped.holds(module, net) or self._is_handled(module, node, net) or self._is_other_branch(module, node, net):
            return
        wrapped = self._is_wrapped_at(module, node, net)
        if wrapped is False:
            return
        if wrapped is None or not is_plain(net) or (node.attr == self.api.table.state[0] and (call.args or call.keywords)):
            self._note_problem(module, node, "single-state", text=module.text(node))
            return
        text = module.text(net)
        reason = Reason.of("single-keys", text=text)
        if node.attr == self.api.table.state[0]:
            place = module.place(call)
            value = f'"" if hasattr({text}, "{INNER}") else "{INNER}."'
            recipe = Recipe("add-keyword", (("name", "prefix"), ("value", value)))
            self.found.span_edits.append(SpanEdit(module, place.start, place.end, None, reason, recipe))
            return
        place = module.place(net)
        package, _, name = self.api.table.holder.rpartition(".")
        holder = bound_import(module.source, module.tree, package, name, before=place.start)
        outer = bound_import(module.source, module.tree, package.split(".")[0], None, before=place.start)
        holder = holder or (self.api.table.holder if outer else None)
        if holder is None:
            self._note_problem(module, node, "single-state", text=module.text(node))
            return
        after = f'({text} if hasattr({text}, "{INNER}") else {holder}({{"{INNER}": {text}}}))'
        self.found.span_edits.append(SpanEdit(module, place.start, place.end, after, reason))

    def _is_other_branch(self, module: Module, node: ast.AST, net: ast.expr) -> bool:
        """Whether this runs instead of a use of the inner model, so that the model is not wrapped here."""
        inner = f"{module.text(net)}.{INNER}"

        def uses(parts: Iterable[ast.AST]) -> bool:
            return any(isinstance(at, ast.Attribute) and module.text(at) == inner for part in parts for at in ast.walk(part))

        if any(uses(test.beside) for test in enclosing_tests(module, node)):
            return True
        return any(
            isinstance(around, ast.ExceptHandler) and uses(getattr(module.parents.get(around), "body", ()))
            for around in module.ancestors(node)
        )

    def _is_wrapped_at(self, module: Module, node: ast.AST, net: ast.expr) -> bool | None:
        """Whether the model surely is wrapped here, in several processes, or surely is not yet; None where that cannot be told."""
        text = module.text(net)
        function = next((at for at in module.ancestors(node) if isinstance(at, _FUNCTIONS)), None)
        homes: list[ast.AST] = [function or module.tree]
        if isinstance(net, ast.Attribute):
            around = next((at for at in module.ancestors(node) if isinstance(at, ast.ClassDef)), None)
            homes = [part for part in around.body if isinstance(part, _FUNCTIONS)] if around else homes
        found = [
            (home, statement)
            for home in homes
            for statement in ast.walk(home)
            if isinstance(statement, ast.Assign) and any(module.text(target) == text for target in statement.targets)
        ]
        wraps = [(home, one) for home, one in found if self.wrapped.is_wrap(module, one.value)]
        if len(wraps) != 1:
            return None
        home, wrap = wraps[0]
        if function is home or function is None:
            return self._is_after_wrapping(module, node, wrap, home)
        if not isinstance(function, _FUNCTIONS):
            return None
        # a method: what calls it before the wrapping, and what after
        calls = [part for part in ast.walk(home) if isinstance(part, ast.Attribute) and part.attr == function.name]
        orders = {self._is_after_wrapping(module, part, wrap, home) for part in calls}
        others = any(part not in calls for _, part in self.guards.loads.of(module, function))
        if orders == {False} and not others:
            return False
        return True if False not in orders and None not in orders and wrap in getattr(home, "body", ()) else None

    def _is_after_wrapping(self, module: Module, node: ast.AST, wrap: ast.stmt, home: ast.AST) -> bool | None:
        """Whether a node of the same function comes after the wrapping; None where a loop or a branch leaves that open."""
        if any(isinstance(around, (ast.For, ast.While)) for around in module.ancestors(wrap) if around is not home):
            return None
        if module.place(node).start < module.place(wrap).start:
            return False
        return True if wrap in getattr(home, "body", ()) else None
