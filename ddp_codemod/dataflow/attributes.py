"""Attributes, subscripts and look-ups: ``self.backend``, ``args.dist_backend``, ``table["cuda"]``, ``config.get(key, default)``."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ddp_codemod.dataflow import (
    bulk_stores,
    classes,
    config_keys,
    environment,
    mappings,
    namespaces,
    options,
    returns,
    star_args,
    surface_objects,
)
from ddp_codemod.dataflow.alias_stores import add_alias_stores, is_attribute_assigned
from ddp_codemod.dataflow.allocation_sites import AllocationKind, find_origins
from ddp_codemod.dataflow.annotations import is_annotated
from ddp_codemod.dataflow.config_sections import convert_section_get
from ddp_codemod.dataflow.delegated_attributes import trace_delegated_attribute
from ddp_codemod.dataflow.facts import BODIES
from ddp_codemod.dataflow.field_stores import find_stores_by_text
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.names import trace_module_variable
from ddp_codemod.dataflow.points_to import find_points_to_set
from ddp_codemod.dataflow.reaching_definitions import ReachingDefinitions
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.dataflow.values import Confidence, PlatformDefault, Trace, Value
from ddp_codemod.kinds import Meaning, OriginKind
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.sites.entities import Definition, Entity, Instance, ModuleRef, Variable
from ddp_codemod.sites.scopes import Binding, bindings, owner_scope, scope_of

ROOT = "other"  # the binding kind that stands for "the object itself was made here"


def trace_attribute(tracer: Tracer, module: Module, node: ast.Attribute, trace: Trace) -> list[Value]:
    """The sources of ``x.attr``."""
    known = _find_enum_member(tracer, module, node, trace)
    if known is not None:
        return [known]
    stored, closed = _trace_stores(tracer, module, node, trace)
    if closed:
        return stored
    if (
        not stored
        and node.attr == "value"
        and (member := classes.trace_enum_value(tracer, module, node.value, trace)) is not None
    ):
        return member
    of_tensor = is_annotated(tracer.resolver, module, node.value, tracer.tensors)  # the code around gives it no attributes
    found = [] if of_tensor else _trace_without_stores(tracer, module, node, trace)
    return stored + found or [tracer.unknown(module, node, trace, "why-attribute", text=module.text(node))]


def _trace_without_stores(tracer: Tracer, module: Module, node: ast.Attribute, trace: Trace) -> list[Value]:
    """The sources of ``x.attr`` that hold where no assignment of the same body has put another in their place."""
    is_stored = is_attribute_assigned(tracer, node.attr)  # else no object of the project has it, and none has to be followed
    base = (
        find_points_to_set(tracer, module, node.value, trace.frame) if is_stored else tracer.resolver.resolve(module, node.value)
    )
    found = _trace_objects(tracer, base, node.attr, node, trace)
    held, whole = namespaces.trace_namespace(tracer, module, node, trace) if not found else ([], True)
    found += held
    if trace.near:
        return add_alias_stores(tracer, module, node, trace, found)
    if not found and surface_objects.is_surface_attribute(tracer, module, node.value, node.attr):
        return [Value(module, node, OriginKind.HANDED_ON, trace=trace)]
    origin = find_origins(tracer, module, node.value, trace) if not found or not whole else None
    if origin is None and bulk_stores.has_any(module, base) and (filled := find_origins(tracer, module, node.value, trace)).sure:
        origin = filled
    if origin is not None:
        found += options.trace_handle(tracer, module, node, trace) or options.trace_option(
            tracer, module, node.attr, trace, origin
        )
    if not found or len(config_keys.find_key_path(node)) > 1:
        found += config_keys.trace_key(tracer, module, node, trace)
    fields = [entity for entity in base if isinstance(entity, Variable) and isinstance(entity.scope, ast.ClassDef)]
    found += _trace_objects(
        tracer, [one for entity in fields for one in tracer.resolver.variable(entity)], node.attr, node, trace
    )
    if all(
        source.kind == OriginKind.CONFIG_KEY for source in found
    ):  # the files may say nothing, and then the field's default holds
        origin = find_origins(tracer, module, node.value, trace)
        ours = _trace_objects(tracer, origin.classes, node.attr, node, trace)
        guess = trace.with_doubt(origin.doubt_of_fields(tracer), module.text(node.value))
        found += ours or classes.trace_field(tracer, node.attr, guess)
    if any(source.kind == OriginKind.FIELD_DEFAULT for source in found):
        origin = find_origins(tracer, module, node.value, trace)
        if any(made.maker is AllocationKind.OPTIONS for made in origin.made):  # a field is an option of the same name
            found += options.trace_field_option(tracer, node.attr, origin.homes, trace)
    return add_alias_stores(tracer, module, node, trace, found)


def _trace_objects(tracer: Tracer, base: Sequence[Entity], name: str, node: ast.expr, trace: Trace) -> list[Value]:
    """The sources of an attribute of what an expression stands for: objects, classes and modules of the project."""
    found: list[Value] = []
    for entity in base:
        if isinstance(entity, (Instance, Definition)) and isinstance(entity.node, ast.ClassDef):
            own = classes.trace_class_attribute(tracer, entity.module, entity.node, name, node, trace)
            found += own or trace_delegated_attribute(tracer, entity.module, entity.node, name, trace)
        elif isinstance(entity, ModuleRef):
            for member in tracer.resolver.member(entity, name):
                if isinstance(member, Variable):
                    found += trace_module_variable(tracer, member, trace)
    return found


def _find_enum_member(tracer: Tracer, module: Module, node: ast.Attribute, trace: Trace) -> Value | None:
    name = node.attr.lower()
    if name not in tracer.rules.backends or not node.attr.isupper():
        return None
    owners = tracer.resolver.names(module, node.value)
    if any(owner in idioms.backend_enums for idioms in tracer.idioms for owner in owners):
        return Value(module, node, OriginKind.ENUM, Known(name), None, trace)
    return None


def _trace_stores(tracer: Tracer, module: Module, node: ast.Attribute | ast.Subscript, trace: Trace) -> tuple[list[Value], bool]:
    """Assignments to the very same place (``args.backend = ...``) earlier in the same body, and whether nothing else can hold."""
    text = ast.unparse(node)
    root = node.value
    while isinstance(root, (ast.Attribute, ast.Subscript)):
        root = root.value
    if not isinstance(root, ast.Name):
        return [], False
    name = root.id

    scope = scope_of(module, node)
    every = find_stores_by_text(module, text)
    made = [binding for binding in every if scope_of(module, binding.node) is scope]
    elsewhere = _trace_outer(tracer, module, name, scope, text, [binding for binding in every if binding not in made], trace)
    if not made:
        return elsewhere, False
    if isinstance(scope, BODIES):
        made += [
            Binding(text, ROOT, root_made.node)
            for root_made in bindings(module, scope).get(name, ())
            if root_made.kind != "parameter"
        ]
    flow = ReachingDefinitions(module, made, lambda test: tracer.facts.truth(module, test))
    reached = flow.before(node)
    found = elsewhere if reached.open else []
    for binding in reached.found:
        if binding.kind == "value" and binding.value is not None:
            step = trace.step(module.place(binding.node), Reason.of("hop-assigned", name=text), OriginKind.ASSIGNMENT)
            found += tracer.evaluate(module, binding.value, step)
    made_here = any(binding.kind == ROOT for binding in reached.found)
    return found, bool(found) and not reached.open and not made_here


def _trace_outer(
    tracer: Tracer, module: Module, root: str, scope: ast.AST, text: str, made: Sequence[Binding], trace: Trace
) -> list[Value]:
    """What other code of the file assigns to the same place of a module's object: a function sees it whenever it runs."""
    found: list[Value] = []
    if owner_scope(module, scope, root) is not module.tree:
        return found
    for binding in made:
        home = scope_of(module, binding.node)
        if binding.value is not None and home is not scope and owner_scope(module, home, root) is module.tree:
            if tracer.facts.unreachable(module, binding.node) is None:
                step = trace.step(module.place(binding.node), Reason.of("hop-assigned", name=text), OriginKind.ASSIGNMENT)
                found += tracer.evaluate(module, binding.value, step.inside(None))
    return found


