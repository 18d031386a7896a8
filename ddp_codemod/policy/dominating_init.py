"""Whether the default group is there already when a call runs: what takes the group that it finds then decides nothing."""

from __future__ import annotations

import ast
from functools import partial

from msgspec import Struct

from ddp_codemod.dataflow.callers import callers_of
from ddp_codemod.dataflow.calls import Def, find_default
from ddp_codemod.dataflow.demands import sources
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.policy.executed_calls import APART, walk_calls
from ddp_codemod.policy.findings import Context
from ddp_codemod.policy.launcher_condition import is_condition
from ddp_codemod.policy.parser_classes import find_parser_classes
from ddp_codemod.sites.entities import Definition, External
from ddp_codemod.sites.group_creators import GroupCreators
from ddp_codemod.sites.outlines import asks_for_main
from ddp_codemod.sites.scopes import FUNCTIONS, scope_of
from ddp_codemod.sites.surface_calls import Use

DEPTH = 4  # functions outwards to callers, and inwards to what was called before


class DominatingInit(Struct, frozen=True, eq=False):
    """What makes the group before, and whether it surely has by then."""

    module: Module
    node: ast.AST
    sure: bool


def find_dominating_init(context: Context, use: Use) -> DominatingInit | None:
    """What makes the default group before a call runs; where only some ways there do, the maker is not sure."""
    return _Search(context, use).before(use.module, use.call, DEPTH)


def may_have_group(context: Context, groups: GroupCreators, use: Use) -> bool:
    """Whether a group may be there before a call: something on the way makes one, or the way is not known and code beside it can."""
    imported = context.tracer.imports.below([use.module.name]) & {*groups.users.names} - {use.module.name}
    if find_dominating_init(context, use) is not None or groups.creates_on_import(imported, use.surface):
        return True
    return not _is_reached_from_modules(context, use.module, use.call, DEPTH) and groups.has_group_for(use.module, use.surface)


def is_first_maker(context: Context, use: Use) -> bool:
    """Whether every way to a call is known, and nothing on any of them makes the group before."""
    return _is_reached_from_modules(context, use.module, use.call, DEPTH) and find_dominating_init(context, use) is None


def _is_reached_from_modules(context: Context, module: Module, node: ast.AST, depth: int) -> bool:
    """Whether each way to a node begins in the code of a module: then all that runs before was seen."""
    function = scope_of(module, node)
    while not isinstance(function, (*FUNCTIONS, ast.Module)):
        function = scope_of(module, function)
    if isinstance(function, ast.Module):
        return True
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) or not depth:
        return False
    calls = callers_of(context.tracer, module, function)
    if not calls:
        return _is_started_by_module(module, function)
    return all(_is_reached_from_modules(context, call.module, call.call, depth - 1) for call in calls)


def _is_started_by_module(module: Module, function: Def) -> bool:
    """Whether the last line of the module hands a function to what runs it, ``fire.Fire(main)``, and nothing else in the file names it.

    What another line hands it to may call it later: ``atexit.register(clean)``.
    """
    last = module.tree.body[-1]
    last = last.body[-1] if isinstance(last, ast.If) and asks_for_main(last.test) else last
    named = [one for one in module.nodes.get(ast.Name, ()) if isinstance(one, ast.Name) and one.id == function.name]
    call = last.value if isinstance(last, ast.Expr) else None
    handed = [*call.args, *(part.value for part in call.keywords)] if isinstance(call, ast.Call) else []
    return len(named) == 1 and named[0] in handed and module.parents.get(function) is module.tree


def _is_absence_test(test: ast.expr) -> bool:
    """``not x``, ``x is None``."""
    none = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Is) and isinstance(test.comparators[0], ast.Constant)
    return none or (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not))


