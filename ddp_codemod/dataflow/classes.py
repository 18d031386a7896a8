"""Attributes of the project's classes: what methods store, fields and their arguments, properties."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import islice

from msgspec.structs import replace

from ddp_codemod.dataflow import calls, mappings
from ddp_codemod.dataflow.field_stores import find_stores_by_name
from ddp_codemod.dataflow.returns import trace_returns
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.dataflow.values import Trace, Value
from ddp_codemod.kinds import Meaning, OriginKind
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module, walk_statements
from ddp_codemod.sites.entities import Definition, Instance
from ddp_codemod.sites.scopes import Binding, assignment_pairs, bindings

_DOT, _GIVEN = re.compile(rb"(?<=\.)"), re.compile(rb"\s*=(?!=)")  # around an attribute that is assigned
_AT_START, _ANNOTATED = re.compile(rb"(?:\A|[\r\n;:\"])[ \t\f]*\Z"), re.compile(rb"\s*:")


def trace_class_attribute(
    tracer: Tracer, module: Module, node: ast.ClassDef, name: str, use: ast.AST, trace: Trace
) -> list[Value]:
    """The sources of an attribute of a project class: what its methods and its body store, and its fields' arguments."""
    found: list[Value] = []
    for owner_module, base in tracer.resolver.lineage(module, node):
        for binding in _index_self_stores(owner_module, base).get(name, ()):
            if binding.value is not None and tracer.facts.unreachable(owner_module, binding.node) is None:
                step = trace.step(
                    owner_module.place(binding.node),
                    Reason.of("hop-attribute", name=name, owner=base.name),
                    OriginKind.ASSIGNMENT,
                )
                found += tracer.evaluate(owner_module, binding.value, step)
        found += _trace_class_body(tracer, owner_module, base, name, trace)
        if found:
            break
    for other_module, other in tracer.resolver.subclasses(node):  # what is in the class may be overridden below it
        for binding in _index_self_stores(other_module, other).get(name, ()) if not found else ():
            if binding.value is not None and tracer.facts.unreachable(other_module, binding.node) is None:
                place = other_module.place(binding.node)
                step = trace.step(place, Reason.of("hop-attribute", name=name, owner=other.name), OriginKind.ASSIGNMENT)
                found += tracer.evaluate(other_module, binding.value, step)
        for source in _trace_class_body(tracer, other_module, other, name, trace):
            found.append(
                replace(source, kind=OriginKind.SUBCLASS_ARGUMENT) if source.kind == OriginKind.FIELD_DEFAULT else source
            )
    return found


def trace_field(tracer: Tracer, name: str, trace: Trace) -> list[Value]:
    """The sources of the one class of the project that declares a field of this name, where only its default is a backend's name."""
    if trace.is_over:
        return []
    known = tracer.memory.setdefault("fields", {})
    if name not in known:
        known[name] = list(islice(_find_declaring_classes(tracer, name), 2))  # it is the only one, or it is not
    classes: list[tuple[Module, ast.ClassDef]] = known[name]
    if len(classes) != 1:
        return []
    return [
        source
        for source in trace_class_attribute(tracer, *classes[0], name, classes[0][1], trace)
        if source.kind != OriginKind.UNKNOWN
    ]


def _find_declaring_classes(tracer: Tracer, name: str) -> Iterator[tuple[Module, ast.ClassDef]]:
    """The classes of the project that declare a field of a name."""
    project = tracer.resolver.project
    for file in project.holding(name, _AT_START, _ANNOTATED):
        module = project.module(file)
        for node in module.nodes.get(ast.ClassDef, ()) if module else ():
            assert isinstance(node, ast.ClassDef)
            assert module is not None
            if any(isinstance(b.node, ast.AnnAssign) for b in bindings(module, node).get(name, ())):
                yield module, node


def trace_enum_value(tracer: Tracer, module: Module, node: ast.expr, trace: Trace) -> list[Value] | None:
    """The sources of ``node.value`` where ``node`` gives members of an enum of the project, else None.

    A member's text is what its name says, so what has to change is the place that picks the member.
    """
    found: list[Value] = []
    for source in tracer.evaluate(module, node, trace):
        around = source.module.parents.get(source.module.statement(source.node)) if _is_code_constant(source) else None  # type: ignore[union-attr,arg-type]
        if not isinstance(around, ast.ClassDef):
            return None
        bases = tracer.resolver.external_bases(source.code[0], around)
        if not any(base in idioms.enums for idioms in tracer.idioms for base in bases):
            return None
        found.append(replace(source, kind=OriginKind.MEMBER))
    return found or None


