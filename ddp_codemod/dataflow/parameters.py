"""Parameters: their defaults and what the calls of the project pass for them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial

from ddp_codemod.dataflow import class_keywords, config_keys, gin, mappings, options, star_args
from ddp_codemod.dataflow.allocation_sites import AllocationKind, find_origins
from ddp_codemod.dataflow.annotations import is_annotation_of
from ddp_codemod.dataflow.callers import callers_of, has_unknown_callers
from ddp_codemod.dataflow.calls import CallArguments, Def, find_default, find_passed_argument, find_position, is_bound_method
from ddp_codemod.dataflow.decorators import find_opaque_decorator, is_filled_by_decorator
from ddp_codemod.dataflow.name_reads import are_defaults_replaced
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.dataflow.values import MAX_DEPTH, Confidence, Frame, Trace, Value
from ddp_codemod.discover.kinds import is_test
from ddp_codemod.discover.listing import is_under
from ddp_codemod.kinds import Meaning, OriginKind
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.entities import Definition
from ddp_codemod.sites.scopes import FUNCTIONS, Binding, bindings, owner_scope, scope_of

# Where a parameter gets values besides its default and its callers: each gives the sources of what it declares, [] for nothing.
SOURCES: tuple[Callable[[Tracer, Module, Def, str, Trace], list[Value]], ...] = (
    options.trace_decorated_default,
    gin.trace_parameter_bindings,
    config_keys.trace_configured_parameter,
    class_keywords.trace_class_keyword,
)
OVERRIDDEN = "overridden"  # under which the tracer remembers defaults that a call has replaced


def trace_parameter(tracer: Tracer, module: Module, function: ast.AST, binding: Binding, trace: Trace) -> list[Value]:
    """The sources of a parameter: its default and what every call in the project passes."""
    node = binding.node
    assert isinstance(node, ast.arg)
    return [*(tracer.ask(module, node, trace, (), partial(_trace_parameter, tracer, module, function, node)) or ())]


def _trace_parameter(tracer: Tracer, module: Module, function: ast.AST, node: ast.arg, trace: Trace) -> list[Value]:
    if isinstance(function, ast.Lambda):
        return [tracer.unknown(module, node, trace, "why-parameter", name=node.arg, function="lambda")]
    assert isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
    if node is function.args.vararg and callers_of(tracer, module, function):
        return [tracer.unknown(module, node, trace, "why-parameter", name=node.arg, function=function.name)]
    if node in (function.args.vararg, function.args.kwarg) or _is_test_parameter(tracer, module, function, node.arg):
        return [
            Value(
                module,
                node,
                OriginKind.PARAMETER,
                why=Reason.of("why-parameter", name=node.arg, function=function.name),
                trace=trace,
            )
        ]
    if trace.certain and is_annotation_of(tracer.resolver, module, node.annotation, tracer.no_texts):
        return [tracer.unknown(module, node, trace, "why-parameter", name=node.arg, function=function.name)]
    if decorator := find_opaque_decorator(tracer, module, function):
        trace = trace.with_doubt(Confidence.REPLACED, decorator)
    frame = trace.frame.find(function) if trace.frame else None
    default = find_default(function, node.arg)
    default = None if default is not None and gin.is_required(tracer, module, default) else default
    if frame is not None:
        if node.arg in frame.bound:
            bound_module, bound, outer = frame.bound[node.arg]
            step = trace.step(
                bound_module.place(bound),
                Reason.of("hop-argument", Meaning.ARGUMENT, name=node.arg, function=function.name),
                OriginKind.ARGUMENT,
            )
            return [*tracer.evaluate(bound_module, bound, step.inside(outer))]
        for spread_module, spread, outer in frame.spread:
            reason = Reason.of("hop-argument", Meaning.ARGUMENT, name=node.arg, function=function.name)
            step = trace.step(spread_module.place(spread), reason, OriginKind.ARGUMENT)
            there = mappings.look_up(tracer, spread_module, spread, ast.Constant(node.arg), step.inside(outer))
            if there:
                return there
        if default is not None:
            step = trace.step(
                module.place(node), Reason.of("hop-default", name=node.arg, function=function.name), OriginKind.PARAMETER_DEFAULT
            )
            return [*tracer.evaluate(module, default, step)]
        return [tracer.unknown(module, node, trace, "why-parameter", name=node.arg, function=function.name)]
    found: list[Value] = []
    spread_open: tuple[Module, ast.expr, Trace] | None = None
    method, given_by = is_bound_method(module, function), callers_of(tracer, module, function)
    if default is not None and not _is_always_passed(tracer, module, given_by, function, node.arg):
        step = trace.step(
            module.place(node), Reason.of("hop-default", name=node.arg, function=function.name), OriginKind.PARAMETER_DEFAULT
        )
        found += tracer.evaluate(module, default, step.inside(None))
    elif default is not None:
        tracer.memory.setdefault(OVERRIDDEN, set()).add(default)
    if default is not None and are_defaults_replaced(tracer, module, function):
        found.append(tracer.unknown(module, node, trace, "why-parameter", name=node.arg, function=function.name))
    for source in SOURCES:
        found += source(tracer, module, function, node.arg, trace)
    if function in tracer.commands.functions:
        found += options.trace_field_option(tracer, node.arg, [module.name], trace)
    for given in given_by:
        argument = find_passed_argument(given, function, node.arg, method)
        kind = OriginKind.SUBCLASS_ARGUMENT if _is_base_call(given.call) else OriginKind.ARGUMENT
        step = trace.step(
            given.module.place(given.call),
            Reason.of("hop-argument", Meaning.ARGUMENT, name=node.arg, function=function.name),
            kind,
        )
        if argument is not None:
            found += tracer.evaluate(given.module, argument, step.inside(None))
            continue
        for spread in (keyword.value for keyword in given.keywords if keyword.arg is None):
            if not is_forwarded(given.module, spread):
                spread_open = (given.module, spread, step.inside(None))
            there = mappings.look_up(tracer, given.module, spread, ast.Constant(node.arg), step.inside(None))
            if there is None and default is not None and _is_unread(tracer, given.module, spread):
                there = [tracer.unknown(given.module, spread, step.inside(None), "why-spread", text=given.module.text(spread))]
            found += there or []
        position = find_position(function, node.arg, is_bound_method(module, function)) - given.skip
        if position >= 0 and any(isinstance(part, ast.Starred) for part in given.positional[: position + 1]):
            found += star_args.trace_index(tracer, given.module, given.positional, position, step.inside(None)) or []
    if not found and spread_open is not None:  # who is to give it is known, and not what
        where, what, step = spread_open
        return [tracer.unknown(where, what, step, "why-spread", text=f"**{where.text(what)}")]
    if not found and (has_unknown_callers(tracer, module, function) or is_filled_by_decorator(tracer, module, function)):
        return [tracer.unknown(module, node, trace, "why-parameter", name=node.arg, function=function.name)]
    return found or [
        Value(
            module, node, OriginKind.PARAMETER, why=Reason.of("why-parameter", name=node.arg, function=function.name), trace=trace
        )
    ]


def _is_unread(tracer: Tracer, module: Module, spread: ast.expr) -> bool:
    """Whether nothing is known of the mapping that a call unpacks: no file, no parser, no table of the project gives it."""
    made = find_origins(tracer, module, spread, Trace()).made
    return not is_forwarded(module, spread) and all(
        one.maker in (AllocationKind.UNKNOWN, AllocationKind.ELSEWHERE) for one in made
    )


def _is_always_passed(tracer: Tracer, module: Module, given_by: Sequence[CallArguments], function: Def, name: str) -> bool:
    """Whether every call passes a parameter of a package's function that only programs outside of the package call, tests aside.

    What the package calls itself is its interface: then others may call it and leave the parameter out.
    """
    package, method = tracer.resolver.project.package(module.name), is_bound_method(module, function)
    own = [given for given in given_by if not is_test(given.module.name)]
    if not own or any(is_under(given.module.name, package) for given in own):
        return False
    return all(find_passed_argument(given, function, name, method) is not None for given in own)


def is_forwarded(module: Module, node: ast.expr) -> bool:
    """Whether what a call unpacks is what the function around it is passed, so that its own callers decide."""
    home = owner_scope(module, scope_of(module, node), node.id) if isinstance(node, ast.Name) else None
    return home is not None and any(made.kind == "parameter" for made in bindings(module, home)[node.id])  # type: ignore[attr-defined]


def _is_base_call(call: ast.Call) -> bool:
    """Whether a call is ``super().method(...)``: one of several subclasses' values."""
    base = call.func.value if isinstance(call.func, ast.Attribute) else None
    return isinstance(base, ast.Call) and isinstance(base.func, ast.Name) and base.func.id == "super"


