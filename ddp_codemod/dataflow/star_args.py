"""Arguments that a call unpacks: ``f(*args)``, where ``args`` is what the function around takes in."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from msgspec.structs import replace

from ddp_codemod.dataflow import translations
from ddp_codemod.dataflow.additions import is_rearranged
from ddp_codemod.dataflow.callers import callers_of
from ddp_codemod.dataflow.calls import is_bound_method
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.dataflow.values import Trace, Value
from ddp_codemod.kinds import Meaning, OriginKind
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.scopes import bindings, owner_scope, scope_of

DEPTH = 5  # functions that hand their arguments on to each other


def trace_index(
    tracer: Tracer, module: Module, arguments: Sequence[ast.expr], position: int, trace: Trace, name: str = "", depth: int = 0
) -> list[Value] | None:
    """The sources of what comes at a position where an unpacked argument is at or before it; None where that is not known.

    [] says that nothing comes there, or that it comes under its ``name``.
    """
    star = next((index for index, part in enumerate(arguments) if isinstance(part, ast.Starred)), len(arguments))
    if star > position or star == len(arguments):
        return [*tracer.evaluate(module, arguments[position], trace)] if position < len(arguments) else []
    if star != len(arguments) - 1 or depth > DEPTH:  # something is behind it, at a place that depends on its length
        return None
    unpacked = arguments[star].value  # type: ignore[attr-defined]
    if (made := translations.find_part_translation(unpacked)) is not None:
        inner = ast.copy_location(ast.Starred(made.given), unpacked)
        before = trace_index(tracer, module, [*arguments[:star], inner], position, trace, name, depth + 1) or []
        return translations.trace_translated_values(tracer, module, unpacked, made, before, trace)
    function = _find_star_function(module, unpacked)
    if function is None:
        return _trace_literal_sequence(tracer, module, unpacked, position - star, trace)
    taken = len([*function.args.posonlyargs, *function.args.args]) - (1 if is_bound_method(module, function) else 0)
    found: list[Value] = []
    missing = 0
    calls = callers_of(tracer, module, function)
    for given in calls:
        reason = Reason.of("hop-argument", Meaning.ARGUMENT, name=f"*{function.args.vararg.arg}", function=function.name)  # type: ignore[union-attr]
        step = trace.step(given.module.place(given.call), reason, OriginKind.ARGUMENT)
        inside = max(taken - given.skip, 0) + position - star
        sources = trace_index(tracer, given.module, given.positional, inside, replace(step, frame=None), name, depth + 1)
        if sources is None:
            return None
        missing += not sources and not any(keyword.arg == name for keyword in given.keywords)
        found += sources
    return found if calls and not (found and missing) else None  # some calls leave it to its default


def _find_star_function(module: Module, node: ast.expr) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The function whose ``*args`` a name is, and stays."""
    home = owner_scope(module, scope_of(module, node), node.id) if isinstance(node, ast.Name) else None
    if isinstance(home, (ast.FunctionDef, ast.AsyncFunctionDef)) and isinstance(node, ast.Name):
        made = bindings(module, home)[node.id]
        if len(made) == 1 and made[0].node is home.args.vararg:
            return home
    return None


def _trace_literal_sequence(tracer: Tracer, module: Module, node: ast.expr, index: int, trace: Trace) -> list[Value] | None:
    found: list[Value] = []
    for source in tracer.evaluate(module, node, trace):
        if not isinstance(source.node, (ast.Tuple, ast.List)) or any(isinstance(part, ast.Starred) for part in source.node.elts):
            return None
        if isinstance(source.node, ast.List) and is_rearranged(tracer, source.code[0], source.node):
            return None
        if index < len(source.node.elts):
            found += tracer.evaluate(source.code[0], source.node.elts[index], source.trace)
    return found


def trace_star_keyword(tracer: Tracer, source: Value, name: str, whole: bool = False) -> list[Value] | None:
    """What the calls of a function pass under a name that its ``**kwargs`` takes in; with ``whole`` also what may hold it.

    None where the source is no such parameter, and where nothing in the project calls the function.
    """
    module, node = source.code
    arguments = module.parents.get(node)
    function = module.parents.get(arguments) if arguments else None
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) or function.args.kwarg is not node:
        return None
    found: list[Value] = []
    open_: list[Value] = []
    calls = callers_of(tracer, module, function)
    for given in calls:
        step = source.trace.step(
            given.module.place(given.call), Reason.of("hop-argument", Meaning.ARGUMENT, name=name, function=function.name)
        )
        for keyword in given.keywords:
            if keyword.arg == name:
                found += tracer.evaluate(given.module, keyword.value, replace(step.inside(None), kind=OriginKind.ARGUMENT))
            elif keyword.arg is None:
                inside = tracer.entry(given.module, keyword.value, ast.Constant(name), step.inside(None), whole)
                found += [one for one in inside or () if not one.open]
                open_ += [one for one in inside or () if one.open]
                if inside is None:
                    text = given.module.text(keyword.value)
                    unknown = tracer.unknown(given.module, given.call, step, "why-spread", text=text)
                    open_.append(replace(unknown, open=True))
    if whole and len({id(one.node) for one in open_}) >= len(calls):  # no call shows what comes in
        found += open_
    return found if calls else None
