"""Matches parsers whose options are the fields of classes, such as transformers' HfArgumentParser: one field is the backend."""

from __future__ import annotations

import ast

from ddp_codemod.catalog.fix import Fix
from ddp_codemod.catalog.model import Parameter
from ddp_codemod.catalog.objects import Fields
from ddp_codemod.dataflow.calls import index_calls
from ddp_codemod.dataflow.classes import trace_class_attribute
from ddp_codemod.dataflow.escape_analysis import analyze_escapes
from ddp_codemod.dataflow.values import Trace, Value
from ddp_codemod.kinds import OriginKind
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.decide import decide_site
from ddp_codemod.policy.decision_reasons import text_of
from ddp_codemod.policy.default_argument import (
    build_default_arguments,
    decide_default_backend,
    is_default_wrong,
    mark_unsure_of_versions,
    pick_default_backend,
)
from ddp_codemod.policy.findings import VALUE, Change, Context, Finding, NewStatement, start, unreachable
from ddp_codemod.policy.parser_classes import ParserClass, field_of, find_likely_class, find_parser_classes
from ddp_codemod.sites.scopes import bindings
from ddp_codemod.sites.surface_calls import Use


def decide_fields(context: Context, use: Use, parameter: Parameter, fix: Fix) -> Finding | None:
    """Decide about a parser; None where none of its classes has the field."""
    assert parameter.fields is not None
    fields = parameter.fields
    argument = use.argument(parameter)
    taken = find_parser_classes(context, use.module, argument, fields) if argument is not None else []
    if not taken:
        return _decide_unread_class(context, use, parameter, argument, fix)
    sources = [source for one in taken for source in _collect_class_values(context, one, fields, use)] + _collect_method_values(
        context, use, fields
    )
    if sources:
        result = start(context, use, parameter, argument, sources, (text_of(context, source, parameter) for source in sources))
        never = unreachable(context, use)
        return result.keep(never) if never is not None else decide_site(context, result, parameter, fix)
    result = start(context, use, parameter, argument, [], [pick_default_backend(context, parameter)])
    if (never := unreachable(context, use)) is not None:
        return result.keep(never)
    if not is_default_wrong(context, parameter):
        return result.keep(Reason.of("keep-omitted", parameter=fields.field))
    changes = _plan_changes(context, use, taken, fields)
    if isinstance(changes, Reason):
        decided = result.review(fix.id, changes)
    else:
        reason = explain_field_edit(context, parameter)
        past = sorted(set(fields.past) & analyze_escapes(context.tracer, use.module, use.call).methods)
        if past and any(change.where == "behind" for change in changes if isinstance(change, NewStatement)):
            reason = Reason.of("edit-field-past", **{**dict(reason.args), "methods": ", ".join(past)})
        decided = result.edit(fix.id, fix.applicability == "safe" and parameter.add_applicability == "safe", reason, changes)
    decided = decide_default_backend(context, parameter, decided, fix)
    for one in taken:
        decided = mark_unsure_of_versions(context, one.parameter, use.module.name, decided)
    return decided


def _decide_unread_class(context: Context, use: Use, parameter: Parameter, argument: ast.expr | None, fix: Fix) -> Finding | None:
    """For review where a package that is not read has the class, and its name says that it is one of those."""
    assert parameter.fields is not None
    fields = parameter.fields
    name = find_likely_class(context, use.module, argument, fields) if argument is not None else None
    if (
        name is None
        or not is_default_wrong(context, parameter)
        or unreachable(context, use) is not None
        or _collect_method_values(context, use, fields)
    ):
        return None
    arguments = {"name": name, "parameter": fields.field, "wanted": context.platform.backend.wanted}
    return start(context, use, parameter, argument, [], ["?"]).review(fix.id, Reason.of("review-field-unread", **arguments))


def explain_field_edit(context: Context, parameter: Parameter) -> Reason:
    """Why a class, or its parser, is passed the field."""
    assert parameter.fields is not None
    return Reason.of("edit-field", **build_default_arguments(context, parameter, parameter.fields.field))


def _collect_class_values(context: Context, taken: ParserClass, fields: Fields, use: Use) -> list[Value]:
    """What the project's class says about the field itself."""
    if taken.module is None or taken.node is None:
        return []
    lineage = context.tracer.resolver.lineage(taken.module, taken.node)
    if not any(fields.field in bindings(module, node) for module, node in lineage):
        return []
    return trace_class_attribute(context.tracer, taken.module, taken.node, fields.field, use.call, Trace())


def _collect_method_values(context: Context, use: Use, fields: Fields) -> list[Value]:
    """What the parser's method sets the default to."""
    found: list[Value] = []
    for call in index_calls(use.module).get(fields.method, ()):
        for keyword in call.keywords:
            if keyword.arg == fields.field:
                found += context.tracer.evaluate(use.module, keyword.value, Trace(kind=OriginKind.OPTION_DEFAULT))
    return found


def _plan_changes(context: Context, use: Use, taken: list[ParserClass], fields: Fields) -> list[Change] | Reason:
    """A field in each class of the project; for a class from outside, a default that the parser is told."""
    wanted = f'"{context.platform.backend.wanted}"'
    changes: list[Change] = []
    for one in taken:
        home = _find_field_owner(context, one, fields)
        if home is not None:
            changes.append(make_field(*home, fields, wanted))
            continue
        statement = use.module.parents.get(use.call)
        target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
        if (
            not isinstance(target, (ast.Name, ast.Attribute))
            or not set(fields.reads) & analyze_escapes(context.tracer, use.module, use.call).methods
        ):
            return Reason.of("review-field", parameter=fields.field, wanted=context.platform.backend.wanted)
        text = f"{use.module.text(target)}.{fields.method}({fields.field}={VALUE})"
        changes.append(NewStatement(use.module, use.call, text, wanted, "behind"))
    return changes


def make_field(module: Module, node: ast.ClassDef, fields: Fields, value: str) -> NewStatement:
    """The field as the first line of a class."""
    return NewStatement(module, node, f"{fields.field}: {fields.annotation} = {VALUE}", value, "inside")


def _find_field_owner(context: Context, taken: ParserClass, fields: Fields) -> tuple[Module, ast.ClassDef] | None:
    """The class of the project that gets the field: the one that all the others of its line derive from."""
    if taken.module is None or taken.node is None:
        return None
    lineage = context.tracer.resolver.lineage(taken.module, taken.node)
    return next(
        (
            one
            for one in reversed(list(lineage))
            if is_direct_subclass(context, *one, fields) and is_decorated(context, *one, fields)
        ),
        None,
    )


def is_direct_subclass(context: Context, module: Module, node: ast.ClassDef, fields: Fields) -> bool:
    """Whether a class derives from one of the library itself."""
    names = (name for base in node.bases for name in context.tracer.resolver.names(module, base))
    return any(field_of(context, name, fields) is not None for name in names)


def is_decorated(context: Context, module: Module, node: ast.ClassDef, fields: Fields) -> bool:
    result = [part.func if isinstance(part, ast.Call) else part for part in node.decorator_list]
    return any(name in fields.decorators for part in result for name in context.tracer.resolver.names(module, part))