def trace_subscript(tracer: Tracer, module: Module, node: ast.Subscript, trace: Trace) -> list[Value]:
    """The sources of ``x[key]``."""
    if environment.is_environment(node.value):
        return environment.trace_variable(tracer, module, node, trace)
    if "sys.argv" in tracer.resolver.names(module, node.value):
        return [tracer.unknown(module, node, trace, "why-typed", Meaning.GIVEN_AT_START, text=module.text(node))]
    if _is_default_table(tracer, module, node.value):
        return [Value(module, node, OriginKind.PLATFORM_DEFAULT, PlatformDefault(), None, trace)]
    found, closed = _trace_stores(tracer, module, node, trace)
    if closed:
        return found
    if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, int) and isinstance(node.value, ast.Name):
        given = star_args.trace_index(tracer, module, [ast.Starred(node.value)], node.slice.value, trace)
        if given:  # ``args[0]`` of ``*args``
            return given
    looked_up = mappings.look_up(tracer, module, node.value, node.slice, trace, whole=True) or []
    # whoever writes the key into one mapping does not do so into all; each source goes into one of the two, or a chain doubles them
    open_ = [source for source in looked_up if source.open]
    found += [source for source in looked_up if not source.open]
    if trace.near:
        return found or open_ or [tracer.unknown(module, node, trace, "why-subscript", text=module.text(node))]
    whole = bool(found) and all(source.kind != OriginKind.UNKNOWN for source in looked_up)
    if not found and isinstance(node.slice, ast.Constant) and _is_vars(tracer, module, node.value, trace):
        found += options.trace_option(
            tracer, module, str(node.slice.value), trace, find_origins(tracer, module, node.value, trace)
        )
        whole = bool(found)
    else:
        found += _trace_options(tracer, module, node.value, node.slice, trace, not found)
    if not whole:
        more = config_keys.trace_key(tracer, module, node, trace)
        if not more and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            origin = find_origins(tracer, module, node.value, trace)
            more = _trace_objects(tracer, origin.classes, node.slice.value, node, trace)
            more = more or classes.trace_field(
                tracer, node.slice.value, trace.with_doubt(origin.doubt_of_fields(tracer), module.text(node.value))
            )
        found += more or (open_ if found else [])
    if not found:
        found += [
            source
            for source in tracer.evaluate(module, node.value, trace)
            if source.kind == OriginKind.PARAMETER and source.module.name == module.name
        ]
    return found or [tracer.unknown(module, node, trace, "why-subscript", text=module.text(node))]


