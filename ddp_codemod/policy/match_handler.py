"""Matches list parameters whose objects carry the backend, such as accelerate's ``kwargs_handlers``."""

from __future__ import annotations

import ast

from ddp_codemod.catalog.model import Fix, Parameter
from ddp_codemod.catalog.objects import Handler
from ddp_codemod.dataflow.callers import callers
from ddp_codemod.dataflow.calls import calls_of
from ddp_codemod.dataflow.journey import journey
from ddp_codemod.dataflow.leaves import Way
from ddp_codemod.dataflow.mappings import look_up
from ddp_codemod.dataflow.parameters import is_handed_on
from ddp_codemod.kinds import Meaning
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.findings import Change, Context, Finding, NewHandler, NewObject, start, unreachable
from ddp_codemod.policy.left_out import naming, who
from ddp_codemod.policy.under_launcher import why_of
from ddp_codemod.sites.find import Use
from ddp_codemod.sites.scopes import owner, scope_of


def match_handler(context: Context, use: Use, parameter: Parameter, fix: Fix) -> Finding:
    """Decide whether the call's list needs a handler that names the wanted backend."""
    platform, handler = context.platform, parameter.handler
    assert handler is not None
    argument = use.argument(parameter)
    choice = platform.backend
    made = start(context, use, parameter, argument, [], [choice.default or choice.wanted])
    never = unreachable(context, use)
    if never is not None:
        return made.keep(never)
    if not choice.default or choice.default in choice.works:
        return made.keep(Reason.of("keep-omitted", parameter=handler.keyword))
    into = _unpacked(context, use, parameter) if argument is None else False
    if into is True:
        unknown = made.review(fix.id, Reason.of("why-spread", text=use.module.text(use.spread[0])))
        return naming(context, parameter, unknown, fix)
    if argument is not None and handler.single:
        return made.keep(Reason.of("keep-handler", Meaning.ELSEWHERE, handler=handler.names[0].rsplit(".", 1)[-1]))
    listed = argument if argument is not None else into if isinstance(into, ast.List) else None
    if listed is not None:
        there = _has_handler(context, use.module, listed, handler)
        if there is None and _is_listed(context, use, handler):
            there = True
        if there is None:
            return made.review(fix.id, Reason.of("why-expression", text=use.module.text(argument or use.call)))
        if there:
            return made.keep(Reason.of("keep-handler", Meaning.ELSEWHERE, handler=handler.names[0].rsplit(".", 1)[-1]))
    reason = Reason.of(
        "edit-handler",
        handler=handler.names[0].rsplit(".", 1)[-1],
        value=choice.default,
        wanted=choice.wanted,
        platform=platform.id,
        who=who(context, use),
        **why_of(platform, parameter.launched),
    )
    place = into if isinstance(into, ast.List) else None
    change: Change = NewHandler(use.module, use.call, parameter.name, handler, choice.wanted, place)
    if handler.single:
        package, _, name = handler.names[0].rpartition(".")
        change = NewObject(use.module, use.call, parameter.name, None, package, name, (), handler.keyword, choice.wanted)
    safe = parameter.add_applicability == "safe" and not (argument is None and _is_for_others(context, use))
    return naming(context, parameter, made.edit(fix.id, safe, reason, [change]), fix)


def _unpacked(context: Context, use: Use, parameter: Parameter) -> ast.List | bool:
    """The list in what the call unpacks, if it is written out there; else whether there can be one that is not known."""
    found: list[ast.List] = []
    for mapping in use.spread:
        if any(isinstance(part, ast.Starred) and part.value is mapping for part in use.call.args):
            return True
        parts = zip(mapping.keys, mapping.values, strict=True) if isinstance(mapping, ast.Dict) else ()
        written = [value for key, value in parts if isinstance(key, ast.Constant) and key.value == parameter.name]
        if len(written) == 1 and isinstance(written[0], ast.List) and written[0].elts:
            found.append(written[0])
        elif look_up(context.tracer, use.module, mapping, ast.Constant(parameter.name), Way()) != []:
            return True
    return found[0] if len(found) == 1 else bool(found)


def _is_for_others(context: Context, use: Use) -> bool:
    """Whether the call unpacks a parameter of a function that nobody in the project calls: who does may hand on the same keyword."""
    for part in use.spread:
        if isinstance(part, ast.Name) and is_handed_on(use.module, part):
            function = owner(use.module, scope_of(use.module, part), part.id)
            if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) and not callers(
                context.tracer, use.module, function
            ):
                return True
    return False


def _has_handler(context: Context, module: Module, argument: ast.expr, handler: Handler) -> bool | None:
    """Whether the list holds the handler already; None where its contents are not known."""
    understood = False
    for leaf in context.tracer.trace(module, argument):
        if not isinstance(leaf.node, (ast.List, ast.Tuple)):
            return None
        understood = True
        for element in leaf.node.elts:
            if any(name in handler.names for name in _made_by(context, leaf.code[0], element)):
                return True
    return False if understood else None


def _is_listed(context: Context, use: Use, handler: Handler) -> bool:
    """Whether a handler that the file makes gets to the call through lists that are not followed otherwise."""
    words = {name.rpartition(".")[2] for name in handler.names}
    for call in (call for word in sorted(words) for call in calls_of(use.module).get(word, ())):
        if set(context.tracer.resolver.names(use.module, call.func)) & set(handler.names):
            if any(taker is use.call for _, taker in journey(context.tracer, use.module, call).arguments):
                return True
    return False


def _made_by(context: Context, module: Module, element: ast.expr) -> list[str]:
    """Qualified names of what an element of the list is made by."""
    if isinstance(element, ast.Call):
        return context.tracer.resolver.names(module, element.func)
    found: list[str] = []
    for leaf in context.tracer.trace(module, element):
        if isinstance(leaf.node, ast.Call):
            found += context.tracer.resolver.names(leaf.code[0], leaf.node.func)
    return found
