"""Whether the project shows that it uses a group which is made only where several processes were started."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from enum import Enum

from ddp_codemod.catalog.objects import Shown
from ddp_codemod.dataflow.calls import index_calls
from ddp_codemod.dataflow.escape_analysis import EscapeInfo, analyze_escapes
from ddp_codemod.dataflow.values import Trace
from ddp_codemod.discover.kinds import NOTEBOOK, is_test
from ddp_codemod.kinds import Meaning
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.policy.dominating_init import is_first_maker
from ddp_codemod.policy.findings import Context
from ddp_codemod.sites.outlines import asks_for_main
from ddp_codemod.sites.scopes import scope_of
from ddp_codemod.sites.surface_calls import Use

MOST = 100  # functions on the way from a module's lines to a call


class Visibility(Enum):
    """How sure that is."""

    YES = "yes"
    PERHAPS = "perhaps"
    NO = "no"


def assess_use(context: Context, use: Use) -> tuple[Visibility, Reason | None]:
    """Whether the group of a use is shown to be used, and why not; surfaces that ask for no such thing always are."""
    shown = use.surface.shown
    if shown is None:
        return Visibility.YES, None
    if (alone := _explain_one_process(use, shown)) is not None:
        return Visibility.NO, alone
    if shown.always or any(keyword.arg in shown.arguments for keyword in use.call.keywords):
        return Visibility.YES, None
    if shown.arguments and not (shown.methods or shown.attributes):  # nothing else can show it
        return _find_spread_argument(context, use, shown)
    escape = _trace_object(context, use)
    if shown.handed_to:
        taken = (_match_use(context, module, call, shown.handed_to) for module, call in escape.arguments)
        return (Visibility.YES if any(taken) else Visibility.PERHAPS), None
    if escape.methods & set(shown.methods) or (
        escape.attributes & set(shown.attributes) and _has_training_call(context, use, shown)
    ):
        return Visibility.YES, None
    asked_only = isinstance(
        use.module.parents.get(use.call), ast.Attribute
    )  # State().is_main_process: one that exists, for all that is known
    makes = use.surface.default_group and not asked_only
    if makes and _is_group_needed(context, use.module):
        return Visibility.YES, None  # it would end there, had nothing made one
    if makes and _runs_on_import(context, use) and _has_visible_importer(context, use):
        return Visibility.YES, None  # before the importing file makes one
    if escape.escapes or (escape.methods & set(shown.perhaps) and not asked_only) or (makes and _is_only_maker(context, use)):
        return (Visibility.YES if _has_visible_importer(context, use) else Visibility.PERHAPS), None
    trains = use.surface.default_group and _has_training_call(context, use, shown)
    if trains and (makes or is_first_maker(context, use)):
        return Visibility.YES, None  # which finds the group that this object made
    if makes and _is_in_trained_class(context, use, shown):
        return Visibility.PERHAPS, None
    return Visibility.NO, Reason.of(
        "keep-no-training", Meaning.ELSEWHERE, method=", ".join((*shown.methods, *shown.attributes)[:3])
    )


def _is_in_trained_class(context: Context, use: Use, shown: Shown) -> bool:
    """Whether a call is in a class of which a trainer has an object in each of its processes."""
    classes = (node for node in use.module.ancestors(use.call) if isinstance(node, ast.ClassDef))
    resolver = context.tracer.resolver
    return bool(shown.trained) and any(set(shown.trained) & set(resolver.external_bases(use.module, one)) for one in classes)


def _find_spread_argument(context: Context, use: Use, shown: Shown) -> tuple[Visibility, Reason | None]:
    """Whether mappings that the call spreads hold an argument that only a group has a use for, as far as they are known."""
    spread = [keyword.value for keyword in use.call.keywords if keyword.arg is None]
    for mapping in spread:
        held = [context.tracer.entry(use.module, mapping, ast.Constant(name), Trace(), whole=True) for name in shown.arguments]
        if any(one is None or one for one in held):
            return Visibility.PERHAPS, None
    return Visibility.NO, Reason.of("keep-without-argument", Meaning.ELSEWHERE, argument=", ".join(shown.arguments))


def _trace_object(context: Context, use: Use) -> EscapeInfo:
    """Where the object goes; that of ``super().__init__(...)`` is each object that a call of the class makes."""
    function = scope_of(use.module, use.call)
    own = (
        isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) and function.name == last_name(use.call.func) == "__init__"
    )
    escape = EscapeInfo() if own else analyze_escapes(context.tracer, use.module, use.call)
    for given in context.tracer.callers_of(use.module, function) if own else ():  # type: ignore[arg-type]
        one = analyze_escapes(context.tracer, given.module, given.call)
        escape.methods |= one.methods
        escape.attributes |= one.attributes
        escape.escapes |= one.escapes
        escape.arguments += one.arguments
    return escape


def _runs_on_import(context: Context, use: Use) -> bool:
    """Whether a call runs as soon as its file is imported: in its module's own lines, or in what they call."""
    seen, todo, imports = set[ast.AST](), [(use.module, use.call)], context.tracer.imports
    while todo:
        module, call = todo.pop()
        scope = scope_of(module, call)
        if scope in seen or len(seen) > MOST:
            continue
        if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
            seen.add(scope)
            todo += [(given.module, given.call) for given in context.tracer.callers_of(module, scope)]
        elif isinstance(scope, (ast.Module, ast.ClassDef)) and imports.importers.get(module.name):
            if not _is_for_main(module, call):
                return True
    return False


