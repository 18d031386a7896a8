"""What stands under a key of a mapping: written out, spread into another, joined, and what the code does to it before it is used."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from ddp_codemod.dataflow import callers, calls, config_keys, journey, star_args, translations
from ddp_codemod.dataflow.attribute_tables import look_up_attribute
from ddp_codemod.dataflow.copies import copied
from ddp_codemod.dataflow.fold import Known, Value
from ddp_codemod.dataflow.leaves import MAX_HOPS, Leaf, Way
from ddp_codemod.dataflow.mapping_writes import Does, Step, reaching, step_at, steps_of
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.kinds import Meaning, OriginKind
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.scopes import bindings, owner, scope_of


def look_up(tracer: Tracer, module: Module, mapping: ast.expr, key: ast.expr, way: Way, whole: bool = False) -> list[Leaf] | None:
    """The leaves of a key of a mapping; None where the mapping is not one that the project writes out.

    ``whole``: also what is not known may hold the key, and is a leaf of its own, so that [] says that the key is surely not there.
    """
    if not tracer.open:
        return tracer.outermost(module, mapping, way, lambda: look_up(tracer, module, mapping, key, way, whole))
    if tracer.spent():  # functions that hand it on multiply as names do
        return [tracer.too_far(module, mapping, way)]
    if isinstance(mapping, ast.BoolOp) and isinstance(mapping.op, ast.Or):  # ``**(config or {})``
        parts = [look_up(tracer, module, part, key, way, whole) for part in mapping.values]
        return None if all(part is None for part in parts) else [leaf for part in parts for leaf in part or ()]
    if (made := translations.translated_parts(mapping)) is not None:
        before = look_up(tracer, module, made.given, key, way, whole) or []
        return translations.arriving(tracer, module, mapping, made, before, way)
    wanted = tracer.facts.fold(module, key, way.frame)
    name = str(key.value) if isinstance(key, ast.Constant) else module.text(key)
    found = _of_name(tracer, module, mapping, wanted, name, way, whole) if isinstance(mapping, ast.Name) else None
    understood = found is not None
    if found is None:
        found, understood = _of_leaves(tracer, module, mapping, wanted, name, way, whole)
    if not understood and isinstance(key, ast.Constant):
        return config_keys.trace_key(tracer, module, mapping, way, (name,)) or None  # ``**cfg.dist_params``
    return found if understood else None


def _of_name(
    tracer: Tracer, module: Module, mapping: ast.Name, wanted: Value, name: str, way: Way, whole: bool
) -> list[Leaf] | None:
    """The leaves of a key of the mapping that a name of the same scope holds; None where nothing is done to the key."""
    scope = owner(module, scope_of(module, mapping), mapping.id)
    if scope is None or not isinstance(wanted, Known):
        return None
    steps = list(steps_of(tracer, module, scope, mapping, wanted))
    if all(step.does is Does.MAKES or (step.does is Does.CHANGES and not whole) for step in steps):
        return None
    reached, open_ = reaching(tracer, module, steps, mapping, scope)
    found: list[Leaf] = []
    if open_ or any(step.does is Does.MAKES for step in reached):
        made, understood = _of_leaves(tracer, module, mapping, wanted, name, way, whole, reached)
        found += made
        if not understood and not any(step.does is Does.SETS for step in steps):
            return None
    for step in reached:
        at = way.hop(module.place(step.statement), Reason.of("hop-assigned", name=f"{mapping.id}[{name!r}]"), OriginKind.KEY)
        if step.does is Does.SETS and step.value is not None:
            found += tracer.evaluate(module, step.value, at)
        elif step.does is Does.MIXES and step.value is not None:
            mixed = look_up(tracer, module, step.value, ast.Constant(name), at, whole)
            found += [_not_known(tracer, module, step.value, at)] if mixed is None and whole else mixed or []
        elif step.does is Does.CHANGES and whole:
            found.append(_not_known(tracer, module, step.statement, at))
    fills = [step for step in reached if step.does is Does.FILLS and step.value is not None]
    for step in fills if not found or open_ else ():
        at = way.hop(module.place(step.statement), Reason.of("hop-assigned", name=f"{mapping.id}[{name!r}]"), OriginKind.KEY)
        found += tracer.evaluate(module, step.value, at)  # type: ignore[arg-type]
    return found


def _of_leaves(
    tracer: Tracer, module: Module, mapping: ast.expr, wanted: Value, name: str, way: Way, whole: bool,
    reached: Sequence[Step] = (),
) -> tuple[list[Leaf], bool]:  # fmt: skip
    """The leaves of a key of what an expression gives, and whether any of that is written out.

    ``reached``: the assignments of a name that can hold, where that is known.
    """
    found: list[Leaf] = []
    understood = False
    if isinstance(mapping, ast.Name) and (given := _given(tracer, module, mapping, way)) is not None:
        for other, argument, step in given:
            inside = look_up(tracer, other, argument, ast.Constant(name), step, whole)
            understood = understood or inside is not None
            found += [_not_known(tracer, other, argument, step)] if inside is None and whole else inside or []
        return found, understood
    made = [step.value for step in reached if step.does is Does.MAKES and step.value is not None]
    traced = [leaf for value in made for leaf in tracer.evaluate(module, value, replace(way, kind=OriginKind.OBJECT))]
    for leaf in traced if made else tracer.evaluate(module, mapping, replace(way, kind=OriginKind.OBJECT)):
        if leaf.kind == OriginKind.PARAMETER:
            passed = star_args.passed_through(tracer, leaf, name, whole)
            understood = understood or passed is not None
            found += passed or []
        if isinstance(leaf.node, ast.expr) and isinstance(leaf.module, Module):
            if (held := look_up_attribute(tracer, leaf.module, leaf.node, name, leaf.way)) is not None:
                found, understood = [*found, *held], True
                continue
        if leaf.kind == OriginKind.UNKNOWN and isinstance(leaf.node, ast.expr) and isinstance(leaf.module, Module):
            original = copied(tracer, leaf.module, leaf.node)
            inside = look_up(tracer, leaf.module, original, ast.Constant(name), leaf.way, whole) if original is not None else None
            if inside is None:  # ``opt = cfg["dist"]``, then ``opt["backend"]``
                inside = config_keys.trace_key(tracer, leaf.module, leaf.node, leaf.way, (name,)) or None
            understood = understood or inside is not None
            found += inside if inside is not None else [replace(leaf, open=True)] if whole and made else []
        if leaf.kind != OriginKind.OBJECT:
            continue
        understood = True
        home, node = leaf.code
        held, _ = _entry(tracer, home, node, wanted, leaf.way, name, whole)
        held += _changed_later(tracer, home, node, mapping, wanted, leaf.way, name, whole)
        if not held and not isinstance(wanted, Known) and any(True for _ in entries(node)):
            found.append(tracer.unknown(home, node, way, "why-table", device=tracer.platform.device_types[0]))
        found += held
    return found, understood


def _given(tracer: Tracer, module: Module, mapping: ast.Name, way: Way) -> list[tuple[Module, ast.expr, Way]] | None:
    """What the calls of the project pass for a parameter that holds a mapping; None where it is none, or nothing is passed."""
    home = owner(module, scope_of(module, mapping), mapping.id)
    if not isinstance(home, (ast.FunctionDef, ast.AsyncFunctionDef)) or way.frame is not None or len(way.hops) > MAX_HOPS:
        return None
    made = bindings(module, home)[mapping.id]
    if len(made) != 1 or made[0].kind != "parameter" or made[0].node in (home.args.kwarg, home.args.vararg):
        return None
    if calls.default_of(home, mapping.id) is not None:
        return None
    found: list[tuple[Module, ast.expr, Way]] = []
    method = calls.bound_method(module, home)
    for given in callers.callers(tracer, module, home):
        argument = calls.given_argument(given, home, mapping.id, method)
        if argument is None:
            return None
        reason = Reason.of("hop-argument", Meaning.ARGUMENT, name=mapping.id, function=home.name)
        found.append((given.module, argument, way.hop(given.module.place(given.call), reason, OriginKind.ARGUMENT)))
    return found or None


def _changed_later(
    tracer: Tracer, module: Module, node: ast.AST, mapping: ast.expr, wanted: Value, way: Way, name: str, whole: bool
) -> list[Leaf]:
    """What other code writes under the key into a mapping that was written out, through whatever name it knows it by."""
    found: list[Leaf] = []
    if not isinstance(wanted, Known) or not isinstance(node, ast.expr) or not _is_a_key(tracer, name):
        return found
    same = owner(module, scope_of(module, mapping), mapping.id) if isinstance(mapping, ast.Name) else None
    for home, place in journey.journey(tracer, module, node, near=True).places:
        if isinstance(place, ast.Name) and isinstance(mapping, ast.Name) and place.id == mapping.id:
            if owner(home, scope_of(home, place), place.id) is same:
                continue  # heeded already, in the order in which it runs
        for step in step_at(tracer, home, place, wanted):
            at = way.hop(
                home.place(step.statement), Reason.of("hop-assigned", name=f"{home.text(place)}[{name!r}]"), OriginKind.KEY
            )
            if step.does in (Does.SETS, Does.FILLS) and step.value is not None:
                found += tracer.evaluate(home, step.value, at)
            elif step.does is Does.MIXES and step.value is not None:
                mixed = look_up(tracer, home, step.value, ast.Constant(name), at, whole)
                found += [_not_known(tracer, home, step.value, at)] if mixed is None and whole else mixed or []
            elif whole and step.does is Does.CHANGES and not _is_alias(home, place):
                found.append(_not_known(tracer, home, step.statement, at))
    return found


def _is_a_key(tracer: Tracer, name: str) -> bool:
    """Whether any file of the project writes a key of this name: as a text, or in ``update(name=...)``; asked before files are parsed."""
    known = tracer.memory.setdefault("keys", {})
    if name not in known:
        project, key = tracer.resolver.project, re.escape(name.encode())
        written = re.compile(rb"[\"']%b[\"']|\bupdate\s*\([^)]*\b%b\s*=" % (key, key))
        known[name] = any(written.search(project.data(file)) for file in project.mentioning(name))
    return bool(known[name])


def _is_alias(module: Module, place: ast.expr) -> bool:
    """Whether a mapping gets another name at a place, or goes to a function of the project: what is done there is looked at there."""
    return isinstance(module.parents.get(place), (ast.Assign, ast.AnnAssign, ast.Return, ast.keyword, ast.Call))


def _entry(
    tracer: Tracer, module: Module, node: ast.AST, wanted: Value, way: Way, name: str, whole: bool
) -> tuple[list[Leaf], bool]:
    """The leaves of a key of what is written out, and whether it surely has the key."""
    if isinstance(node, ast.BinOp):
        right, sure = _inner(tracer, module, node.right, name, way, whole)
        return (right, True) if sure else ([*right, *_inner(tracer, module, node.left, name, way, whole)[0]], False)
    found: list[Leaf] = []
    for value in _chosen(tracer, module, node, wanted, way):
        step = way.hop(module.place(value), Reason.of("hop-key", text=name), OriginKind.KEY)
        found += tracer.evaluate(module, value, step)
    explicit = bool(found)
    if explicit and isinstance(wanted, Known) and not _spread_behind(module, tracer, node, wanted):
        return found, True
    for other in reversed(spread_in(node)):
        inside, sure = _inner(tracer, module, other, name, way, whole)
        found += inside
        if sure and not explicit:
            break  # what stands before it is replaced
    if isinstance(node, (ast.DictComp, ast.ListComp)) and whole:
        found.append(_not_known(tracer, module, node, way))
    return found, explicit


def _inner(tracer: Tracer, module: Module, node: ast.expr, name: str, way: Way, whole: bool) -> tuple[list[Leaf], bool]:
    """The leaves of a key of a mapping that is put into another, and whether it surely has the key."""
    if isinstance(node, (ast.Dict, ast.BinOp)):
        return _entry(tracer, module, node, Known(name), way, name, whole)
    if isinstance(node, (ast.List, ast.Tuple)):
        pairs = [part.elts for part in node.elts if isinstance(part, (ast.Tuple, ast.List)) and len(part.elts) == 2]
        if len(pairs) == len(node.elts):
            table = ast.Dict([key for key, _ in pairs], [value for _, value in pairs])
            return _entry(tracer, module, table, Known(name), way, name, whole)
        return ([_not_known(tracer, module, node, way)] if whole else []), False
    inside = look_up(tracer, module, node, ast.Constant(name), way, whole)
    if inside is None:
        return ([_not_known(tracer, module, node, way)] if whole else []), False
    leaves = tracer.evaluate(module, node, replace(way, kind=OriginKind.OBJECT))
    tables = [leaf.code for leaf in leaves if isinstance(leaf.node, ast.Dict)]
    sure = len(tables) == len(leaves) and all(
        Known(name) in [tracer.facts.fold(home, key) for key, _ in entries(at)] for home, at in tables
    )
    return inside, bool(inside) and sure


def spread_in(node: ast.AST) -> list[ast.expr]:
    """The mappings that are put into one that is written out: ``{**base}``, ``dict(base, **more)``."""
    if isinstance(node, ast.Dict):
        return [value for key, value in zip(node.keys, node.values, strict=True) if key is None]
    if isinstance(node, ast.Call):
        return [*node.args, *(keyword.value for keyword in node.keywords if keyword.arg is None)]
    return []


def _spread_behind(module: Module, tracer: Tracer, node: ast.AST, wanted: Known) -> bool:
    """Whether a mapping is put in behind the key, and may replace what it has."""
    if not isinstance(node, ast.Dict):
        return False
    folded = [tracer.facts.fold(module, key) if key is not None else None for key in node.keys]
    last = max((index for index, key in enumerate(folded) if key == wanted), default=-1)
    return any(key is None for key in node.keys[last + 1 :])


def _not_known(tracer: Tracer, module: Module, node: ast.AST, way: Way) -> Leaf:
    return replace(tracer.unknown(module, node, way, "why-spread", text=" ".join(module.text(node).split())), open=True)


def _chosen(tracer: Tracer, module: Module, node: ast.AST, wanted: Value, way: Way) -> list[ast.expr]:
    """The entries of a table that a key can pick; of a table of device types, those of the platform's devices."""
    if isinstance(node, (ast.Tuple, ast.List)) and isinstance(wanted, Known):
        return _item(node.elts, wanted.value)
    folded = [(tracer.facts.fold(module, key), value) for key, value in entries(node)]
    if isinstance(wanted, Known):
        last = [value for key, value in folded if isinstance(key, Known) and key.value == wanted.value][-1:]
        open_ = (value for key, value in entries(node) if _may_be(tracer, module, key, wanted, way))
        return [*open_, *last]
    keys = [key.value for key, _ in folded if isinstance(key, Known)]
    if len(keys) == len(folded) and all(key in tracer.device_types for key in keys):
        if tracer.platform.device_types[:1] and tracer.platform.device_types[0] not in keys:
            return []  # what comes out there is not in the table, and the other entries are for other devices
        return [value for key, value in folded if isinstance(key, Known) and key.value in tracer.platform.device_types]
    return [value for _, value in folded]