class _Search:
    def __init__(self, context: Context, use: Use) -> None:
        self.context, self.use = context, use
        self._inside: dict[
            ast.AST, DominatingInit | None
        ] = {}  # functions that were looked into; one that is being looked into makes nothing
        self._methods: set[str] = (
            set()
        )  # names of those functions: where a class has a method of the name, that may be the one which runs
        # names that are absent where the call is
        tests = (
            around.test
            for around in use.module.ancestors(use.call)
            if isinstance(around, ast.If) and _is_absence_test(around.test)
        )
        parts = (part for test in tests for part in ast.walk(test))
        self._asked = {last_name(part) for part in parts if isinstance(part, (ast.Name, ast.Attribute))}
        self._outside: dict[ast.AST, DominatingInit | None] = {}  # the same of what runs before a function is called

    def before(self, module: Module, node: ast.AST, depth: int) -> DominatingInit | None:
        """The maker in the function around a node, or in those that call it."""
        found = self._search_earlier_statements(module, node, depth)
        if found is not None and found.sure:
            return found
        function = scope_of(module, node)
        while not isinstance(function, (*FUNCTIONS, ast.Module)):
            function = scope_of(module, function)
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) or not depth:
            return found
        if function not in self._outside:
            self._outside[function] = None
            self._inside[function] = None  # what comes later in it is not before
            if isinstance(module.parents.get(function), ast.ClassDef):
                self._methods.add(function.name)
            self._outside[function] = self._search_callers(module, function, depth)
        outside = self._outside[function]
        return outside if outside is not None and (outside.sure or found is None) else found

    def _search_callers(self, module: Module, function: Def, depth: int) -> DominatingInit | None:
        """What makes it before a function is called."""
        given = self._find_making_parameter(module, function) or self._search_constructor(module, function, depth)
        if given is not None:
            return given
        makers = [self.before(call.module, call.call, depth - 1) for call in callers_of(self.context.tracer, module, function)]
        if makers and all(maker is not None and maker.sure for maker in makers):
            return makers[0]
        known = next((maker for maker in makers if maker is not None), None)
        return DominatingInit(known.module, known.node, False) if known is not None else None

    def _search_earlier_statements(self, module: Module, node: ast.AST, depth: int) -> DominatingInit | None:
        """Among the statements that run before a node's own, nearest first."""
        unsure: DominatingInit | None = None
        child: ast.AST = node
        for around in module.ancestors(node):
            for name in ("body", "orelse", "handlers", "finalbody"):
                block = getattr(around, name, None)
                if isinstance(block, list) and child in block:
                    for statement in reversed(block[: block.index(child)]):
                        found = self._search_inside(module, statement, depth) if not isinstance(statement, APART) else None
                        if found is not None and found.sure:
                            return found
                        unsure = unsure or found
            if isinstance(around, (ast.With, ast.AsyncWith)) and child in around.body:
                for item in around.items:
                    unsure = unsure or self._search_inside(module, item.context_expr, depth)
            if isinstance(around, FUNCTIONS):
                break
            child = around
        return unsure

    def _search_inside(self, module: Module, top: ast.AST, depth: int) -> DominatingInit | None:
        """A call inside a statement or function that makes the group, itself or in what it calls."""
        unsure: DominatingInit | None = None
        asks, taken = partial(self._is_group_absence_test, module), partial(self._is_always_taken, module)
        for call, sure in walk_calls(top, asks, taken):
            found = self._match_maker(module, call, depth)
            if found is not None and found.sure and sure:
                return found
            if found is not None and unsure is None:
                unsure = DominatingInit(found.module, found.node, False)
        return unsure and (self._search_branches(module, top, depth) or unsure)

    def _search_branches(self, module: Module, top: ast.AST, depth: int) -> DominatingInit | None:
        """A maker in a chain of ``if`` and ``else`` of which each branch makes the group, or ends the program."""
        for statement in top.body if isinstance(top, (ast.FunctionDef, ast.AsyncFunctionDef)) else [top]:
            if isinstance(statement, ast.If) and statement.orelse:
                goes_on = [block for block in (statement.body, statement.orelse) if not sources(block[-1])]
                makers = [self._search_block(module, block, depth) for block in goes_on]
                if makers and all(makers):
                    return makers[0]
        return None

    def _search_block(self, module: Module, block: list[ast.stmt], depth: int) -> DominatingInit | None:
        """The first that surely makes the group in a block."""
        found = (self._search_inside(module, statement, depth) for statement in block if not isinstance(statement, APART))
        return next((maker for maker in found if maker is not None and maker.sure), None)

    def _match_maker(self, module: Module, call: ast.Call, depth: int) -> DominatingInit | None:
        context = self.context
        if call is self.use.call:
            return None
        use = context.tracer.finder.use(module, call) or self._find_sibling_use(module, call)
        if use is not None and self._is_immediate(use):
            return DominatingInit(module, call, True) if context.facts.unreachable(module, call) is None else None
        names = context.tracer.resolver.names(module, call.func)
        if any(name in idioms.group_needed for idioms in context.rules.idioms for name in names):
            return DominatingInit(module, call, True)
        if not depth:
            return None
        for entity in context.tracer.resolver.resolve(module, call.func):
            if isinstance(entity, Definition) and not isinstance(entity.node, ast.ClassDef):
                if (found := self._search_definition(entity, depth)) is not None:
                    return found
        return None

    def _find_sibling_use(self, module: Module, call: ast.Call) -> Use | None:
        """A call on the very object that the use is called on, which stands for a package: ``self.module.init_distributed()``."""
        func, ours = call.func, self.use.call.func
        if module is not self.use.module or not isinstance(func, ast.Attribute) or not isinstance(ours, ast.Attribute):
            return None
        if module.text(func.value) != module.text(ours.value):
            return None
        packages = {name.rpartition(".")[0] for name in self.use.surface.names if name.rpartition(".")[2] == ours.attr}
        surfaces = (self.context.tracer.finder.surface(f"{package}.{func.attr}") for package in sorted(packages))
        return next((Use(module, call, surface) for surface in surfaces if surface is not None), None)

    def _is_group_absence_test(self, module: Module, test: ast.expr) -> bool:
        """Whether a condition holds where there is no default group, and only there."""
        if not (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and isinstance(test.operand, ast.Call)):
            return False
        names = self.context.tracer.resolver.names(module, test.operand.func)
        return any(name in idioms.group_asked for idioms in self.context.rules.idioms for name in names)

    def _is_always_taken(self, module: Module, test: ast.expr) -> bool:
        """Whether a condition holds in each process of several as long as there is no default group, whatever it is elsewhere."""
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            return all(self._is_always_taken(module, part) for part in test.values)
        if any(one.launched and is_condition(one.launched, module, test) for one in self.use.surface.parameters):
            return True
        # what somebody switched on by hand can be switched off
        return self._is_group_absence_test(module, test) or self.context.facts.unset.truth(module, test) is True

    def _is_immediate(self, use: Use) -> bool:
        """Whether a call makes the group there and then."""
        surface = use.surface
        for parameter in surface.parameters:
            if parameter.fields is not None:
                argument = use.argument(parameter)
                return argument is not None and any(find_parser_classes(self.context, use.module, argument, parameter.fields))
        return surface.default_group and surface.at_once

    def _search_definition(self, function: Definition, depth: int) -> DominatingInit | None:
        if function.node.name in self._methods and isinstance(function.module.parents.get(function.node), ast.ClassDef):
            return None
        if function.node not in self._inside:
            self._inside[function.node] = None
            self._inside[function.node] = self._search_inside(function.module, function.node, depth - 1)
        return self._inside[function.node]

    def _find_making_parameter(self, module: Module, function: Def) -> DominatingInit | None:
        """A parameter whose annotation says that it is an object which makes the group when it is made."""
        arguments = function.args
        for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            if find_default(function, argument.arg) is not None and argument.arg in self._asked:
                continue  # perhaps nobody made one, and it is made here then
            for part in ast.walk(argument.annotation) if argument.annotation is not None else ():
                if isinstance(part, (ast.Name, ast.Attribute)) and self._is_group_maker(module, part):
                    return DominatingInit(module, argument, True)
        return None

    def _is_group_maker(self, module: Module, node: ast.expr) -> bool:
        resolver, finder = self.context.tracer.resolver, self.context.tracer.finder
        names: list[str] = []
        for entity in resolver.resolve(module, node):
            if isinstance(entity, External):
                names.append(entity.name)
            elif isinstance(entity, Definition) and isinstance(entity.node, ast.ClassDef):
                names += resolver.external_bases(entity.module, entity.node)
        found = (finder.surface(name) for name in names)
        return any(surface is not None and surface.at_once for surface in found)

    def _search_constructor(self, module: Module, function: ast.AST, depth: int) -> DominatingInit | None:
        """What the constructor of a method's class makes, or was passed: it ran before the method."""
        around = module.parents.get(function)
        if not isinstance(around, ast.ClassDef) or getattr(function, "name", "") == "__init__":
            return None
        for base in self.context.tracer.resolver.external_bases(module, around):
            package, _, name = base.partition(".")
            if any(name.endswith(idioms.group_held.get(package, " ")) for idioms in self.context.rules.idioms):
                return DominatingInit(module, around, True)
        for entity in self.context.tracer.resolver.member(Definition(module, around), "__init__"):
            if isinstance(entity, Definition) and (found := self._search_definition(entity, depth)) is not None:
                return found
        return None
