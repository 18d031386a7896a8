"""Calls of a surface under another name: through a ternary, a parameter, a table, an attribute, a function that returns it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import Literal

from ddp_codemod.catalog.model import Surface
from ddp_codemod.dataflow.callee_guards import find_named_uses, guard_callee, guard_receiver
from ddp_codemod.dataflow.calls import index_calls, is_value
from ddp_codemod.dataflow.escape_analysis import EscapeInfo, analyze_escapes
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.forwarded_calls import find_forwarded_use, find_method_caller_uses
from ddp_codemod.dataflow.mappings import look_up
from ddp_codemod.dataflow.outside_calls import is_only_inspecting, may_call
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.dataflow.values import Trace, Value
from ddp_codemod.kinds import OriginKind
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.sites.aliases import aliases_of
from ddp_codemod.sites.entities import Definition, Instance
from ddp_codemod.sites.surface_calls import Use


def find_indirect_uses(tracer: Tracer, module: Module, words: Collection[str]) -> Iterator[Use]:
    """The calls of the surfaces that a file passes on as values, wherever in the project these are called."""
    yield from find_method_caller_uses(tracer, module, words)
    yield from find_named_uses(tracer, module)
    for node, surface in _find_surface_values(tracer, module, {*words, *aliases_of(module, words)}):
        trace = analyze_escapes(tracer, module, node)
        found = [*_find_calls_of_value(tracer, module, node, surface, trace)]
        at_once = surface.at_once and surface.shown is None
        for home, call in trace.arguments if at_once else ():
            if (home, call) not in trace.partials and may_call(tracer, home, call):
                found.append(find_forwarded_use(tracer, home, call, surface) or Use(home, call, surface, handed=True))
        if not found and at_once and trace.escapes and not any(is_only_inspecting(tracer, *one) for one in trace.arguments):
            found.append(Use(module, _make_placeholder_call(module, node), surface, handed=True))
        yield from found


def find_receiver_uses(tracer: Tracer, module: Module, words: Collection[str]) -> Iterator[Use]:
    """The calls of a file on what comes as a parameter, from an attribute or out of ``import_module``, and on objects of a class."""
    table = index_calls(module)
    for call in (call for word in sorted(table.keys() & set(words)) for call in table[word]):
        if not isinstance(call.func, ast.Attribute) or tracer.resolver.resolve(module, call.func):
            continue
        names = [
            list(_list_receiver_names(tracer, source))
            for source in tracer.evaluate(module, call.func.value, Trace(kind=OriginKind.OBJECT))
        ]
        found = [tracer.finder.surface(f"{name}.{call.func.attr}") for known in names for name in known]
        surface = next(filter(None, found), None)
        if surface is not None:
            sure = all(known for known in names) and all(one is surface for one in found)
            owners = {name for known in names for name in known if tracer.finder.surface(f"{name}.{call.func.attr}") is not None}
            guard = guard_receiver(tracer, module, call, owners.pop()) if not sure and len(owners) == 1 else ""
            yield Use(module, call, surface, alone=sure, guard=guard)


def _list_receiver_names(tracer: Tracer, source: Value) -> Iterator[str]:
    """The qualified names of the modules that a source stands for, or of the class that it is an object of."""
    if not isinstance(source.module, Module) or not isinstance(source.node, ast.expr):
        return
    yield from tracer.resolver.names(source.module, source.node)
    node = source.node
    if isinstance(node, ast.Call):
        called = tracer.resolver.names(source.module, node.func)
        yield from (name for name in called if name != "importlib.import_module")
        if node.args and "importlib.import_module" in called:
            for named in tracer.evaluate(source.module, node.args[0]):
                if isinstance(named.value, Known) and isinstance(named.value.value, str):
                    yield named.value.value


def _make_placeholder_call(module: Module, node: ast.expr) -> ast.Call:
    """A call where a value is, for an item that has no call to be at."""
    call = ast.copy_location(ast.Call(node, [], []), node)
    module.parents[call] = module.parents[node]
    return call


def _find_calls_of_value(tracer: Tracer, module: Module, node: ast.expr, surface: Surface, trace: EscapeInfo) -> Iterator[Use]:
    """The calls of a value, found by its name or not, and those of what binds some of its arguments."""
    for home, call in trace.calls:
        if (named := tracer.finder.use(home, call)) is not None:
            yield named
            continue
        bound = [(other, part) for other, part in trace.partials if _may_be_bound_by(tracer, home, call.func, other, part)]
        if not bound and (use := _make_use(tracer, home, call, module, node, surface)) is not None:
            yield use
        binding = [_may_bind_backend(tracer, Use(other, part, surface, skip=1)) for other, part in bound]
        if bound and (not all(binding) or _may_pass_backend(call, surface)):
            sources = tracer.evaluate(home, call.func, Trace(kind=OriginKind.OBJECT))
            whole = all(any(source.node is part for _, part in bound) for source in sources)
            omits: Literal["default", "elsewhere", "unknown"]
            omits = "elsewhere" if all(binding) else "unknown" if any(binding) or not whole else "default"
            skips = {1 - len(part.args) for _, part in bound}
            yield Use(home, call, surface, skip=min(skips), alone=whole and len(skips) == 1, omits=omits)


def _may_pass_backend(call: ast.Call, surface: Surface) -> bool:
    """Whether a call names the backend itself: in place of one that is bound before."""
    names = {one.name for one in surface.parameters if one.role == "backend"}
    return any(keyword.arg in names for keyword in call.keywords)


def _may_bind_backend(tracer: Tracer, partial: Use) -> bool:
    """Whether a call that binds arguments may bind the backend."""
    for parameter in (one for one in partial.surface.parameters if one.role == "backend"):
        key = ast.Constant(parameter.name)
        tables = (look_up(tracer, partial.module, part, key, Trace(), whole=True) for part in partial.spread)
        if partial.argument(parameter) is not None or any(found != [] for found in tables):
            return True
    return False


def _find_surface_values(tracer: Tracer, module: Module, words: Collection[str]) -> Iterator[tuple[ast.expr, Surface]]:
    """The names of a file that stand for a surface and are not called where they are."""
    for kind in (ast.Name, ast.Attribute):
        for node in module.nodes.get(kind, ()):
            assert isinstance(node, (ast.Name, ast.Attribute))
            if last_name(node) in words and isinstance(node.ctx, ast.Load) and is_value(module, node):
                surfaces = (tracer.finder.surface(name) for name in tracer.resolver.names(module, node))
                if (surface := next(filter(None, surfaces), None)) is not None:
                    yield node, surface
    for node in module.nodes.get(ast.Subscript, ()):  # ``vars(dist)["init_process_group"]``
        assert isinstance(node, ast.Subscript)
        word = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if isinstance(word, str) and word in words and isinstance(node.value, ast.Call):
            if last_name(node.value.func) == "vars" and node.value.args:
                for owner in tracer.resolver.names(module, node.value.args[0]):
                    if (surface := tracer.finder.surface(f"{owner}.{word}")) is not None:
                        yield node, surface
    for call in index_calls(module).get("getattr", ()):  # by a name that is known, but not written there
        name = (
            tracer.facts.fold(module, call.args[1]) if len(call.args) > 1 and not isinstance(call.args[1], ast.Constant) else None
        )
        if isinstance(name, Known) and name.value in words:
            for owner in tracer.resolver.names(module, call.args[0]):
                if (surface := tracer.finder.surface(f"{owner}.{name.value}")) is not None:
                    yield call, surface


def _make_use(tracer: Tracer, module: Module, call: ast.Call, home: Module, value: ast.expr, surface: Surface) -> Use | None:
    """The use that a call is which may be of a surface; ``alone`` where it can be of nothing else."""
    if any(isinstance(entity, (Definition, Instance)) for entity in tracer.resolver.resolve(module, call.func)):
        return None  # a class or function of the project, whose own code is read
    sources = [
        source
        for source in tracer.evaluate(module, call.func, Trace(kind=OriginKind.OBJECT))
        if not (isinstance(source.value, Known) and source.value.value is None)  # which is not called
    ]
    ours = [source for source in sources if source.node is value or _is_surface(tracer, source.module, source.node, surface)]
    if not ours and sources and all(_is_named(tracer, source.module, source.node) for source in sources):
        return None
    others = [source for source in sources if not any(source is one for one in ours)]
    alike = all(_is_equivalent_surface(tracer, source, call, surface) for source in others)
    alone = not others and bool(sources)
    named = tracer.resolver.names(home, value)
    others_of = {name for one in others for name in _list_surface_names(tracer, one)} - {*named}
    guard = guard_callee(tracer, module, call, named[0]) if not alone and len(named) == 1 and not others_of else ""
    return Use(module, call, surface, alone=alone, alike=alike and bool(sources), guard=guard)


def _list_surface_names(tracer: Tracer, source: Value) -> list[str]:
    """The qualified names of surfaces that a source stands for."""
    if not isinstance(source.module, Module) or not isinstance(source.node, (ast.Name, ast.Attribute)):
        return []
    names = tracer.resolver.names(source.module, source.node)
    return [name for name in names if tracer.finder.surface(name) is not None]


def _is_equivalent_surface(tracer: Tracer, source: Value, call: ast.Call, surface: Surface) -> bool:
    """Whether another function that may be called there is a surface too, and what the call names means the same to it."""
    if call.args or not isinstance(source.module, Module) or not isinstance(source.node, (ast.Name, ast.Attribute)):
        return False
    given = {keyword.arg for keyword in call.keywords}
    roles = {one.name: one.role for one in surface.parameters if one.name in given}
    found = map(tracer.finder.surface, tracer.resolver.names(source.module, source.node))
    return any(roles == {one.name: one.role for one in other.parameters if one.name in given} for other in found if other)


def _is_named(tracer: Tracer, module: object, node: object) -> bool:
    """Whether an expression is a name that stands for something known."""
    return (
        isinstance(module, Module) and isinstance(node, (ast.Name, ast.Attribute)) and bool(tracer.resolver.resolve(module, node))
    )


def _is_surface(tracer: Tracer, module: object, node: object, surface: Surface) -> bool:
    if not isinstance(module, Module) or not isinstance(node, (ast.Name, ast.Attribute)):
        return False
    return any(tracer.finder.surface(name) is surface for name in tracer.resolver.names(module, node))


def _may_be_bound_by(tracer: Tracer, module: Module, callee: ast.expr, other: Module, part: ast.Call) -> bool:
    """Whether a callee can be what a call that binds arguments gives."""
    return any(
        source.module is other and source.node is part
        for source in tracer.evaluate(module, callee, Trace(kind=OriginKind.OBJECT))
    )
