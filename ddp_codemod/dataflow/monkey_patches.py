"""Functions of a library in whose place a project puts functions of its own."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ddp_codemod.catalog.model import Surface
from ddp_codemod.dataflow.calls import index_calls
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.discover.kinds import is_test
from ddp_codemod.model import Place
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.scopes import bindings, owner_scope, scope_of

_STORED = re.compile(rb"(?<=\.)"), re.compile(rb"[ \t]*=[^=]")  # around the word of an attribute that is assigned
_NAMED = re.compile(rb"(?<=[\"'])"), re.compile(rb"[\"'][ \t]*,")  # ... and around the second argument of setattr


def find_monkey_patch(tracer: Tracer, surface: Surface) -> Place | None:
    """Where the project assigns to a surface, ``dist.init_process_group = audited``; None where it does so nowhere.

    What a test puts there is gone when the test ends.
    """
    return next(iter(list_monkey_patches(tracer, surface)), None)


def list_monkey_patches(tracer: Tracer, surface: Surface) -> list[Place]:
    """Every place of the project that does."""
    known: dict[str, list[Place]] = tracer.memory.setdefault("replaced surfaces", {})
    if surface.id not in known:
        known[surface.id] = list(_find_monkey_patches(tracer, surface))
    return known[surface.id]


def is_call_of_original(tracer: Tracer, module: Module, call: ast.Call, surface: Surface) -> bool:
    """Whether a call is of the surface itself, which got a name before the only place that replaces it: ``original(*args)``."""
    patches = list_monkey_patches(tracer, surface)
    home = owner_scope(module, scope_of(module, call), call.func.id) if isinstance(call.func, ast.Name) else None
    made = bindings(module, home).get(call.func.id, []) if home is not None and isinstance(call.func, ast.Name) else []
    if len(patches) != 1 or len(made) != 1 or made[0].value is None or patches[0].name != module.name:
        return False
    named = any(tracer.finder.surface(name) is surface for name in tracer.resolver.names(module, made[0].value))
    return named and module.place(made[0].node).end <= patches[0].start


def _find_monkey_patches(tracer: Tracer, surface: Surface) -> Iterator[Place]:
    project = tracer.resolver.project
    for word in {name.rsplit(".", 1)[-1] for name in surface.names}:
        names = dict.fromkeys((*project.holding(word, *_STORED), *project.holding(word, *_NAMED)))
        for module in filter(None, map(project.module, names)):
            for owner, at in () if is_test(module.name) else _find_stores(module, word):
                if any(tracer.finder.surface(f"{name}.{word}") is surface for name in tracer.resolver.names(module, owner)):
                    yield module.place(at)


def _find_stores(module: Module, word: str) -> Iterator[tuple[ast.expr, ast.AST]]:
    for node in module.nodes.get(ast.Assign, ()):
        assert isinstance(node, ast.Assign)
        yield from ((one.value, one) for one in node.targets if isinstance(one, ast.Attribute) and one.attr == word)
    for call in index_calls(module).get("setattr", ()):
        if len(call.args) == 3 and isinstance(call.args[1], ast.Constant) and call.args[1].value == word:
            yield call.args[0], call
