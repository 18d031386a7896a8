"""What other functions set an attribute of the very same object to (``args.backend = "nccl"``, and then ``start(args)``), and whether any file gives one."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from ddp_codemod.dataflow.allocation_sites import AllocationKind, find_origins
from ddp_codemod.dataflow.field_stores import find_stores_by_name
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.guards import find_none_guard
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.dataflow.values import Trace, Value
from ddp_codemod.kinds import OriginKind
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.scopes import SELF, Binding, scope_of
from ddp_codemod.sites.word_search import has_word_in_context

_ASSIGNED = re.compile(rb"(?<=\.)"), re.compile(rb"\s*(?::[^=\n]+)?=(?!=)")
_FIELD = re.compile(rb"(?:\A|\n)[ \t]*(?:def\s+)?\Z"), re.compile(rb"\s*[:=(](?!=)")


_OF_OTHERS = re.compile(rb"(?<=\.)(?<!\bself\.)(?<!\bcls\.)")

AttributeStore = tuple[Module, ast.AST, ast.Attribute, ast.expr]
_OURS = (AllocationKind.OPTIONS, AllocationKind.FILE, AllocationKind.CLASS)


def add_alias_stores(tracer: Tracer, module: Module, node: ast.Attribute, trace: Trace, found: Sequence[Value]) -> list[Value]:
    """What was found, and the sources of those assignments; assignments of the same scope are honored in their order.

    None is omitted where an assignment puts a value in its place: ``if args.backend is None: args.backend = "nccl"``.
    """
    here = scope_of(module, node)
    given = () if _is_self(node.value) else _find_stores(tracer, node.attr)
    made = [one for one in given if scope_of(one[0], one[1]) is not here]
    if not made:
        return [*found]  # what an object's own methods set is looked for with its class
    known = {source.place for source in found}
    makers = _find_allocation_calls(tracer, module, node.value, trace, bool(known))
    sources: list[Value] = []
    filled = False
    for other, statement, target, value in made if makers else ():
        if tracer.facts.unreachable(other, statement) is None and makers & _find_allocation_calls(
            tracer, other, target.value, Trace(), bool(known)
        ):
            said = Reason.of("hop-assigned", name=other.text(target))
            step = trace.step(other.place(statement), said, OriginKind.ASSIGNMENT).inside(None)
            sources += (source for source in tracer.evaluate(other, value, step) if source.place not in known)
            filled = filled or find_none_guard(other, Binding(other.text(target), "value", statement, value)) is not None
    return [*(source for source in found if not filled or source.value != Known(None)), *sources]


def _find_stores(tracer: Tracer, attribute: str) -> list[AttributeStore]:
    """The assignments of the whole project to an attribute of something other than an object in its own methods."""
    known = tracer.memory.setdefault("attributes assigned", {})
    if attribute not in known:
        project = tracer.resolver.project
        known[attribute] = [
            (other, statement, target, value)
            for name in project.holding(attribute, _OF_OTHERS, _ASSIGNED[1])
            for other in project.programs(name)
            for statement, target, value in find_stores_by_name(other, attribute)
            if not _is_self(target.value) and _may_be_value(tracer, value)
        ]
    return known[attribute]  # type: ignore[no-any-return]


def _may_be_value(tracer: Tracer, value: ast.expr) -> bool:
    """Whether an expression is, or holds, a text of interest, or only hands one on."""
    texts = [part.value for part in ast.walk(value) if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return isinstance(value, (ast.Name, ast.Attribute)) or any(map(tracer.could_be_value, texts))


def _find_allocation_calls(tracer: Tracer, module: Module, node: ast.expr, trace: Trace, ours: bool) -> set[ast.Call]:
    """The calls that made an expression's object itself, no part of it; ``ours``: of options, files and the project's classes only."""
    origin = find_origins(tracer, module, node, trace)
    made = origin.made if origin.at is node else ()
    return {one.call for one in made if one.call is not None and not one.path and (one.maker in _OURS or not ours)}


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in SELF


def is_attribute_assigned(tracer: Tracer, attribute: str) -> bool:
    """Whether any file of the project looks as if an object, a class or a module were passed an attribute of this name."""
    known = tracer.memory.setdefault("stored", {})
    if attribute not in known:
        project, name = tracer.resolver.project, attribute.encode()
        found = (project.data(file) for file in project.mentioning(attribute))
        known[attribute] = any(
            has_word_in_context(data, name, *_ASSIGNED) or has_word_in_context(data, name, *_FIELD) for data in found
        )
    return bool(known[attribute])
