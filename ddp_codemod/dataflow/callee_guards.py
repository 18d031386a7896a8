"""Conditions under which a call is one of a surface, where it may be of something else: ``start is dist.init_process_group``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.sites.aliases import aliases_of
from ddp_codemod.sites.scopes import bindings, owner_scope, scope_of
from ddp_codemod.sites.surface_calls import Use


def guard_callee(tracer: Tracer, module: Module, call: ast.Call, name: str) -> str:
    """The condition that a call is of a function, by its qualified name; "" where no expression there says so."""
    return _compare(tracer, module, call, call.func, name)


def guard_receiver(tracer: Tracer, module: Module, call: ast.Call, name: str) -> str:
    """The condition that the method of a call is a function of a module."""
    return _compare(tracer, module, call, call.func.value, name) if isinstance(call.func, ast.Attribute) else ""


def find_named_uses(tracer: Tracer, module: Module) -> Iterator[Use]:
    """The calls of what is looked up by one of several names: ``for name in ("init_process_group", "barrier"): getattr(dist, name)()``."""
    for call in module.nodes.get(ast.Call, ()):
        looked_up = call.func if isinstance(call, ast.Call) else None
        if not isinstance(looked_up, ast.Call) or last_name(looked_up.func) != "getattr" or len(looked_up.args) < 2:
            continue
        assert isinstance(call, ast.Call)
        owner, name = looked_up.args[:2]
        if not isinstance(name, ast.Name) or not (owners := tracer.resolver.names(module, owner)):
            continue
        values = [source.value.value if isinstance(source.value, Known) else None for source in tracer.evaluate(module, name)]
        found = {text: tracer.finder.surface(f"{owners[0]}.{text}") for text in values if isinstance(text, str)}
        named = {text: surface for text, surface in found.items() if surface is not None}
        if len(named) == 1 and len(owners) == 1:
            text, surface = next(iter(named.items()))
            yield Use(module, call, surface, alone=set(values) == {text}, guard=f'{name.id} == "{text}"')


def is_guard(tracer: Tracer, module: Module, node: ast.expr, test: ast.expr) -> bool:
    """Whether a test in an argument says that the call around it is one of a surface."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return False
    call = next(
        (at for at in module.ancestors(node) if isinstance(at, ast.Call) and last_name(at.func) not in ("get", "items")), None
    )
    if call is None:
        return False
    asked, right = ast.dump(test.left), test.comparators[0]
    if isinstance(test.ops[0], ast.Eq):
        got = call.func.args if isinstance(call.func, ast.Call) and len(call.func.args) > 1 else None
        if got is None or asked != ast.dump(got[1]) or not isinstance(right, ast.Constant) or not isinstance(right.value, str):
            return False
        owners = tracer.resolver.names(module, got[0])
        return any(tracer.finder.surface(f"{owner}.{right.value}") is not None for owner in owners)
    if not isinstance(test.ops[0], ast.Is):
        return False
    names = tracer.resolver.names(module, right)
    if asked == ast.dump(call.func):
        return any(tracer.finder.surface(name) is not None for name in names)
    method = call.func if isinstance(call.func, ast.Attribute) else None
    owned = (tracer.finder.surface(f"{name}.{method.attr}") for name in names) if method is not None else ()
    return method is not None and asked == ast.dump(method.value) and any(one is not None for one in owned)


def _compare(tracer: Tracer, module: Module, call: ast.Call, asked: ast.expr, name: str) -> str:
    spelled = next(_spell(tracer, module, call, name), None)
    return f"{module.text(asked)} is {spelled}" if spelled is not None and _is_plain(asked) else ""


def _is_plain(node: ast.expr) -> bool:
    """Whether asking for an expression again gives the same: names, attributes, and entries of tables."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, (ast.Constant, ast.Name)):
            return False
        node = node.value
    return isinstance(node, ast.Name)


def _spell(tracer: Tracer, module: Module, call: ast.Call, name: str) -> Iterator[str]:
    """How the file writes what has a qualified name, where that is seen at the call."""
    word = name.rpartition(".")[2]
    made = (one for found in bindings(module, module.tree).values() for one in found if one.kind == "import")
    words = {word, *aliases_of(module, [word])}
    words |= {one.name for one in made if (f"{one.module}.{one.member}" if one.member else one.module) == name}
    for kind in (ast.Attribute, ast.Name):
        for node in module.nodes.get(kind, ()):
            if (
                isinstance(node, (ast.Attribute, ast.Name))
                and last_name(node) in words
                and tracer.resolver.names(module, node) == [name]
            ):
                root: ast.expr = node
                while isinstance(root, ast.Attribute):
                    root = root.value
                if isinstance(root, ast.Name) and _is_import_of_file(module, call, root.id):
                    yield module.text(node)


def _is_import_of_file(module: Module, call: ast.Call, name: str) -> bool:
    made = bindings(module, module.tree).get(name, [])
    statements = {one.node for one in made}
    plain = bool(made) and all(one.kind == "import" and module.parents.get(one.node) is module.tree for one in made)
    return (
        plain
        and len({one.module for one in made}) == 1
        and bool(statements)
        and owner_scope(module, scope_of(module, call), name) is module.tree
    )