def _trace_options(tracer: Tracer, module: Module, mapping: ast.expr, key: ast.expr, trace: Trace, alone: bool) -> list[Value]:
    """The options that a mapping was filled with: ``config.update(vars(args))``; ``alone``: nothing else gives the key."""
    if not isinstance(key, ast.Constant) or not isinstance(key.value, str) or not (alone or bulk_stores.has_any(module, ())):
        return []
    origin = find_origins(tracer, module, mapping, trace)
    given = origin.sure and any(one.maker is AllocationKind.OPTIONS for one in origin.made)
    return options.trace_option(tracer, module, key.value, trace, origin) if given else []


def _is_vars(tracer: Tracer, module: Module, node: ast.expr, trace: Trace) -> bool:
    """Whether a mapping is ``vars(...)`` of something: the attributes of parsed arguments."""
    made = [node] if isinstance(node, ast.Call) else [source.node for source in tracer.evaluate(module, node, trace)]
    return any(isinstance(call, ast.Call) and last_name(call.func) == "vars" for call in made)


def _is_default_table(tracer: Tracer, module: Module, node: ast.expr) -> bool:
    names = tracer.resolver.names(module, node)
    return any(name in idioms.default_tables for idioms in tracer.idioms for name in names)


def trace_get(tracer: Tracer, module: Module, node: ast.Call, trace: Trace) -> list[Value]:
    """The sources of ``x.get(key, default)``."""
    assert isinstance(node.func, ast.Attribute)
    names = tracer.resolver.names(module, node.func)
    if "os.environ.get" in names:
        return environment.trace_environment(tracer, module, node, trace)
    if _is_default_table(tracer, module, node.func.value):
        return [Value(module, node, OriginKind.PLATFORM_DEFAULT, PlatformDefault(), None, trace)]
    if (of_section := convert_section_get(tracer, module, node, trace)) is not None:
        return trace_get(tracer, module, of_section, trace)
    found = mappings.look_up(tracer, module, node.func.value, node.args[0], trace)
    if found is None:
        made = returns.trace_call_result(tracer, module, node, trace)
        if any(source.kind != OriginKind.UNKNOWN for source in made):
            return made  # a ``get`` of the project's own
    if not found:
        found = _trace_options(tracer, module, node.func.value, node.args[0], trace, True)
        found += config_keys.trace_key(tracer, module, node, trace)
    if len(node.args) > 1:
        step = trace.step(
            module.place(node), Reason.of("hop-get", Meaning.FALLBACK, text=module.text(node.args[0])), OriginKind.KEY_DEFAULT
        )
        step = step.with_doubt(
            None if found is not None else _find_doubt(tracer, module, node.func.value, trace), module.text(node.func.value)
        )
        found = [*(found or []), *tracer.evaluate(module, node.args[1], step)]
    return found or [tracer.unknown(module, node, trace, "why-call", text=module.text(node.func))]


