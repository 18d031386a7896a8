"""Matches calls that make a group and do not take its backend: a statement before them gives it."""

from __future__ import annotations

import ast

from ddp_codemod.catalog.fix import Fix
from ddp_codemod.catalog.model import Parameter
from ddp_codemod.catalog.objects import Statement
from ddp_codemod.dataflow.allocation_sites import find_origins
from ddp_codemod.dataflow.calls import index_calls
from ddp_codemod.dataflow.options import trace_option
from ddp_codemod.dataflow.values import Trace, Value
from ddp_codemod.kinds import OriginKind
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.decide import decide_site
from ddp_codemod.policy.decision_reasons import open_reason, text_of
from ddp_codemod.policy.default_argument import (
    build_default_arguments,
    decide_default_backend,
    is_default_wrong,
    pick_default_backend,
)
from ddp_codemod.policy.findings import PACKAGE, VALUE, Context, Finding, NewStatement, start, unreachable
from ddp_codemod.sites.scopes import assignment_pairs, scope_of
from ddp_codemod.sites.surface_calls import Use


def decide_statement(context: Context, use: Use, parameter: Parameter, fix: Fix) -> Finding:
    """Decide whether a statement has to be before the call."""
    platform, statement = context.platform, parameter.statement
    assert statement is not None
    result = start(context, use, parameter, None, [], [pick_default_backend(context, parameter)])
    if (never := unreachable(context, use)) is not None:
        return result.keep(never)
    if statement.attribute and (sources := _collect_attribute_values(context, use, statement)):
        given = start(context, use, parameter, None, sources, (text_of(context, source, parameter) for source in sources))
        return decide_site(context, given, parameter, fix)
    if platform.fits(parameter.open_on):
        return result.review(fix.id, open_reason(context, parameter))
    if not is_default_wrong(context, parameter):
        return result.keep(Reason.of("keep-omitted", parameter=parameter.name))
    args = build_default_arguments(context, parameter)
    if (started := _find_group_start(context, use, statement)) is not None:
        return result.keep(Reason.of("keep-made-beside", origin=f"{use.module.name}:{use.module.line(started)}"))
    held = _find_package_attribute(context, use, statement)
    text = _format_statement(use.module, use.call, statement, held or PACKAGE)
    if text is None:
        instead = {"instead": parameter.instead, "instead_zh": parameter.instead_zh or parameter.instead}
        return decide_default_backend(
            context, parameter, result.review(fix.id, Reason.of("review-statement", **args, **instead)), fix
        )
    change = NewStatement(use.module, use.call, text, f'"{platform.backend.wanted}"', package="" if held else statement.package)
    safe = fix.applicability == "safe" and parameter.add_applicability == "safe"
    return decide_default_backend(
        context, parameter, result.edit(fix.id, safe, Reason.of("edit-statement", **args), [change]), fix
    )


def _collect_attribute_values(context: Context, use: Use, statement: Statement) -> list[Value]:
    """What the attribute of the object is set to: by an assignment in the same file, else by an option of the program."""
    found: list[Value] = []
    given = use.call.args[statement.position] if statement.position < len(use.call.args) else None
    for node in use.module.nodes.get(ast.Assign, ()):
        for target, value in assignment_pairs(node):
            if isinstance(target, ast.Attribute) and target.attr == statement.attribute and isinstance(given, ast.Name):
                if isinstance(target.value, ast.Name) and target.value.id == given.id and value is not None:
                    found += context.tracer.evaluate(use.module, value, Trace(kind=OriginKind.ASSIGNMENT))
    if found or given is None:
        return found
    origin = find_origins(context.tracer, use.module, given, Trace())
    trace = Trace(kind=OriginKind.OPTION_DEFAULT).with_doubt(origin.doubt, use.module.text(given))
    return trace_option(context.tracer, use.module, statement.attribute, trace, origin)


def _find_package_attribute(context: Context, use: Use, statement: Statement) -> str:
    """What the package is called where the file does not import it: ``self.module.initialize()``, whose users may not have it at all."""
    func = use.call.func
    if not isinstance(func, ast.Attribute) or f"{statement.package}.{func.attr}" not in use.surface.names:
        return ""
    names = list(ast.walk(func.value))
    plain = all(isinstance(node, (ast.Name, ast.Attribute, ast.expr_context)) for node in names)
    return use.module.text(func.value) if plain and not context.tracer.resolver.names(use.module, func.value) else ""


def _find_group_start(context: Context, use: Use, statement: Statement) -> ast.Call | None:
    """The call by which another method of the same class makes the group: a second start would only say it again."""
    method = scope_of(use.module, use.call)
    around = use.module.parents.get(method)
    if not statement.call or not isinstance(around, ast.ClassDef) or not isinstance(use.call.func, ast.Attribute):
        return None
    wanted = f"{statement.package}.{statement.call}"
    for call in index_calls(use.module).get(statement.call.rpartition(".")[2], ()):
        home = scope_of(use.module, call)
        if home is method or use.module.parents.get(home) is not around or not isinstance(call.func, ast.Attribute):
            continue
        same = use.module.text(call.func.value) == use.module.text(use.call.func.value)
        if same or wanted in context.tracer.resolver.names(use.module, call.func):
            return call
    return None


def _format_statement(module: Module, call: ast.Call, statement: Statement, package: str) -> str | None:
    """The statement; None where what it would be about is no plain name."""
    if statement.call:
        return f"{package}.{statement.call}({statement.keyword}={VALUE})"
    given = call.args[statement.position] if statement.position < len(call.args) else None
    return f"{module.text(given)}.{statement.attribute} = {VALUE}" if isinstance(given, ast.Name) else None
