"""Finds the places of a project that call a function, directly or through a forwarder such as ``mp.spawn`` or ``partial``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ddp_codemod.catalog.idioms import Forwarder
from ddp_codemod.dataflow import dispatch_tables, dynamic_calls
from ddp_codemod.dataflow.calls import CALL, CallArguments, Def, find_argument, find_names, index_calls, is_value
from ddp_codemod.dataflow.decorators import find_wrapper_calls
from ddp_codemod.dataflow.escape_analysis import analyze_escapes
from ddp_codemod.dataflow.outside_calls import may_call
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.sites.aliases import imported_aliases
from ddp_codemod.sites.entities import Definition, Entity, Instance

_RETURN, _WHOLE = re.compile(rb"\breturn[ \t]+\Z"), re.compile(rb"[ \t]*(?:[;#\r\n\\\"]|\Z)")  # around a class that is returned


def callers_of(tracer: Tracer, module: Module, function: Def) -> list[CallArguments]:
    """Every place of the project that calls a function, also through a forwarder such as ``mp.spawn`` or ``partial``."""
    return tracer.ask_once(module, ("callers", function), lambda: _list_callers(tracer, module, function), list[CallArguments]())


def _list_callers(tracer: Tracer, module: Module, function: Def) -> list[CallArguments]:
    found = list(_search_callers(tracer, module, function))
    known = {given.call for given in found}
    others = (*_find_aliased_calls(tracer, module, function), *_find_decorator_calls(tracer, module, function))
    return [*found, *(given for given in others if given.call not in known)]


def has_unknown_callers(tracer: Tracer, module: Module, function: Def) -> bool:
    """Whether a function goes to code that is not read, which may call it with anything."""
    for node in _find_value_uses(tracer, module, function):
        trace = analyze_escapes(tracer, module, node)
        if any(may_call(tracer, other, call) for other, call in trace.arguments) and not trace.partials:
            return True
    return False


def _find_value_uses(tracer: Tracer, module: Module, function: Def) -> Iterator[ast.Name]:
    """The places of its own file where a function is a value."""
    for node in find_names(module, function.name):
        if isinstance(node.ctx, ast.Load) and is_value(module, node):
            entities = tracer.resolver.resolve(module, node)
            if any(isinstance(entity, Definition) and entity.node is function for entity in entities):
                yield node


def _find_aliased_calls(tracer: Tracer, module: Module, function: Def) -> Iterator[CallArguments]:
    """The calls of a function under another name, which its own file gives it: ``start = retrying(setup)``, ``return inner``."""
    around = module.parents.get(function)
    handed = [(module, node) for node in _find_value_uses(tracer, module, function)]
    if function.name == "__init__" and isinstance(around, ast.ClassDef):
        handed += _find_returned_classes(tracer, around)
    for home, node in handed:
        trace = analyze_escapes(tracer, home, node)
        if not trace.partials:  # whose own arguments come first
            yield from (CallArguments(other, call, tuple(call.args), tuple(call.keywords)) for other, call in trace.calls)


def _find_returned_classes(tracer: Tracer, node: ast.ClassDef) -> Iterator[tuple[Module, ast.Name]]:
    """Where a class is what a function gives: ``return Trainer``."""
    project = tracer.resolver.project
    for name in project.holding(node.name, _RETURN, _WHOLE):
        other = project.module(name)
        for value in find_names(other, node.name) if other is not None else ():
            assert other is not None
            if isinstance(other.parents.get(value), ast.Return):
                entities = tracer.resolver.resolve(other, value)
                if any(isinstance(entity, Definition) and entity.node is node for entity in entities):
                    yield other, value


def _find_decorator_calls(tracer: Tracer, module: Module, function: Def) -> Iterator[CallArguments]:
    for other, call in find_wrapper_calls(tracer, module, function):
        yield CallArguments(other, call, tuple(call.args), tuple(call.keywords))


def _search_callers(tracer: Tracer, module: Module, function: Def) -> Iterator[CallArguments]:
    project = tracer.resolver.project
    around = module.parents.get(function)
    construct = function.name == "__init__" and isinstance(around, ast.ClassDef)
    if any(isinstance(part, ast.Attribute) and part.attr == "setter" for part in function.decorator_list):
        return  # run by an assignment; its name, that of the attribute, is everywhere
    word = around.name if (construct or function.name == CALL) and isinstance(around, ast.ClassDef) else function.name
    wanted = _list_candidate_files(tracer, module, function, word)
    for name in project.mentioning(word):
        other = project.module(name) if name in wanted else None
        if other is None:
            continue
        words = {word, *imported_aliases(other, [word])}
        if construct:
            words |= {"__init__", "cls", *_list_subclass_names(other, words)}
        for called in sorted(words):
            for call, entities in _resolve_calls(tracer, other, called):
                if _stands_for(tracer, entities, function):
                    yield CallArguments(other, call, tuple(call.args), tuple(call.keywords))
        yield from _find_forwarded_calls(tracer, other, words, function)
        yield from _find_actor_calls(tracer, other, module, function)
        if function.name == CALL and isinstance(around, ast.ClassDef):
            yield from _find_object_calls(tracer, other, around)
    yield from dynamic_calls.find_dynamic_calls(tracer, module, function)
    for other in dispatch_tables.find_table_files(tracer, module, function):
        yield from dispatch_tables.find_table_calls(tracer, other, function)


def _find_object_calls(tracer: Tracer, other: Module, node: ast.ClassDef) -> Iterator[CallArguments]:
    """The calls of objects of a class: ``setup = Setup()``, then ``setup("nccl")``."""
    for call in other.nodes.get(ast.Call, ()):
        assert isinstance(call, ast.Call)
        of = tracer.resolver.resolve(other, call.func)
        if any(
            isinstance(entity, Instance) and any(base is node for _, base in tracer.resolver.lineage(entity.module, entity.node))
            for entity in of
        ):
            yield CallArguments(other, call, tuple(call.args), tuple(call.keywords))


def _list_candidate_files(tracer: Tracer, module: Module, function: Def, word: str) -> set[str]:
    """The files that may call a function, as far as their bytes tell."""
    project = tracer.resolver.project
    if "handing" not in tracer.memory:
        tracer.memory["handing"] = project.naming(_list_forwarder_names(tracer))
    handing = tracer.memory["handing"]
    if word != function.name:  # a class, whose constructor is called by those of its subclasses too
        return {module.name, *project.below(word), *project.may_call(word, handing, None)}
    is_global = isinstance(module.parents.get(function), ast.Module)
    return {module.name, *project.may_call(word, handing, project.carrying(module.name, word) if is_global else None)}


def _list_forwarder_names(tracer: Tracer) -> Iterator[str]:
    """The last names of what calls a function that it is handed."""
    for idioms in tracer.idioms:
        yield from (name.rpartition(".")[2] for forwarder in idioms.forwarder for name in forwarder.names)
        yield from (actor.method for actor in idioms.actor)


def _resolve_calls(tracer: Tracer, other: Module, word: str) -> list[tuple[ast.Call, list[Entity]]]:
    """The calls in a file of what has a name, and what they call, where that is known: many functions may have the name."""
    key = ("resolved calls", word)
    if key not in other.cache:
        found = ((call, tracer.resolver.resolve(other, call.func)) for call in index_calls(other).get(word, ()))
        other.cache[key] = [(call, entities) for call, entities in found if entities]
    return other.cache[key]  # type: ignore[return-value]


def _stands_for(tracer: Tracer, entities: list[Entity], function: Def) -> bool:
    """Whether what an expression stands for is the function (a class stands for its ``__init__``)."""
    for entity in entities:
        if isinstance(entity, Definition):
            if entity.node is function:
                return True
            if isinstance(entity.node, ast.ClassDef) and function.name == "__init__":
                for maker in tracer.resolver.member(entity, "__init__"):
                    if isinstance(maker, Definition) and maker.node is function:
                        return True
    return False


def _list_subclass_names(module: Module, words: set[str]) -> set[str]:
    """Classes of a file that derive from one of the words; calling them may run the inherited ``__init__``."""
    found: set[str] = set()
    for node in module.nodes.get(ast.ClassDef, ()):
        assert isinstance(node, ast.ClassDef)
        for base in node.bases:
            if last_name(base) in words:
                found.add(node.name)
    return found


def _find_forwarded_calls(tracer: Tracer, other: Module, words: set[str], function: Def) -> Iterator[CallArguments]:
    for forwarder, call, handed in _list_forwarding_calls(tracer, other):
        if last_name(handed) not in words:
            continue
        named = set(tracer.resolver.names(other, call.func)) & set(forwarder.names)
        if not named and not _is_forwarder_by_name(tracer, other, call, forwarder):
            continue
        if _stands_for(tracer, tracer.resolver.resolve(other, handed), function):
            yield _make_forwarded_arguments(tracer, other, call, forwarder)


def find_forwarded_functions(tracer: Tracer, module: Module, call: ast.Call) -> Iterator[tuple[ast.expr, CallArguments]]:
    """The function that a call hands to what calls it, ``mp.spawn(worker, args=(args,))``, and what that one is passed."""
    for forwarder, forwarding, handed in _list_forwarding_calls(tracer, module):
        if forwarding is call:
            named = set(tracer.resolver.names(module, call.func)) & set(forwarder.names)
            if named or _is_forwarder_by_name(tracer, module, call, forwarder):
                yield handed, _make_forwarded_arguments(tracer, module, call, forwarder)


def _list_forwarding_calls(tracer: Tracer, other: Module) -> list[tuple[Forwarder, ast.Call, ast.expr]]:
    """The calls of a file that may hand a function to what calls it, and the function."""
    if "forwarding" not in other.cache:
        found: list[tuple[Forwarder, ast.Call, ast.expr]] = []
        for forwarder in (forwarder for idioms in tracer.idioms for forwarder in idioms.forwarder):
            names = {name.rsplit(".", 1)[-1] for name in forwarder.names}
            for call in (
                call for called in sorted(names | imported_aliases(other, names)) for call in index_calls(other).get(called, ())
            ):
                if (handed := find_argument(call, forwarder.function, forwarder.function_position)) is not None:
                    found.append((forwarder, call, handed))
        other.cache["forwarding"] = found
    return other.cache["forwarding"]  # type: ignore[return-value]


def _is_forwarder_by_name(tracer: Tracer, other: Module, call: ast.Call, forwarder: Forwarder) -> bool:
    """Whether a method of an unknown object is one by its words: ``context.Process(target=worker, args=(0, 2))``."""
    given = {keyword.arg for keyword in call.keywords}
    named = isinstance(call.func, ast.Attribute) and {forwarder.function, forwarder.args} <= given
    return named and not any(isinstance(entity, Definition) for entity in tracer.resolver.resolve(other, call.func))


def _find_actor_calls(tracer: Tracer, other: Module, module: Module, function: Def) -> Iterator[CallArguments]:
    """The calls of a method of an actor, ``actor.setup.remote(...)``; the actor itself is mostly in a list, so its class is not asked for."""
    around = module.parents.get(function)
    for actor in (actor for idioms in tracer.idioms for actor in idioms.actor) if isinstance(around, ast.ClassDef) else ():
        assert isinstance(around, ast.ClassDef)
        made = [part.func if isinstance(part, ast.Call) else part for part in around.decorator_list]
        if not any(name in actor.decorators for part in made for name in tracer.resolver.names(module, part)):
            continue
        for call in index_calls(other).get(actor.method, ()):
            method = call.func.value if isinstance(call.func, ast.Attribute) else None
            if isinstance(method, ast.Attribute) and method.attr == function.name and not tracer.resolver.resolve(other, method):
                yield CallArguments(other, call, tuple(call.args), tuple(call.keywords))


def _make_forwarded_arguments(tracer: Tracer, other: Module, call: ast.Call, forwarder: Forwarder) -> CallArguments:
    if forwarder.args is None:  # partial(f, 1, x=2)
        return CallArguments(
            other, call, tuple(call.args[forwarder.function_position + 1 :]), tuple(call.keywords), forwarder.skip
        )
    handed = find_argument(call, forwarder.args, forwarder.args_position)
    if isinstance(handed, ast.Name):
        sources = tracer.evaluate(other, handed)
        written = [source.node for source in sources if source.module is other and isinstance(source.node, (ast.Tuple, ast.List))]
        handed = written[0] if len(sources) == 1 and written else None
    positional = tuple(handed.elts) if isinstance(handed, (ast.Tuple, ast.List)) else ()
    named = find_argument(call, forwarder.kwargs, None) if forwarder.kwargs else None
    keywords: list[ast.keyword] = []
    if isinstance(named, ast.Dict):
        for key, value in zip(named.keys, named.values, strict=True):
            if isinstance(key, ast.Constant):
                keywords.append(ast.keyword(str(key.value), value))
    elif isinstance(named, ast.Call):
        keywords += named.keywords
    return CallArguments(other, call, positional, tuple(keywords), forwarder.skip)
