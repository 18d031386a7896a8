"""Whether the project shows that it uses a group which is made only where several processes were started."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from enum import Enum

from ddp_codemod.catalog.objects import Shown
from ddp_codemod.dataflow.calls import calls_of
from ddp_codemod.dataflow.journey import Journey, journey
from ddp_codemod.discover.kinds import NOTEBOOK, is_test
from ddp_codemod.kinds import Meaning
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.policy.findings import Context
from ddp_codemod.sites.find import Use
from ddp_codemod.sites.imports import Imports
from ddp_codemod.sites.scopes import scope_of


class Showing(Enum):
    """How sure that is."""

    YES = "yes"
    PERHAPS = "perhaps"
    NO = "no"


def showing(context: Context, use: Use) -> tuple[Showing, Reason | None]:
    """Whether the group of a use is shown to be used, and why not; surfaces that ask for no such thing always are."""
    shown = use.surface.shown
    if shown is None:
        return Showing.YES, None
    if (alone := _one_process(use, shown)) is not None:
        return Showing.NO, alone
    if shown.always or any(keyword.arg in shown.arguments for keyword in use.call.keywords):
        return Showing.YES, None
    way = _way(context, use)
    if shown.handed_to:
        taken = (_taker(context, module, call, shown.handed_to) for module, call in way.arguments)
        return (Showing.YES if any(taken) else Showing.PERHAPS), None
    if way.methods & set(shown.methods) or (way.attributes & set(shown.attributes) and _beside(context, use, shown)):
        return Showing.YES, None
    asked_only = isinstance(
        use.module.parents.get(use.call), ast.Attribute
    )  # State().is_main_process: one that exists, for all that is known
    makes = use.surface.default_group and not asked_only
    if makes and _needs_group(context, use.module):
        return Showing.YES, None  # it would end there, had nothing made one
    if way.escapes or (way.methods & set(shown.perhaps) and not asked_only) or (makes and _is_the_only_maker(context, use)):
        return (Showing.YES if _runs_with_one_that_shows(context, use) else Showing.PERHAPS), None
    return Showing.NO, Reason.of("keep-no-training", Meaning.ELSEWHERE, method=", ".join((*shown.methods, *shown.attributes)[:3]))


def _way(context: Context, use: Use) -> Journey:
    """Where the object goes; that of ``super().__init__(...)`` is each object that a call of the class makes."""
    function = scope_of(use.module, use.call)
    own = (
        isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) and function.name == last_name(use.call.func) == "__init__"
    )
    way = Journey() if own else journey(context.tracer, use.module, use.call)
    for given in context.tracer.callers(use.module, function) if own else ():  # type: ignore[arg-type]
        one = journey(context.tracer, given.module, given.call)
        way.methods |= one.methods
        way.attributes |= one.attributes
        way.escapes |= one.escapes
        way.arguments += one.arguments
    return way


def _runs_with_one_that_shows(context: Context, use: Use) -> bool:
    """Whether a file that imports this one shows that it uses the group, which the first of all these objects makes for it."""
    tracer, key = context.tracer, f"showing: {use.surface.id}"
    if not use.surface.finds_group:
        return False
    if key not in tracer.memory:
        tracer.memory[key] = frozenset[str]()  # while the others are asked
        tracer.memory[key] = frozenset(_files_that_show(context, use))
    shown: frozenset[str] = tracer.memory[key]
    imports: Imports = tracer.memory.setdefault("imports", Imports(tracer.resolver.project))
    return bool(shown - {use.module.name}) and not shown.isdisjoint(imports.above([use.module.name]) - {use.module.name})


def _files_that_show(context: Context, use: Use) -> Iterator[str]:
    """The files with a use of the same surface that shows it."""
    project, finder = context.tracer.resolver.project, context.tracer.finder
    words = {name.rpartition(".")[2] for name in use.surface.names}
    for name in sorted(project.naming(words)):
        for module in project.programs(name):
            calls = (call for word in sorted(words) for call in calls_of(module).get(word, ()))
            uses = (made for call in calls if (made := finder.use(module, call)) is not None and made.surface is use.surface)
            if any(showing(context, made)[0] is Showing.YES for made in uses):
                yield name


def is_unshown(context: Context, use: Use) -> bool:
    """Whether an object that names its backend goes to nothing that is shown to use a group."""
    shown = use.surface.shown
    return shown is not None and bool(shown.handed_to) and showing(context, use)[0] is not Showing.YES


def _beside(context: Context, use: Use, shown: Shown) -> bool:
    """Whether the file holds a call of a surface that trains in the same processes."""
    surfaces = (context.rules.surfaces[ident] for ident in shown.beside)
    words = {name.rpartition(".")[2] for surface in surfaces for name in surface.names}
    table = calls_of(use.module)
    calls = (call for word in sorted(words & table.keys()) for call in table[word])
    return any((made := context.tracer.finder.use(use.module, call)) and made.surface.id in shown.beside for call in calls)


def _needs_group(context: Context, module: Module) -> bool:
    """Whether the file holds a call that fails where there is no default group, and does not ask for one before."""
    needed = _needed(context)
    table, resolver = calls_of(module), context.tracer.resolver
    words = sorted({name.rpartition(".")[2] for name in needed} & table.keys())
    calls = [call for word in words for call in table[word] if needed.intersection(resolver.names(module, call.func))]
    return any(not _is_asked_before(context, module, call) for call in calls)


def _needed(context: Context) -> set[str]:
    return {name for idioms in context.rules.idioms for name in idioms.group_needed}


def _is_asked_before(context: Context, module: Module, call: ast.Call) -> bool:
    """Whether a condition around a call asks whether there is a group."""
    asked = {name for idioms in context.rules.idioms for name in idioms.group_asked}
    tests = (around.test for around in module.ancestors(call) if isinstance(around, (ast.If, ast.IfExp)))
    parts = (part.func for test in tests for part in ast.walk(test) if isinstance(part, ast.Call))
    return any(asked.intersection(context.tracer.resolver.names(module, part)) for part in parts)


def _is_the_only_maker(context: Context, use: Use) -> bool:
    """Whether nothing else in the project makes a default group, and some file needs one; asked once for each surface."""
    key = f"only maker: {use.surface.id}"
    if key not in context.tracer.memory:
        context.tracer.memory[key] = _makes_all_groups(context, use)
    return bool(context.tracer.memory[key])


def _makes_all_groups(context: Context, use: Use) -> bool:
    project = context.tracer.resolver.project
    others = {
        name.rpartition(".")[2] for surface in context.rules.surfaces.values() if surface.default_group for name in surface.names
    }
    mine = {name.rpartition(".")[2] for name in use.surface.names}
    if any(
        _makes_group(context, module, others - mine)
        for name in sorted(project.naming(others - mine))
        for module in project.programs(name)
    ):
        return False
    words = {name.rpartition(".")[2] for name in _needed(context)}
    return any(_needs_group(context, module) for name in sorted(project.naming(words)) for module in project.programs(name))


def _makes_group(context: Context, module: Module, words: set[str]) -> bool:
    """Whether a file holds a call of a surface that makes the default group."""
    table = calls_of(module)
    found = (context.tracer.finder.use(module, call) for word in sorted(words & table.keys()) for call in table[word])
    return any(use is not None and use.surface.default_group for use in found)


def _taker(context: Context, module: Module, call: ast.Call, surface: str) -> Use | None:
    taker = context.tracer.finder.use(module, call)
    return taker if taker is not None and taker.surface.id == surface else None


def _one_process(use: Use, shown: Shown) -> Reason | None:
    """Why code is one process whatever it says: a notebook that starts no others, or a test."""
    if use.module.name.endswith(NOTEBOOK):
        called = {last_name(call.func) for call in use.module.nodes.get(ast.Call, ()) if isinstance(call, ast.Call)}
        if not called & {name.rpartition(".")[2] for name in shown.launchers}:
            return Reason.of("keep-notebook")
    return Reason.of("keep-test") if is_test(use.module.name) else None