def _is_code_constant(source: Value) -> bool:
    return isinstance(source.module, Module) and isinstance(source.node, ast.Constant)


def _trace_class_body(tracer: Tracer, module: Module, node: ast.ClassDef, name: str, trace: Trace) -> list[Value]:
    found: list[Value] = []
    for binding in bindings(module, node).get(name, ()):
        place = module.place(binding.node)
        if binding.kind == "value" and binding.value is not None:
            step = trace.step(place, Reason.of("hop-field", name=name, owner=node.name), OriginKind.FIELD_DEFAULT)
            found += tracer.evaluate(module, binding.value, step)
            if isinstance(binding.node, ast.AnnAssign):
                found += _trace_constructor_arguments(tracer, module, node, name, trace)
            if isinstance(binding.node, ast.AnnAssign) or isinstance(binding.value, ast.Constant):
                found += _trace_later_stores(tracer, module, node, name, trace)
        elif binding.kind == "function" and _is_property(binding.node):
            found += trace_returns(tracer, Definition(module, binding.node), replace(trace, frame=None), None)  # type: ignore[arg-type]
    return found


def _trace_constructor_arguments(tracer: Tracer, module: Module, node: ast.ClassDef, name: str, trace: Trace) -> Iterator[Value]:
    """Arguments of the calls that make a dataclass-like object, for the field of that name."""
    fields = [part.target.id for part in node.body if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)]
    position = fields.index(name) if name in fields else None
    for other, call in _find_constructor_calls(tracer, module, node):
        argument = calls.find_argument(call, name, position)
        spreads = [keyword.value for keyword in call.keywords if keyword.arg is None]  # ``Config(**yaml.safe_load(file))``
        if argument is None and not spreads:
            continue
        said = Reason.of("hop-argument", Meaning.ARGUMENT, name=name, function=node.name)
        step = replace(trace.step(other.place(call), said, OriginKind.ARGUMENT), frame=None)
        if argument is not None:
            yield from tracer.evaluate(other, argument, step)
            continue
        for spread in spreads:
            yield from mappings.look_up(tracer, other, spread, ast.Constant(name), step) or ()


def _find_constructor_calls(tracer: Tracer, module: Module, node: ast.ClassDef) -> list[tuple[Module, ast.Call]]:
    """The calls of a class by its name, in the whole project."""
    key = ("constructor calls", node)
    if key not in module.cache:
        project, resolver = tracer.resolver.project, tracer.resolver
        files = filter(None, map(project.module, project.calling(node.name)))
        found = ((other, call) for other in files for call in calls.index_calls(other).get(node.name, ()))
        module.cache[key] = [
            (other, call)
            for other, call in found
            if any(isinstance(entity, Definition) and entity.node is node for entity in resolver.resolve(other, call.func))
        ]
    return module.cache[key]  # type: ignore[return-value]


def _trace_later_stores(tracer: Tracer, module: Module, node: ast.ClassDef, name: str, trace: Trace) -> Iterator[Value]:
    """What other code assigns to the field of an object that is known to be of the class, by an annotation or where it was made."""
    project = tracer.resolver.project
    for file in project.holding(name, _DOT, _GIVEN):
        other = project.module(file)
        for statement, target, value in find_stores_by_name(other, name) if other is not None else ():
            assert other is not None
            of = tracer.resolver.resolve(other, target.value)
            outside = not any(around is node for around in other.ancestors(statement))
            if outside and any(isinstance(entity, Instance) and entity.node is node for entity in of):
                said = Reason.of("hop-attribute", name=name, owner=node.name)
                step = trace.step(other.place(statement), said, OriginKind.ASSIGNMENT)
                yield from tracer.evaluate(other, value, replace(step, frame=None))


def _index_self_stores(module: Module, node: ast.ClassDef) -> dict[str, list[Binding]]:
    """Assignments to ``self.NAME`` in the methods of a class."""
    key = ("stores", node)
    if key not in module.own:
        table: dict[str, list[Binding]] = {}
        for method in node.body:
            if isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef)) and method.args.args:
                own = method.args.args[0].arg
                for statement in walk_statements(method):
                    for target, value in assignment_pairs(statement):
                        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == own:
                            table.setdefault(target.attr, []).append(Binding(target.attr, "value", statement, value))
        module.own[key] = table
    return module.own[key]  # type: ignore[return-value]


def _is_property(node: ast.AST) -> bool:
    last = [
        part.attr if isinstance(part, ast.Attribute) else getattr(part, "id", "") for part in getattr(node, "decorator_list", [])
    ]
    return any(name.endswith("property") for name in last)
