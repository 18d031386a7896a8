"""A surface that is handed to what calls it, with its arguments: ``Thread(target=init, kwargs=options)``, ``submit(init, "nccl")``."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from ddp_codemod.catalog.idioms import Forwarder
from ddp_codemod.catalog.model import Surface
from ddp_codemod.dataflow.calls import find_argument, index_calls
from ddp_codemod.dataflow.escape_analysis import analyze_escapes
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.sites.surface_calls import Use


def find_forwarded_use(tracer: Tracer, module: Module, call: ast.Call, surface: Surface) -> Use | None:
    """The call of a surface that a call makes which it is handed to; None where what it passes is not seen."""
    names = set(tracer.resolver.names(module, call.func))
    for submitter in (one for idioms in tracer.idioms for one in idioms.submitter):
        by_name = not tracer.resolver.resolve(module, call.func) and isinstance(call.func, ast.Attribute)
        if names & set(submitter.names) or (by_name and last_name(call.func) in submitter.methods):
            passed = call.args[: submitter.function_position + 1]
            plain = len(passed) > submitter.function_position and not any(isinstance(part, ast.Starred) for part in passed)
            if plain and _is_surface(tracer, module, passed[-1], surface):
                lost = bool(call.keywords) and not submitter.keywords
                skip = submitter.function_position + 1
                return (
                    None if lost else Use(module, call, surface, skip=skip, omits="default" if submitter.keywords else "unknown")
                )
    for forwarder in (one for idioms in tracer.idioms for one in idioms.forwarder):
        if names & set(forwarder.names) and forwarder.args is not None and not forwarder.skip:
            return _make_use(tracer, module, call, surface, forwarder)
    return None


def find_method_caller_uses(tracer: Tracer, module: Module, words: Collection[str]) -> Iterator[Use]:
    """The calls of surfaces by ``methodcaller("init_process_group", "nccl")(dist)``, which holds the arguments."""
    for call in index_calls(module).get("methodcaller", ()):
        word = call.args[0].value if call.args and isinstance(call.args[0], ast.Constant) else None
        if (
            not isinstance(word, str)
            or word not in words
            or "operator.methodcaller" not in tracer.resolver.names(module, call.func)
        ):
            continue
        trace = analyze_escapes(tracer, module, call)
        given = [(home, outer.args[0]) for home, outer in trace.calls if len(outer.args) == 1]
        found = [_find_method(tracer, home, owner, word) for home, owner in given]
        if (surface := next(filter(None, found), None)) is not None:
            sure = not trace.escapes and len(given) == len(trace.calls) and all(one is surface for one in found)
            yield Use(module, call, surface, skip=1, alone=sure)


def _find_method(tracer: Tracer, module: Module, owner: ast.expr, word: str) -> Surface | None:
    found = (tracer.finder.surface(f"{name}.{word}") for name in tracer.resolver.names(module, owner))
    return next(filter(None, found), None)


def _is_surface(tracer: Tracer, module: Module, node: ast.expr, surface: Surface) -> bool:
    return any(tracer.finder.surface(name) is surface for name in tracer.resolver.names(module, node))


def _make_use(tracer: Tracer, module: Module, call: ast.Call, surface: Surface, forwarder: Forwarder) -> Use | None:
    """The call that is made, of the nodes that are written: nothing is to be added to its text, which is nowhere."""
    handed = find_argument(call, forwarder.function, forwarder.function_position)
    if handed is None or not _is_surface(tracer, module, handed, surface):
        return None
    given = find_argument(call, forwarder.args or "", forwarder.args_position)
    if given is not None and not isinstance(given, (ast.Tuple, ast.List)):
        return None
    table = find_argument(call, forwarder.kwargs, None) if forwarder.kwargs is not None else None
    keywords = [ast.keyword(None, table)] if table is not None else []
    if isinstance(table, ast.Dict):
        keywords = [
            ast.keyword(str(key.value) if isinstance(key, ast.Constant) else None, value)
            for key, value in zip(table.keys, table.values, strict=True)
            if key is None or (isinstance(key, ast.Constant) and isinstance(key.value, str))
        ]
        if len(keywords) < len(table.keys):
            return None
    made = ast.copy_location(ast.Call(handed, list(given.elts) if given is not None else [], keywords), call)
    module.parents[made] = module.parents[call]
    use = Use(module, made, surface, table=table)
    known = table is not None or any(use.argument(one) is not None for one in surface.parameters if one.role == "backend")
    return use if known else None
