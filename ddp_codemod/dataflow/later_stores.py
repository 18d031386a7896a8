"""What is written under a key of a mapping by other code than what uses it, through whatever name it knows it by."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from ddp_codemod.dataflow import escape_analysis
from ddp_codemod.dataflow.calls import find_names
from ddp_codemod.dataflow.fold import FoldResult, Known
from ddp_codemod.dataflow.mapping_stores import KeyEffect, find_stores_at
from ddp_codemod.dataflow.points_to import find_points_to_set
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.dataflow.values import Trace, Value
from ddp_codemod.kinds import OriginKind
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.entities import Instance
from ddp_codemod.sites.scopes import owner_scope, scope_of
from ddp_codemod.sites.word_search import has_word_in_context

_QUOTED = re.compile(rb"(?<=[\"'])"), re.compile(rb"[\"']")
_Places = Iterable[tuple[Module, ast.expr]]


def trace_later_writes(
    tracer: Tracer, module: Module, node: ast.AST, mapping: ast.expr, wanted: FoldResult, trace: Trace, name: str, whole: bool
) -> list[Value]:
    """What other code writes under the key into a mapping that was written out."""
    if not isinstance(wanted, Known) or not isinstance(node, ast.expr) or not _is_a_key(tracer, name):
        return []
    same = owner_scope(module, scope_of(module, mapping), mapping.id) if isinstance(mapping, ast.Name) else None
    places = [
        (home, place)
        for home, place in escape_analysis.analyze_escapes(tracer, module, node, near=True).places
        if not (
            isinstance(place, ast.Name)
            and isinstance(mapping, ast.Name)
            and place.id == mapping.id  # honored already, in the order in which it runs
            and owner_scope(home, scope_of(home, place), place.id) is same
        )
    ]
    return _trace_writes(tracer, places, wanted, trace, name, whole)


def trace_writes_to_passed(
    tracer: Tracer, module: Module, mapping: ast.expr, source: Value, wanted: FoldResult, name: str
) -> list[Value]:
    """What is written under the key into what a function's ``**options`` took in, by that name or by the attribute that keeps it."""
    home, parameter = source.code
    if not isinstance(wanted, Known) or not isinstance(parameter, ast.arg) or not _is_a_key(tracer, name):
        return []
    places = [*_find_parameter_reads(home, parameter, mapping)]
    if isinstance(mapping, ast.Attribute):
        places += _find_attribute_reads(tracer, module, mapping)
    return _trace_writes(tracer, places, wanted, source.trace, name, False)


def _find_attribute_reads(tracer: Tracer, module: Module, attribute: ast.Attribute) -> Iterator[tuple[Module, ast.expr]]:
    """Where code reads an attribute of the name, of objects of the same class or one that shares a base with it."""
    classes = _list_classes(tracer, module, attribute.value)
    project = tracer.resolver.project
    for other in (other for file in project.mentioning(attribute.attr) for other in project.programs(file)) if classes else ():
        for node in other.nodes.get(ast.Attribute, ()):
            if isinstance(node, ast.Attribute) and node.attr == attribute.attr and isinstance(node.ctx, ast.Load):
                if not classes.isdisjoint(_list_classes(tracer, other, node.value)):
                    yield other, node


def _list_classes(tracer: Tracer, module: Module, node: ast.expr) -> set[ast.AST]:
    """The classes of the project, with their bases, of what an expression stands for; none where that is not known."""
    found = (entity for entity in find_points_to_set(tracer, module, node) if isinstance(entity, Instance))
    return {base for entity in found for _, base in tracer.resolver.lineage(entity.module, entity.node)}


def _find_parameter_reads(module: Module, parameter: ast.arg, mapping: ast.expr) -> Iterator[tuple[Module, ast.expr]]:
    """Where a function reads its own parameter, unless what is asked about is the parameter, whose order is honored."""
    function = module.parents.get(module.parents[parameter])
    if isinstance(mapping, ast.Name) and mapping.id == parameter.arg:
        return
    for node in find_names(module, parameter.arg):
        if isinstance(node.ctx, ast.Load) and owner_scope(module, scope_of(module, node), node.id) is function:
            yield module, node


def _trace_writes(tracer: Tracer, places: _Places, wanted: Known, trace: Trace, name: str, whole: bool) -> list[Value]:
    found: list[Value] = []
    for home, place in places:
        for step in find_stores_at(tracer, home, place, wanted):
            reason = Reason.of("hop-assigned", name=f"{home.text(place)}[{name!r}]")
            at = trace.step(home.place(step.statement), reason, OriginKind.KEY)
            if step.does in (KeyEffect.SETS, KeyEffect.FILLS) and step.value is not None:
                found += tracer.evaluate(home, step.value, at)
            elif step.does is KeyEffect.MIXES and step.value is not None:
                mixed = tracer.entry(home, step.value, ast.Constant(name), at, whole)
                found += [make_unknown(tracer, home, step.value, at)] if mixed is None and whole else mixed or []
            elif whole and step.does is KeyEffect.CHANGES and not _is_alias(home, place):
                found.append(make_unknown(tracer, home, step.statement, at))
    return found


def _is_a_key(tracer: Tracer, name: str) -> bool:
    """Whether any file of the project writes a key of this name: as a text, or in ``update(name=...)``; asked before files are parsed."""
    known = tracer.memory.setdefault("keys", {})
    if name not in known:
        project, key = tracer.resolver.project, name.encode()
        # what begins with a text is found sooner
        updated = re.compile(rb"update(?<=\bupdate)\s*\([^)]*\b%b\s*=" % re.escape(key))
        found = (project.data(file) for file in project.mentioning(name))
        known[name] = any(not key or has_word_in_context(data, key, *_QUOTED) or updated.search(data) for data in found)
    return bool(known[name])


def _is_alias(module: Module, place: ast.expr) -> bool:
    """Whether a mapping gets another name at a place, or goes to a function of the project: what is done there is looked at there."""
    return isinstance(module.parents.get(place), (ast.Assign, ast.AnnAssign, ast.Return, ast.keyword, ast.Call))


def make_unknown(tracer: Tracer, module: Module, node: ast.AST, trace: Trace) -> Value:
    """What may be in a mapping that is not read."""
    return replace(tracer.unknown(module, node, trace, "why-spread", text=" ".join(module.text(node).split())), open=True)
