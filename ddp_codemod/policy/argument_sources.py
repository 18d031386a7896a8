"""What a call passes for a parameter: the argument, and where its value comes from."""

from __future__ import annotations

import ast

from ddp_codemod.catalog.model import Parameter
from ddp_codemod.dataflow.classes import trace_class_attribute
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.mappings import look_up
from ddp_codemod.dataflow.missing_keys import find_missing_keys
from ddp_codemod.dataflow.parameters import is_forwarded
from ddp_codemod.dataflow.star_args import trace_index
from ddp_codemod.dataflow.values import PlatformDefault, Trace, Value
from ddp_codemod.kinds import OriginKind
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.decision_reasons import OMITTED
from ddp_codemod.policy.findings import Context
from ddp_codemod.sites.entities import Definition
from ddp_codemod.sites.scopes import bindings, scope_of
from ddp_codemod.sites.surface_calls import Use

_MOST = 5  # calls that pass nothing, each of which gets an edit of its own


def collect_sources(context: Context, use: Use, parameter: Parameter) -> tuple[ast.expr | None, list[Value]]:
    """The argument for a parameter and the sources of its value; an omitted one is a source of its own, at the call."""
    module, call = use.module, use.call
    argument = use.argument(parameter)
    if argument is not None and parameter.inside:
        return argument, _collect_dictionary_sources(context, module, argument, parameter.inside)
    if argument is not None:
        return argument, [*context.tracer.evaluate(module, argument)]
    found: list[Value] = []
    for mapping in use.spread:
        if any(isinstance(part, ast.Starred) and part.value is mapping for part in call.args):
            index = -1 if parameter.position is None else parameter.position + use.skip
            sources = trace_index(context.tracer, module, call.args, index, Trace(), parameter.name) if index >= 0 else []
        else:
            sources = look_up(context.tracer, module, mapping, ast.Constant(parameter.name), Trace(), whole=True)
        if sources is None:
            return None, [context.tracer.unknown(module, call, Trace(), "why-spread", text=module.text(mapping))]
        found += sources
    if use.omits == "unknown" and not found:
        return None, [context.tracer.unknown(module, call, Trace(), "why-spread", text=module.text(call.func))]
    if use.omits == "elsewhere" and not found:
        return None, [Value(module, call, OriginKind.PARTIAL)]
    if use.overrides_init and not found:
        return None, collect_sources(context, use.base, parameter)[1] if use.base else [Value(module, call, OriginKind.CLASS)]
    passed = bool(found)
    found = found or _collect_class_sources(context, use, parameter)
    default = Known(parameter.omitted_value) if parameter.omitted_value is not None else PlatformDefault()
    if parameter.add == "keyword" and parameter.omitted != "inherits" and use.omits == "default" and (passed or not found):
        found += _collect_omissions(context, use, parameter, default, passed)
    return None, found or [Value(module, use.table or call, OMITTED, default)]


def _collect_omissions(
    context: Context, use: Use, parameter: Parameter, default: Known | PlatformDefault, passed: bool
) -> list[Value]:
    """A source for each place from which the mapping that a call unpacks comes without the parameter.

    Where a keyword there is not all that it takes, they are one source, at the unpacking. ``passed``: other places pass it.
    """
    mapping = use.spread[0] if len(use.spread) == 1 else None
    if mapping is None or not any(keyword.value is mapping for keyword in use.call.keywords):
        return []
    around = scope_of(use.module, use.call)
    makes_object = isinstance(around, ast.FunctionDef) and around.name == "__init__"  # the class says it for all its objects
    if not passed and (makes_object or not is_forwarded(use.module, mapping)):
        return []  # a keyword of the call itself says it
    missing = [*find_missing_keys(context.tracer, use.module, mapping, parameter.name)]
    calls = [Value(one.module, one.call, OMITTED, default) for one in missing if one.call is not None]
    if len(calls) == len(missing) <= _MOST:
        return calls
    return [Value(use.module, mapping, OMITTED, default)] if passed else []


def _collect_dictionary_sources(context: Context, module: Module, argument: ast.expr, key: str) -> list[Value]:
    """The sources of what is under a key of a dictionary; a written one that lacks it is a source of its own."""
    if isinstance(argument, ast.Constant) and argument.value is None:
        return [Value(module, argument, OriginKind.LITERAL, PlatformDefault())]
    sources = look_up(context.tracer, module, argument, ast.Constant(key), Trace(), whole=True)
    if sources or (sources is not None and isinstance(argument, ast.Dict)):
        return sources or [Value(module, argument, OMITTED, PlatformDefault())]
    return [context.tracer.unknown(module, argument, Trace(), "why-expression", text=module.text(argument))]


def _collect_class_sources(context: Context, use: Use, parameter: Parameter) -> list[Value]:
    """What a class of the project that is called has for a field of the parameter's name."""
    tracer = context.tracer
    for entity in tracer.resolver.resolve(use.module, use.call.func):
        if isinstance(entity, Definition) and isinstance(entity.node, ast.ClassDef):
            lineage = tracer.resolver.lineage(entity.module, entity.node)
            if any(parameter.name in bindings(module, node) for module, node in lineage):
                found = trace_class_attribute(tracer, entity.module, entity.node, parameter.name, use.call, Trace())
                named = [source for source in found if isinstance(source.value, Known) and source.value.value is not None]
                return named or [Value(use.module, use.call, OriginKind.CLASS)]  # what None means is the class's own business
    return []
