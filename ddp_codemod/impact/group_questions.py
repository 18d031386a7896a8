"""The places that ask a group for the name of its backend."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping

from msgspec import Struct

from ddp_codemod.dataflow.calls import index_calls
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.impact.backend_names import read_backend_name
from ddp_codemod.impact.conditions import Swap
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.findings import Context
from ddp_codemod.sites.aliases import aliases_of
from ddp_codemod.sites.entities import External
from ddp_codemod.sites.scopes import bindings, scope_of


class GroupSwaps(Struct, frozen=True):
    """What becomes of the names of groups."""

    default: Swap | None  # of the default group
    made: Mapping[int, Swap]  # of those that calls make, by the call
    texts: Mapping[tuple[int, int], Swap] = {}  # the edited texts, by module and node

    def __bool__(self) -> bool:
        return self.default is not None or bool(self.made)

    def of(self, context: Context, module: Module, question: ast.Call) -> Swap | None:
        """What becomes of the name that a question gives: of the group that it is about, as far as one call makes that."""
        for one in _list_groups(context, question):
            found = context.tracer.evaluate(module, one)
            if any(source.value == Known(None) for source in found):
                return self.default  # None is the default group, whatever other groups callers pass
            for source in found:
                call = source.node
                if isinstance(source.module, Module) and isinstance(call, ast.Call):
                    use = context.tracer.finder.use(source.module, call)
                    named = [part for part in use.surface.parameters if part.role == "backend"] if use is not None else []
                    if use is not None and any(use.argument(part) is not None for part in named):
                        return self.made.get(id(call))
        return self.default

    def read_stored_name(self, context: Context, module: Module, node: ast.expr, swap: Swap) -> tuple[str, str] | None:
        """What an expression that may hold the old name gives before the edits and after them."""
        held = [
            one for one in context.tracer.evaluate(module, node) if isinstance(one.value, Known) and one.value.value == swap.old
        ]
        kept = any((id(one.module), id(one.node)) not in self.texts for one in held)
        return (swap.old, swap.old if kept else swap.new) if held else None


def find_questions(context: Context) -> Iterator[tuple[Module, ast.Call]]:
    """The calls that give the name of a group's backend."""
    resolver = context.tracer.resolver
    functions = {name for idioms in context.rules.idioms for name in idioms.current_functions}
    methods = {name for idioms in context.rules.idioms for name in idioms.current_methods}
    last = {name.rpartition(".")[2] for name in functions}
    groups = {name for idioms in context.rules.idioms for name in (*idioms.default_groups, *idioms.backend_enums)}
    words = last | {name.rpartition(".")[2] for name in groups}
    for file in sorted({name for word in words for name in resolver.project.mentioning(word)}):
        for module in resolver.project.programs(file):
            table = index_calls(module)
            for call in (call for word in sorted(last | aliases_of(module, last)) for call in table.get(word, ())):
                if functions & set(resolver.names(module, call.func)) or _is_of_passed_package(context, module, call, functions):
                    yield module, call
            for call in (call for word in sorted(methods) for call in table.get(word, ())):
                if (
                    not call.args
                    and isinstance(call.func, ast.Attribute)
                    and _is_of_group(context, module, call, call.func.value)
                ):
                    yield module, call


def _is_of_passed_package(context: Context, module: Module, call: ast.Call, functions: Collection[str]) -> bool:
    """Whether a method is one of those functions, of a package that a parameter or an attribute holds."""
    if not isinstance(call.func, ast.Attribute) or context.tracer.resolver.resolve(module, call.func):
        return False
    held = ((one.module, one.node) for one in context.tracer.evaluate(module, call.func.value))
    return any(
        f"{name}.{call.func.attr}" in functions
        for home, node in held
        if isinstance(home, Module) and isinstance(node, ast.expr)
        for name in context.tracer.resolver.names(home, node)
    )


def _is_of_group(context: Context, module: Module, call: ast.Call, group: ast.expr) -> bool:
    """Whether a method that gives a name is one of a process group."""
    resolver = context.tracer.resolver
    known = {name for idioms in context.rules.idioms for name in idioms.default_groups}
    if known & set(resolver.names(module, group)):
        return True
    return _is_named_by_enum(context, module, call) and not any(
        isinstance(entity, External) for entity in resolver.resolve(module, call)
    )


def is_handed_group(context: Context, module: Module, question: ast.Call) -> bool:
    """Whether a question is about a group that its function is handed: it was written for groups of any name."""
    handed = [one.id for one in _list_groups(context, question) if isinstance(one, ast.Name)]
    function = scope_of(module, question)
    if not handed or not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    if isinstance(module.parents.get(question), ast.Return):  # the project's own function for the question
        return any(one.call.args or one.call.keywords for one in context.tracer.callers_of(module, function))
    return bindings(module, function).get(handed[0]) is not None


def _list_groups(context: Context, question: ast.Call) -> list[ast.expr]:
    """The group that a question is about: what it passes, or whose method it is."""
    methods = {name for idioms in context.rules.idioms for name in idioms.current_methods}
    if isinstance(question.func, ast.Attribute) and question.func.attr in methods:
        return [question.func.value]
    return [*question.args, *(part.value for part in question.keywords)]


def _is_named_by_enum(context: Context, module: Module, question: ast.Call) -> bool:
    """``group.name() == Backend.NCCL``: what is compared with torch's enum can be nothing but a backend."""
    compare = module.parents.get(question)
    sides = [compare.left, *compare.comparators] if isinstance(compare, ast.Compare) else []
    return any(isinstance(side, ast.Attribute) and read_backend_name(context, module, side) is not None for side in sides)
