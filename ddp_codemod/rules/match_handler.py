"""Matches list parameters whose objects carry the backend, such as accelerate's ``kwargs_handlers``."""

from __future__ import annotations

import ast

from ddp_codemod.model import Reason
from ddp_codemod.origins.calls import calls_of
from ddp_codemod.parse.python import Module
from ddp_codemod.rules.finding import Context, Finding, NewHandler, start, unreachable
from ddp_codemod.rules.model import Fix, Handler, Parameter
from ddp_codemod.sites.find import Use


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
    if use.surface.trains is not None and not _trains(context, use, use.surface.trains):
        return made.keep(Reason.of("keep-no-training", method=use.surface.trains))
    if use.spread and argument is None:
        return made.review(fix.id, Reason.of("why-spread", text=use.module.text(use.spread[0])))
    if argument is not None:
        there = _has_handler(context, use.module, argument, handler)
        if there is None:
            return made.review(fix.id, Reason.of("why-expression", text=use.module.text(argument)))
        if there:
            return made.keep(Reason.of("keep-handler", handler=handler.names[0].rsplit(".", 1)[-1]))
    why = {"why": platform.why, "why_zh": platform.why_zh}
    reason = Reason.of(
        "edit-handler",
        handler=handler.names[0].rsplit(".", 1)[-1],
        value=choice.default,
        wanted=choice.wanted,
        platform=platform.id,
        **why,
    )
    change = NewHandler(use.module, use.call, parameter.name, handler, choice.wanted)
    return made.edit(fix.id, parameter.add_applicability == "safe", reason, [change])


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


def _made_by(context: Context, module: Module, element: ast.expr) -> list[str]:
    """Qualified names of what an element of the list is made by."""
    if isinstance(element, ast.Call):
        return context.tracer.resolver.names(module, element.func)
    found: list[str] = []
    for leaf in context.tracer.trace(module, element):
        if isinstance(leaf.node, ast.Call):
            found += context.tracer.resolver.names(leaf.code[0], leaf.node.func)
    return found


def _trains(context: Context, use: Use, method: str) -> bool:
    """Whether something of the object's name calls the method: in this file, or where a base or a subclass of the class around is."""
    name = _target(use.module, use.call)
    if name is None:
        return True
    if _calls_method(use.module, name, method):
        return True
    around = next((at for at in use.module.ancestors(use.call) if isinstance(at, ast.ClassDef)), None)
    if around is None:
        return False
    resolver = context.tracer.resolver
    related = [*resolver.lineage(use.module, around), *resolver.subclasses(around)]
    return any(_calls_method(other, name, method) for other, _ in related)


def _target(module: Module, call: ast.Call) -> str | None:
    statement = module.statement(call)
    targets = (
        statement.targets
        if isinstance(statement, ast.Assign)
        else [statement.target]
        if isinstance(statement, ast.AnnAssign)
        else []
    )
    for target in targets:
        if isinstance(target, ast.Attribute):
            return target.attr
        if isinstance(target, ast.Name):
            return target.id
    return None


def _calls_method(module: Module, name: str, method: str) -> bool:
    for call in calls_of(module).get(method, ()):
        base = call.func.value if isinstance(call.func, ast.Attribute) else None
        if (isinstance(base, ast.Attribute) and base.attr == name) or (isinstance(base, ast.Name) and base.id == name):
            return True
    return False