def _is_for_main(module: Module, call: ast.AST) -> bool:
    """Whether a call is in a branch that only the program that is started takes."""
    return any(isinstance(around, ast.If) and asks_for_main(around.test) for around in module.ancestors(call))


def _has_visible_importer(context: Context, use: Use) -> bool:
    """Whether a file that imports this one shows that it uses the group, which the first of all these objects makes for it."""
    tracer, key = context.tracer, "files that show a launched group"
    if not use.surface.finds_group:
        return False
    if key not in tracer.memory:
        tracer.memory[key] = frozenset[str]()  # while the others are asked
        tracer.memory[key] = frozenset(_find_visible_files(context))
    shown: frozenset[str] = tracer.memory[key]
    return bool(shown - {use.module.name}) and not shown.isdisjoint(tracer.imports.above([use.module.name]) - {use.module.name})


def _find_visible_files(context: Context) -> Iterator[str]:
    """The files with a use that shows it, of any surface that finds the group where one is there: it is the same for all of them."""
    project, finder = context.tracer.resolver.project, context.tracer.finder
    alike = [one for one in context.rules.surfaces.values() if one.finds_group and one.default_group and one.shown is not None]
    words, idents = {name.rpartition(".")[2] for surface in alike for name in surface.names}, {surface.id for surface in alike}
    for name in sorted(project.naming(words)):
        for module in project.programs(name):
            calls = (call for word in sorted(words) for call in index_calls(module).get(word, ()))
            uses = (made for call in calls if (made := finder.use(module, call)) is not None and made.surface.id in idents)
            if any(assess_use(context, made)[0] is Visibility.YES for made in uses):
                yield name


def is_group_invisible(context: Context, use: Use) -> bool:
    """Whether an object that names its backend goes to nothing that is shown to use a group."""
    shown = use.surface.shown
    return shown is not None and bool(shown.handed_to) and assess_use(context, use)[0] is not Visibility.YES


def _has_training_call(context: Context, use: Use, shown: Shown) -> bool:
    """Whether the file holds a call of a surface that trains in the same processes."""
    surfaces = (context.rules.surfaces[ident] for ident in shown.beside)
    words = {name.rpartition(".")[2] for surface in surfaces for name in surface.names}
    table = index_calls(use.module)
    calls = (call for word in sorted(words & table.keys()) for call in table[word])
    return any((made := context.tracer.finder.use(use.module, call)) and made.surface.id in shown.beside for call in calls)


def _is_group_needed(context: Context, module: Module) -> bool:
    """Whether the file holds a call that fails where there is no default group, and does not ask for one before."""
    needed = _list_group_functions(context)
    table, resolver = index_calls(module), context.tracer.resolver
    words = sorted({name.rpartition(".")[2] for name in needed} & table.keys())
    calls = [call for word in words for call in table[word] if needed.intersection(resolver.names(module, call.func))]
    return any(not _is_checked_before(context, module, call) for call in calls)


def _list_group_functions(context: Context) -> set[str]:
    return {name for idioms in context.rules.idioms for name in idioms.group_needed}


def _is_checked_before(context: Context, module: Module, call: ast.Call) -> bool:
    """Whether a condition around a call asks whether there is a group."""
    asked = {name for idioms in context.rules.idioms for name in idioms.group_asked}
    tests = (around.test for around in module.ancestors(call) if isinstance(around, (ast.If, ast.IfExp)))
    parts = (part.func for test in tests for part in ast.walk(test) if isinstance(part, ast.Call))
    return any(asked.intersection(context.tracer.resolver.names(module, part)) for part in parts)


def _is_only_maker(context: Context, use: Use) -> bool:
    """Whether nothing else in the project makes a default group, and some file needs one; asked once for each surface."""
    key = f"only maker: {use.surface.id}"
    if key not in context.tracer.memory:
        context.tracer.memory[key] = _is_maker_of_all_groups(context, use)
    return bool(context.tracer.memory[key])


def _is_maker_of_all_groups(context: Context, use: Use) -> bool:
    project = context.tracer.resolver.project
    others = {
        name.rpartition(".")[2] for surface in context.rules.surfaces.values() if surface.default_group for name in surface.names
    }
    mine = {name.rpartition(".")[2] for name in use.surface.names}
    if any(
        _has_group_call(context, module, others - mine)
        for name in sorted(project.naming(others - mine))
        for module in project.programs(name)
    ):
        return False
    words = {name.rpartition(".")[2] for name in _list_group_functions(context)}
    return any(_is_group_needed(context, module) for name in sorted(project.naming(words)) for module in project.programs(name))


def _has_group_call(context: Context, module: Module, words: set[str]) -> bool:
    """Whether a file holds a call of a surface that makes the default group."""
    table = index_calls(module)
    found = (context.tracer.finder.use(module, call) for word in sorted(words & table.keys()) for call in table[word])
    return any(use is not None and use.surface.default_group for use in found)


def _match_use(context: Context, module: Module, call: ast.Call, surface: str) -> Use | None:
    taker = context.tracer.finder.use(module, call)
    return taker if taker is not None and taker.surface.id == surface else None


def _explain_one_process(use: Use, shown: Shown) -> Reason | None:
    """Why code is one process whatever it says: a notebook that starts no others, or a test."""
    if use.module.name.endswith(NOTEBOOK):
        called = {last_name(call.func) for call in use.module.nodes.get(ast.Call, ()) if isinstance(call, ast.Call)}
        if not called & {name.rpartition(".")[2] for name in shown.launchers}:
            return Reason.of("keep-notebook")
    return Reason.of("keep-test") if is_test(use.module.name) else None