def _item(elements: list[ast.expr], index: object) -> list[ast.expr]:
    """The item at an index, counted from the end where it is negative; nothing where one that is unpacked moves it."""
    if not isinstance(index, int) or not -len(elements) <= index < len(elements):
        return []
    counted = elements[: index + 1] if index >= 0 else elements[index:]
    return [] if any(isinstance(part, ast.Starred) for part in counted) else [elements[index]]


def _may_be(tracer: Tracer, module: Module, key: ast.expr, wanted: Known, way: Way) -> bool:
    """Whether a key that is worked out when the program runs can be the wanted one: not where all that it can be is known, and is not it."""
    if isinstance(tracer.facts.fold(module, key), Known):
        return False
    values = [leaf.value for leaf in tracer.evaluate(module, key, replace(way, kind=OriginKind.KEY))]
    return not values or any(not isinstance(value, Known) or value.value == wanted.value for value in values)


def entries(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The keys and values that are written out in a display or in a call's keywords; of a list, with their numbers."""
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if key is not None:
                yield key, value
    elif isinstance(node, ast.Call):
        yield from ((ast.Constant(keyword.arg), keyword.value) for keyword in node.keywords if keyword.arg is not None)
    elif isinstance(node, (ast.Tuple, ast.List)):
        yield from ((ast.Constant(index), value) for index, value in enumerate(node.elts))