def trace_getattr(tracer: Tracer, module: Module, node: ast.Call, trace: Trace) -> list[Value]:
    """The sources of ``getattr(x, "name", default)``."""
    found: list[Value] = []
    name = node.args[1]
    if isinstance(name, ast.Constant) and isinstance(name.value, str) and not name.value.isidentifier():
        found = options.trace_option(tracer, module, name.value, trace, find_origins(tracer, module, node.args[0], trace))
    elif isinstance(name, ast.Constant) and isinstance(name.value, str):
        attribute = ast.copy_location(ast.Attribute(node.args[0], name.value, ast.Load()), node)
        module.parents[attribute] = module.parents[node]
        found = [source for source in trace_attribute(tracer, module, attribute, trace) if source.kind != OriginKind.UNKNOWN]
    if len(node.args) > 2:
        step = trace.step(
            module.place(node), Reason.of("hop-get", Meaning.FALLBACK, text=module.text(name)), OriginKind.KEY_DEFAULT
        )
        step = step.with_doubt(None if found else _find_doubt(tracer, module, node.args[0], trace), module.text(node.args[0]))
        found += tracer.evaluate(module, node.args[2], step)
    return found or [tracer.unknown(module, node, trace, "why-call", text="getattr")]


def _find_doubt(tracer: Tracer, module: Module, node: ast.expr, trace: Trace) -> Confidence | None:
    """That an object which is not known may have what a default replaces."""
    made = find_origins(tracer, module, node, trace).made
    if not made or all(one.maker in (AllocationKind.UNKNOWN, AllocationKind.ELSEWHERE) for one in made):
        sources = tracer.evaluate(module, node, Trace(kind=OriginKind.OBJECT, frame=trace.frame))
        if not sources or any(source.kind not in (OriginKind.OBJECT, OriginKind.PARAMETER) for source in sources):
            return Confidence.DEFAULT
    return None
