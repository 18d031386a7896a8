"""Parameters and the calls that give them their values."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddp_codemod.model import Reason
from ddp_codemod.origins import options
from ddp_codemod.origins.leaf import Frame, Leaf, Way
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.resolve import Definition, External
from ddp_codemod.sites.scopes import Binding, bindings

if TYPE_CHECKING:
    from ddp_codemod.origins.trace import Tracer

Def = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """The arguments that one place hands to a function; ``skip`` of its parameters are filled by someone else."""

    module: Module
    call: ast.Call
    positional: tuple[ast.expr, ...]
    keywords: tuple[ast.keyword, ...]
    skip: int = 0


def trace_parameter(tracer: Tracer, module: Module, function: ast.AST, binding: Binding, way: Way) -> list[Leaf]:
    """The leaves of a parameter: its default and what every call in the project passes."""
    node = binding.node
    assert isinstance(node, ast.arg)
    if isinstance(function, ast.Lambda):
        return [tracer.unknown(module, node, way, "why-parameter", name=node.arg, function="lambda")]
    assert isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
    frame = way.frame.find(function) if way.frame else None
    default = default_of(function, node.arg)
    if frame is not None:
        if node.arg in frame.bound:
            bound_module, bound, outer = frame.bound[node.arg]
            step = way.hop(
                bound_module.place(bound), Reason.of("hop-argument", name=node.arg, function=function.name), "argument"
            )
            return tracer.trace(bound_module, bound, _in(step, outer))
        if default is not None:
            step = way.hop(
                module.place(node), Reason.of("hop-default", name=node.arg, function=function.name), "parameter-default"
            )
            return tracer.trace(module, default, step)
        return [tracer.unknown(module, node, way, "why-parameter", name=node.arg, function=function.name)]
    found: list[Leaf] = []
    if default is not None:
        step = way.hop(module.place(node), Reason.of("hop-default", name=node.arg, function=function.name), "parameter-default")
        found += tracer.trace(module, default, _in(step, None))
    found += options.decorated_default(tracer, module, function, node.arg, way)
    for given in callers(tracer, module, function):
        argument = given_argument(given, function, node.arg, bound_method(module, function))
        if argument is not None:
            step = way.hop(
                given.module.place(given.call), Reason.of("hop-argument", name=node.arg, function=function.name), "argument"
            )
            found += tracer.trace(given.module, argument, _in(step, None))
    return found or [
        Leaf(module, node, "parameter", why=Reason.of("why-parameter", name=node.arg, function=function.name), way=way)
    ]


def _in(way: Way, frame: Frame | None) -> Way:
    return Way(way.kind, way.hops, frame, way.seen)


def default_of(function: Def, name: str) -> ast.expr | None:
    """The default expression of a parameter."""
    arguments = function.args
    plain = [*arguments.posonlyargs, *arguments.args]
    for argument, default in zip(reversed(plain), reversed(arguments.defaults), strict=False):
        if argument.arg == name:
            return default
    for argument, keyword_default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if argument.arg == name:
            return keyword_default
    return None


def bound_method(module: Module, function: ast.AST) -> bool:
    """Whether callers leave the first parameter out (methods, class methods)."""
    if not isinstance(module.parents.get(function), ast.ClassDef):
        return False
    decorators = getattr(function, "decorator_list", [])
    return not any(isinstance(part, ast.Name) and part.id == "staticmethod" for part in decorators)


def given_argument(given: Given, function: Def, name: str, method: bool) -> ast.expr | None:
    """What a call passes for a parameter; None where it leaves it out or that cannot be told."""
    for keyword in given.keywords:
        if keyword.arg == name:
            return keyword.value
    plain = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)][1 if method else 0 :][given.skip :]
    if name in plain:
        index = plain.index(name)
        if index < len(given.positional) and not any(isinstance(part, ast.Starred) for part in given.positional[: index + 1]):
            return given.positional[index]
    return None


def frame(tracer: Tracer, module: Module, call: ast.Call, entity: Definition, around: Frame | None) -> Frame:
    """The frame for following one call into a function."""
    function = entity.node
    assert isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
    given = Given(module, call, tuple(call.args), tuple(call.keywords))
    bound: dict[str, tuple[Module, ast.expr, Frame | None]] = {}
    for argument in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs):
        value = given_argument(given, function, argument.arg, bound_method(entity.module, function))
        if value is not None:
            bound[argument.arg] = (module, value, around)
    return Frame(function, bound, around)


def callers(tracer: Tracer, module: Module, function: Def) -> list[Given]:
    """Every place of the project that calls a function, also through a forwarder such as ``mp.spawn`` or ``partial``."""
    key = ("callers", function)
    if key not in module.cache:
        module.cache[key] = list(_callers(tracer, module, function))
    return module.cache[key]  # type: ignore[return-value]


def _callers(tracer: Tracer, module: Module, function: Def) -> Iterator[Given]:
    project = tracer.resolver.project
    around = module.parents.get(function)
    construct = function.name == "__init__" and isinstance(around, ast.ClassDef)
    word = around.name if construct and isinstance(around, ast.ClassDef) else function.name
    for name in project.mentioning(word):
        other = project.module(name)
        if other is None:
            continue
        words = {word, *_aliases(other, word)}
        if construct:
            words |= {"__init__", "cls", *_subclasses(other, words)}
        for called in sorted(words):
            for call in calls_of(other).get(called, ()):
                if calls_function(tracer, other, call.func, module, function):
                    yield Given(other, call, tuple(call.args), tuple(call.keywords))
        yield from _forwarded(tracer, other, words, module, function)


def calls_function(tracer: Tracer, other: Module, node: ast.expr, module: Module, function: Def) -> bool:
    """Whether an expression stands for the function (a class stands for its ``__init__``)."""
    for entity in tracer.resolver.resolve(other, node):
        if isinstance(entity, Definition):
            if entity.node is function:
                return True
            if isinstance(entity.node, ast.ClassDef) and function.name == "__init__":
                for maker in tracer.resolver.member(entity, "__init__"):
                    if isinstance(maker, Definition) and maker.node is function:
                        return True
    return False


def calls_of(module: Module) -> dict[str, list[ast.Call]]:
    """The calls of a file by the last name of what they call."""
    if "calls" not in module.cache:
        table: dict[str, list[ast.Call]] = {}
        for node in module.nodes.get(ast.Call, ()):
            assert isinstance(node, ast.Call)
            last = (
                node.func.attr
                if isinstance(node.func, ast.Attribute)
                else node.func.id
                if isinstance(node.func, ast.Name)
                else ""
            )
            if last:
                table.setdefault(last, []).append(node)
        module.cache["calls"] = table
    return module.cache["calls"]  # type: ignore[return-value]


def _aliases(module: Module, word: str) -> set[str]:
    """Other names under which a file imports the word."""
    found: set[str] = set()
    for node in module.nodes.get(ast.ImportFrom, ()):
        assert isinstance(node, ast.ImportFrom)
        found |= {alias.asname for alias in node.names if alias.name == word and alias.asname}
    return found


def _subclasses(module: Module, words: set[str]) -> set[str]:
    """Classes of a file that derive from one of the words; calling them may run the inherited ``__init__``."""
    found: set[str] = set()
    for node in module.nodes.get(ast.ClassDef, ()):
        assert isinstance(node, ast.ClassDef)
        for base in node.bases:
            last = base.attr if isinstance(base, ast.Attribute) else base.id if isinstance(base, ast.Name) else ""
            if last in words:
                found.add(node.name)
    return found


def _forwarded(tracer: Tracer, other: Module, words: set[str], module: Module, function: Def) -> Iterator[Given]:
    for idioms in tracer.idioms:
        for forwarder in idioms.forwarder:
            for last in {name.rsplit(".", 1)[-1] for name in forwarder.names}:
                for called in {last, *_aliases(other, last)}:
                    for call in calls_of(other).get(called, ()):
                        handed = argument_of(call, forwarder.function, forwarder.function_position)
                        if handed is None or _last(handed) not in words:
                            continue
                        names = tracer.resolver.resolve(other, call.func)
                        if not any(isinstance(e, External) and e.name in forwarder.names for e in names):
                            continue
                        if calls_function(tracer, other, handed, module, function):
                            yield from _through(
                                other,
                                call,
                                forwarder.args,
                                forwarder.args_position,
                                forwarder.kwargs,
                                forwarder.skip,
                                forwarder.function_position,
                            )


def _through(
    other: Module, call: ast.Call, args: str | None, position: int, kwargs: str | None, skip: int, function_position: int
) -> Iterator[Given]:
    if args is None:  # partial(f, 1, x=2)
        yield Given(other, call, tuple(call.args[function_position + 1 :]), tuple(call.keywords), skip)
        return
    handed = argument_of(call, args, position)
    positional = tuple(handed.elts) if isinstance(handed, (ast.Tuple, ast.List)) else ()
    named = argument_of(call, kwargs, -1) if kwargs else None
    keywords: tuple[ast.keyword, ...] = ()
    if isinstance(named, ast.Dict):
        keywords = tuple(
            ast.keyword(str(key.value), value)
            for key, value in zip(named.keys, named.values, strict=True)
            if isinstance(key, ast.Constant)
        )
    elif isinstance(named, ast.Call):
        keywords = tuple(named.keywords)
    yield Given(other, call, positional, keywords, skip)


def argument_of(call: ast.Call, name: str, position: int | None) -> ast.expr | None:
    """An argument of a call by its parameter's name or position (None or -1: keyword only)."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    if position is None or position < 0 or position >= len(call.args):
        return None
    before = call.args[: position + 1]
    return None if any(isinstance(part, ast.Starred) for part in before) else call.args[position]


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def is_parameter(module: Module, scope: ast.AST, name: str) -> bool:
    """Whether a scope has a parameter of the name."""
    return any(made.kind == "parameter" for made in bindings(module, scope).get(name, ()))
