"""Whether the project shows that it uses a group which is made only where several processes were started."""

from __future__ import annotations

import ast
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
    if way.escapes or (way.methods & set(shown.perhaps) and not asked_only):
        return Showing.PERHAPS, None
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
