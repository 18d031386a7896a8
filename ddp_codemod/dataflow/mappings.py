"""What is under a key of a mapping: written out, spread into another, joined, and what the code does to it before it is used."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import partial

from msgspec.structs import replace

from ddp_codemod.dataflow import callers, calls, config_keys, later_stores, star_args, translations
from ddp_codemod.dataflow.additions import pick_item
from ddp_codemod.dataflow.attribute_tables import look_up_attribute
from ddp_codemod.dataflow.copies import find_copy_source
from ddp_codemod.dataflow.fold import FoldResult, Known
from ddp_codemod.dataflow.mapping_stores import KeyEffect, MappingStore, find_reaching_stores, find_stores
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.dataflow.values import Trace, Value
from ddp_codemod.kinds import Meaning, OriginKind
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.scopes import bindings, owner_scope, scope_of


def look_up(
    tracer: Tracer, module: Module, mapping: ast.expr, key: ast.expr, trace: Trace, whole: bool = False
) -> list[Value] | None:
    """The sources of a key of a mapping; None where the mapping is not one that the project writes out.

    ``whole``: also what is not known may hold the key, and is a source of its own, so that [] says that the key is surely not there.
    """
    of = ("key", repr(key.value) if isinstance(key, ast.Constant) else id(key), whole)
    found = tracer.ask(module, mapping, trace, of, partial(_look_up, tracer, module, mapping, key, whole))
    return None if found is None else [*found]


def _look_up(tracer: Tracer, module: Module, mapping: ast.expr, key: ast.expr, whole: bool, trace: Trace) -> list[Value] | None:
    if isinstance(mapping, ast.BoolOp) and isinstance(mapping.op, ast.Or):  # ``**(config or {})``
        parts = [look_up(tracer, module, part, key, trace, whole) for part in mapping.values]
        return None if all(part is None for part in parts) else [source for part in parts for source in part or ()]
    if (made := translations.find_part_translation(mapping)) is not None:
        before = look_up(tracer, module, made.given, key, trace, whole) or []
        if made.keys and isinstance(key, ast.Constant) and key.value not in made.keys:
            return before
        return translations.trace_translated_values(tracer, module, mapping, made, before, trace)
    wanted = tracer.facts.fold(module, key, trace.frame)
    name = str(key.value) if isinstance(key, ast.Constant) else module.text(key)
    found = _trace_named_mapping(tracer, module, mapping, wanted, name, trace, whole) if isinstance(mapping, ast.Name) else None
    if not (understood := found is not None):
        found, understood = _trace_value_mappings(tracer, module, mapping, wanted, name, trace, whole)
    if not understood and isinstance(key, ast.Constant):
        return config_keys.trace_key(tracer, module, mapping, trace, (name,)) or None  # ``**cfg.dist_params``
    return found if understood else None


def _trace_named_mapping(
    tracer: Tracer, module: Module, mapping: ast.Name, wanted: FoldResult, name: str, trace: Trace, whole: bool
) -> list[Value] | None:
    """The sources of a key of the mapping that a name of the same scope holds; None where nothing is done to the key."""
    scope = owner_scope(module, scope_of(module, mapping), mapping.id)
    if scope is None or not isinstance(wanted, Known):
        return None
    steps = list(find_stores(tracer, module, scope, mapping, wanted))
    if all(step.does is KeyEffect.MAKES or (step.does is KeyEffect.CHANGES and not whole) for step in steps):
        return None
    reached, open_ = find_reaching_stores(tracer, module, steps, mapping, scope)
    found: list[Value] = []
    if open_ or any(step.does is KeyEffect.MAKES for step in reached):
        made, understood = _trace_value_mappings(tracer, module, mapping, wanted, name, trace, whole, reached)
        found += made
        if not understood and not any(step.does is KeyEffect.SETS for step in steps):
            return None
    for step in reached:
        at = trace.step(module.place(step.statement), Reason.of("hop-assigned", name=f"{mapping.id}[{name!r}]"), OriginKind.KEY)
        if step.does is KeyEffect.SETS and step.value is not None:
            found += tracer.evaluate(module, step.value, at)
        elif step.does is KeyEffect.MIXES and step.value is not None:
            mixed = look_up(tracer, module, step.value, ast.Constant(name), at, whole)
            found += [later_stores.make_unknown(tracer, module, step.value, at)] if mixed is None and whole else mixed or []
        elif step.does is KeyEffect.CHANGES and whole:
            found.append(later_stores.make_unknown(tracer, module, step.statement, at))
    fills = [step for step in reached if step.does is KeyEffect.FILLS and step.value is not None]
    for step in fills if not found or open_ else ():
        at = trace.step(module.place(step.statement), Reason.of("hop-assigned", name=f"{mapping.id}[{name!r}]"), OriginKind.KEY)
        found += tracer.evaluate(module, step.value, at)  # type: ignore[arg-type]
    return found


def _trace_value_mappings(
    tracer: Tracer, module: Module, mapping: ast.expr, wanted: FoldResult, name: str, trace: Trace, whole: bool,
    reached: Sequence[MappingStore] = (),
) -> tuple[list[Value], bool]:  # fmt: skip
    """The sources of a key of what an expression gives, and whether any of that is written out.

    ``reached``: the assignments of a name that can hold, where that is known.
    """
    found: list[Value] = []
    understood = False
    if isinstance(mapping, ast.Name) and (given := _find_passed(tracer, module, mapping, trace)) is not None:
        for other, argument, step in given:
            inside = look_up(tracer, other, argument, ast.Constant(name), step, whole)
            understood = understood or inside is not None
            found += [later_stores.make_unknown(tracer, other, argument, step)] if inside is None and whole else inside or []
        return found, understood
    made = [step.value for step in reached if step.does is KeyEffect.MAKES and step.value is not None]
    traced = [source for value in made for source in tracer.evaluate(module, value, replace(trace, kind=OriginKind.OBJECT))]
    for source in traced if made else tracer.evaluate(module, mapping, replace(trace, kind=OriginKind.OBJECT)):
        if source.kind == OriginKind.PARAMETER:
            passed = star_args.trace_star_keyword(tracer, source, name, whole)
            understood = understood or passed is not None
            found += passed or []
            if passed is not None:
                found += later_stores.trace_writes_to_passed(tracer, module, mapping, source, wanted, name)
        if isinstance(source.node, ast.expr) and isinstance(source.module, Module):
            if (held := look_up_attribute(tracer, source.module, source.node, name, source.trace)) is not None:
                found, understood = [*found, *held], True
                continue
        if source.kind == OriginKind.UNKNOWN and isinstance(source.node, ast.expr) and isinstance(source.module, Module):
            original = find_copy_source(tracer, source.module, source.node)
            inside = (
                look_up(tracer, source.module, original, ast.Constant(name), source.trace, whole)
                if original is not None
                else None
            )
            if inside is None:  # ``opt = cfg["dist"]``, then ``opt["backend"]``
                inside = config_keys.trace_key(tracer, source.module, source.node, source.trace, (name,)) or None
            understood = understood or inside is not None
            found += inside if inside is not None else [replace(source, open=True)] if whole and made else []
        if source.kind != OriginKind.OBJECT:
            continue
        understood = True
        home, node = source.code
        held, _ = _trace_entry(tracer, home, node, wanted, source.trace, name, whole)
        held += later_stores.trace_later_writes(tracer, home, node, mapping, wanted, source.trace, name, whole)
        if not held and not isinstance(wanted, Known) and any(True for _ in list_entries(node)):
            found.append(tracer.unknown(home, node, trace, "why-table", device=tracer.platform.device_types[0]))
        found += held
    return found, understood


def _find_passed(tracer: Tracer, module: Module, mapping: ast.Name, trace: Trace) -> list[tuple[Module, ast.expr, Trace]] | None:
    """What the calls of the project pass for a parameter that holds a mapping; None where it is none, or nothing is passed."""
    home = owner_scope(module, scope_of(module, mapping), mapping.id)
    if not isinstance(home, (ast.FunctionDef, ast.AsyncFunctionDef)) or trace.frame is not None:
        return None
    made = bindings(module, home)[mapping.id] if calls.find_default(home, mapping.id) is None else []
    if len(made) != 1 or made[0].kind != "parameter" or made[0].node in (home.args.kwarg, home.args.vararg):
        return None
    found: list[tuple[Module, ast.expr, Trace]] = []
    method = calls.is_bound_method(module, home)
    for given in callers.callers_of(tracer, module, home):
        argument = calls.find_passed_argument(given, home, mapping.id, method)
        if argument is None:
            return None
        reason = Reason.of("hop-argument", Meaning.ARGUMENT, name=mapping.id, function=home.name)
        found.append((given.module, argument, trace.step(given.module.place(given.call), reason, OriginKind.ARGUMENT)))
    return found or None


def _trace_entry(
    tracer: Tracer, module: Module, node: ast.AST, wanted: FoldResult, trace: Trace, name: str, whole: bool
) -> tuple[list[Value], bool]:
    """The sources of a key of what is written out, and whether it surely has the key."""
    if isinstance(node, ast.BinOp):
        right, sure = _trace_inner(tracer, module, node.right, name, trace, whole)
        return (right, True) if sure else ([*right, *_trace_inner(tracer, module, node.left, name, trace, whole)[0]], False)
    found: list[Value] = []
    for value in _select_entries(tracer, module, node, wanted, trace):
        step = trace.step(module.place(value), Reason.of("hop-key", text=name), OriginKind.KEY)
        found += tracer.evaluate(module, value, step)
    explicit = bool(found)
    if explicit and isinstance(wanted, Known) and not _is_spread_after(module, tracer, node, wanted):
        return found, True
    for other in reversed(list_spread_mappings(node)):
        inside, sure = _trace_inner(tracer, module, other, name, trace, whole)
        found += inside
        if sure and not explicit:
            break  # what is before it is replaced
    if isinstance(node, (ast.DictComp, ast.ListComp)) and whole:
        found.append(later_stores.make_unknown(tracer, module, node, trace))
    return found, explicit


def _trace_inner(
    tracer: Tracer, module: Module, node: ast.expr, name: str, trace: Trace, whole: bool
) -> tuple[list[Value], bool]:
    """The sources of a key of a mapping that is put into another, and whether it surely has the key."""
    if isinstance(node, (ast.Dict, ast.BinOp)):
        return _trace_entry(tracer, module, node, Known(name), trace, name, whole)
    if isinstance(node, (ast.List, ast.Tuple)):
        pairs = [part.elts for part in node.elts if isinstance(part, (ast.Tuple, ast.List)) and len(part.elts) == 2]
        if len(pairs) == len(node.elts):
            table = ast.Dict([key for key, _ in pairs], [value for _, value in pairs])
            return _trace_entry(tracer, module, table, Known(name), trace, name, whole)
        return ([later_stores.make_unknown(tracer, module, node, trace)] if whole else []), False
    inside = look_up(tracer, module, node, ast.Constant(name), trace, whole)
    if inside is None:
        return ([later_stores.make_unknown(tracer, module, node, trace)] if whole else []), False
    sources = tracer.evaluate(module, node, replace(trace, kind=OriginKind.OBJECT))
    tables = [source.code for source in sources if isinstance(source.node, ast.Dict)]
    keyed = (Known(name) in [tracer.facts.fold(home, key) for key, _ in list_entries(at)] for home, at in tables)
    sure = len(tables) == len(sources) and all(keyed)
    return inside, bool(inside) and sure


def list_spread_mappings(node: ast.AST) -> list[ast.expr]:
    """The mappings that are put into one that is written out: ``{**base}``, ``dict(base, **more)``."""
    if isinstance(node, ast.Dict):
        return [value for key, value in zip(node.keys, node.values, strict=True) if key is None]
    if isinstance(node, ast.Call):
        return [*node.args, *(keyword.value for keyword in node.keywords if keyword.arg is None)]
    return []


def _is_spread_after(module: Module, tracer: Tracer, node: ast.AST, wanted: Known) -> bool:
    """Whether a mapping is put in behind the key, and may replace what it has."""
    if not isinstance(node, ast.Dict):
        return False
    folded = [tracer.facts.fold(module, key) if key is not None else None for key in node.keys]
    last = max((index for index, key in enumerate(folded) if key == wanted), default=-1)
    return any(key is None for key in node.keys[last + 1 :])


def _select_entries(tracer: Tracer, module: Module, node: ast.AST, wanted: FoldResult, trace: Trace) -> list[ast.expr]:
    """The entries of a table that a key can pick; of a table of device types, those of the platform's devices."""
    if isinstance(node, (ast.Tuple, ast.List)) and isinstance(wanted, Known):
        return pick_item(tracer, module, node, wanted.value)
    folded = [(tracer.facts.fold(module, key), value) for key, value in list_entries(node)]
    if isinstance(wanted, Known):
        last = [value for key, value in folded if isinstance(key, Known) and key.value == wanted.value][-1:]
        open_ = (value for key, value in list_entries(node) if _may_be_key(tracer, module, key, wanted, trace))
        return [*open_, *last]
    keys = [key.value for key, _ in folded if isinstance(key, Known)]
    if len(keys) == len(folded) and all(key in tracer.device_types for key in keys):
        if tracer.platform.device_types[:1] and tracer.platform.device_types[0] not in keys:
            return []  # the result there is not in the table, and the other entries are for other devices
        return [value for key, value in folded if isinstance(key, Known) and key.value in tracer.platform.device_types]
    return [value for _, value in folded]


def _may_be_key(tracer: Tracer, module: Module, key: ast.expr, wanted: Known, trace: Trace) -> bool:
    """Whether a key that is worked out when the program runs can be the wanted one: not where all that it can be is known, and is not it."""
    if isinstance(tracer.facts.fold(module, key), Known):
        return False
    values = [source.value for source in tracer.evaluate(module, key, replace(trace, kind=OriginKind.KEY))]
    return not values or any(not isinstance(value, Known) or value.value == wanted.value for value in values)


def list_entries(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The keys and values that are written out in a display or in a call's keywords; of a list, with their numbers."""
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if key is not None:
                yield key, value
    elif isinstance(node, ast.Call):
        yield from ((ast.Constant(keyword.arg), keyword.value) for keyword in node.keywords if keyword.arg is not None)
    elif isinstance(node, (ast.Tuple, ast.List)):
        yield from ((ast.Constant(index), value) for index, value in enumerate(node.elts))
