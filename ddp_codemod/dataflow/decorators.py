"""Decorators: whether a function still gets what its callers pass and its own defaults once one is around it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ddp_codemod.dataflow.calls import Def, index_calls
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.sites.entities import Definition, External
from ddp_codemod.sites.scopes import owner_scope, scope_of

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEPTH = 3  # functions that make a decorator


def find_opaque_decorator(tracer: Tracer, module: Module, function: Def) -> str:
    """The decorator that may hand a function other arguments than those that its callers pass, or its own defaults; "" for none."""
    key = ("decorated", function)
    if key not in module.cache:
        found = next((part for part in function.decorator_list if not _is_argument_preserving(tracer, module, part)), None)
        module.cache[key] = f"@{module.text(found)}" if found is not None else ""
    return str(module.cache[key])


def is_filled_by_decorator(tracer: Tracer, module: Module, function: Def) -> bool:
    """Whether a decorator passes a function an argument of its own: ``@click.pass_obj``."""
    fillers = {name for idioms in tracer.idioms for name in idioms.fillers}
    return any(fillers & set(tracer.resolver.names(module, part)) for part in function.decorator_list)


def find_wrapper_calls(tracer: Tracer, module: Module, function: Def) -> Iterator[tuple[Module, ast.Call]]:
    """The calls of a function that the project's own decorators around it make, where they do not just pass on what they get."""
    for part in function.decorator_list:
        for entity in tracer.resolver.resolve(module, part):
            if isinstance(entity, Definition) and isinstance(entity.node, _FUNCTIONS) and entity.node.args.args:
                if not _is_passthrough(entity.module, entity.node, DEPTH):
                    name = entity.node.args.args[0].arg
                    for call in index_calls(entity.module).get(name, ()):
                        if (
                            isinstance(call.func, ast.Name)
                            and owner_scope(entity.module, scope_of(entity.module, call), name) is entity.node
                        ):
                            yield entity.module, call


def _is_argument_preserving(tracer: Tracer, module: Module, decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    entities = tracer.resolver.resolve(module, called)
    if not entities:
        last = last_name(called)
        return any(last in idioms.transparent_names for idioms in tracer.idioms)
    return all(_is_transparent(tracer, entity, isinstance(decorator, ast.Call)) for entity in entities)


def _is_transparent(tracer: Tracer, entity: object, called: bool) -> bool:
    if isinstance(entity, External):
        known = [name for idioms in tracer.idioms for name in (*idioms.transparent, *idioms.test_parameters)]
        known += [name for idioms in tracer.idioms for entry in idioms.config_entry for name in entry.names]
        known += [name for idioms in tracer.idioms for binding in idioms.binding for name in binding.decorators]
        return any(entity.name == name or entity.name.startswith(f"{name}.") for name in known)
    if isinstance(entity, Definition) and isinstance(entity.node, _FUNCTIONS):
        return _is_passthrough(entity.module, entity.node, DEPTH)
    return False


def _is_passthrough(module: Module, function: Def, depth: int) -> bool:
    """Whether a decorator, or what makes one, gives back the function itself or one that calls it with just what it is passed."""
    inside = {node.name: node for node in ast.walk(function) if isinstance(node, _FUNCTIONS) and node is not function}
    given = {argument.arg for argument in (*function.args.posonlyargs, *function.args.args)}
    returned = [
        node.value
        for node in module.nodes.get(ast.Return, ())
        if isinstance(node, ast.Return) and scope_of(module, node) is function
    ]
    if not returned:
        return False
    for value in returned:
        if isinstance(value, ast.Call) and len(value.args) == 1 and isinstance(value.args[0], ast.Name):
            if value.args[0].id not in inside:
                return False
            value = value.args[0]  # ``return functools.wraps(f)(inner)``
        if not isinstance(value, ast.Name):
            return False
        if value.id in given and not _has_rebinding(function, value.id):
            continue
        inner = inside.get(value.id)
        if inner is None or not (
            _is_forwarding_wrapper(inner, given) or (depth > 0 and _is_passthrough(module, inner, depth - 1))
        ):
            return False
    return True


def _is_forwarding_wrapper(inner: Def, given: set[str]) -> bool:
    """Whether every call of the decorated function in a wrapper passes on ``*args`` and ``**kwargs`` as they come in."""
    taken, named = inner.args.vararg, inner.args.kwarg
    if taken is None or named is None:
        return False
    calls = [
        node
        for node in ast.walk(inner)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in given
    ]
    plain = {part for call in calls if _is_plain(call, taken.arg, named.arg) for part in ast.walk(call)}
    uses = [node for node in ast.walk(inner) if isinstance(node, ast.Name) and node.id in {taken.arg, named.arg, *given}]
    return bool(calls) and all(node in plain or _is_about(inner, node) for node in uses)


def _has_rebinding(function: Def, name: str) -> bool:
    """Whether a function gives one of its names another value."""
    return any(
        isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load) for node in ast.walk(function)
    )


def _is_about(inner: Def, node: ast.Name) -> bool:
    """Whether a name is in a decorator, ``@functools.wraps(f)``, or is asked for an attribute, ``f.__name__``."""
    asked = any(
        isinstance(part, ast.Attribute) and part.value is node and isinstance(part.ctx, ast.Load) for part in ast.walk(inner)
    )
    return asked or any(part is node for decorator in inner.decorator_list for part in ast.walk(decorator))


def _is_plain(call: ast.Call, taken: str, named: str) -> bool:
    last = call.args[-1] if call.args else None
    starred = isinstance(last, ast.Starred) and isinstance(last.value, ast.Name) and last.value.id == taken
    spread = [keyword.value for keyword in call.keywords if keyword.arg is None]
    whole = len(spread) == 1 and isinstance(spread[0], ast.Name) and spread[0].id == named
    return starred and whole and len(call.keywords) == 1