def _is_test_parameter(tracer: Tracer, module: Module, function: Def, name: str) -> bool:
    """Whether a decorator such as ``pytest.mark.parametrize`` gives the parameter its values."""
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call):
            names = tracer.resolver.names(module, decorator.func)
            if any(known in idioms.test_parameters for idioms in tracer.idioms for known in names):
                said = [
                    part.value for argument in decorator.args[:1] for part in ast.walk(argument) if isinstance(part, ast.Constant)
                ]
                if any(name in str(text).replace(" ", "").split(",") for text in said):
                    return True
    return False


def frame(tracer: Tracer, module: Module, call: ast.Call, entity: Definition, trace: Trace) -> Frame:
    """The frame for following one call into a function: the same one for all calls that hand it the same.

    So a method that reads what it has set itself is met a second time, and not followed again at each turn.
    """
    function = entity.node
    assert isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
    around, given = trace.frame, CallArguments(module, call, tuple(call.args), tuple(call.keywords))
    if around is not None and (len(around.callers) >= MAX_DEPTH or function in (around.function, *around.callers)):
        around = None
    callers = (around.function, *around.callers) if around is not None else ()
    bound: dict[str, tuple[Module, ast.expr, Frame | None]] = {}
    outside = around
    for argument in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs):
        value = find_passed_argument(given, function, argument.arg, is_bound_method(entity.module, function))
        if value is not None:
            bound[argument.arg] = (module, value, around)
    if not isinstance(scope_of(entity.module, function), FUNCTIONS):
        outside = None  # it sees no names of the functions around
    spread = tuple((module, part.value, around) for part in call.keywords if part.arg is None)
    callers = callers if bound or spread or outside else ()  # else it is the same wherever it is called
    same = (function, outside, tuple((name, value, outer) for name, (_, value, outer) in bound.items()), spread)
    made: Frame = tracer.memory.setdefault("frames", {}).setdefault(same, Frame(function, bound, outside, spread, callers))
    return made
