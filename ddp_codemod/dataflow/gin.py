"""Parameters whose values are bound elsewhere, ``setup.backend = "nccl"``: in files of bindings, by a call, in a text that is read."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ddp_codemod.catalog.idioms import Binding
from ddp_codemod.dataflow.calls import Def, argument_of, calls_of
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.leaves import Leaf, Way
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.kinds import Meaning, OriginKind
from ddp_codemod.model import Reason
from ddp_codemod.parse.document import Document, Entry
from ddp_codemod.parse.gin import read
from ddp_codemod.parse.python import Module

MACRO = "%"  # in front of the name of a value that stands elsewhere


def bound(tracer: Tracer, module: Module, function: Def, name: str, way: Way) -> list[Leaf]:
    """The leaves of what is bound to a parameter of a function, or of a class by its ``__init__``, that a decorator opens to bindings."""
    found: list[Leaf] = []
    for binding in (binding for idioms in tracer.idioms for binding in idioms.binding):
        configurable = _configurable(tracer, module, function, binding)
        if configurable:
            found += _in_files(tracer, configurable, name, way)
            found += _by_calls(tracer, binding, configurable, name, way)
            found += _in_texts(tracer, binding, configurable, name, way)
    return found


def is_required(tracer: Tracer, module: Module, default: ast.expr) -> bool:
    """Whether a default stands for none."""
    names = tracer.resolver.names(module, default) if isinstance(default, (ast.Name, ast.Attribute)) else ()
    return any(name in binding.required for idioms in tracer.idioms for binding in idioms.binding for name in names)


def _configurable(tracer: Tracer, module: Module, function: Def, binding: Binding) -> str:
    """The name that bindings use; "" for a function that none of the decorators stands on."""
    around = module.parents.get(function)
    decorated = around if function.name == "__init__" and isinstance(around, ast.ClassDef) else function
    for part in decorated.decorator_list:
        called = part.func if isinstance(part, ast.Call) else part
        if set(tracer.resolver.names(module, called)) & set(binding.decorators):
            given = argument_of(part, "name", 0) if isinstance(part, ast.Call) else None
            return str(given.value) if isinstance(given, ast.Constant) else decorated.name
    return ""


def _means(selector: str, configurable: str) -> bool:
    """Whether what stands before a parameter is the function: behind scopes, and behind any part of its module's path."""
    parts, wanted = selector.rpartition("/")[2].split("."), configurable.split(".")
    return parts[-len(wanted) :] == wanted or wanted[-len(parts) :] == parts


def _in_files(tracer: Tracer, configurable: str, name: str, way: Way) -> Iterator[Leaf]:
    for document in tracer.resolver.project.bindings(name):
        for entry in document.ending(name):
            if len(entry.path) == 2 and _means(entry.path[0], configurable):
                yield from _value(tracer, document, entry, way, set())


def _value(tracer: Tracer, document: Document, entry: Entry, way: Way, seen: set[Entry]) -> Iterator[Leaf]:
    """What an entry gives, or the macro that it names."""
    step = way.hop(document.place(entry), Reason.of("hop-config", name=".".join(entry.path), file=document.name))
    if entry.is_text or entry.value == str(None):
        yield Leaf(document, entry, OriginKind.CONFIG_KEY, Known(entry.value if entry.is_text else None), None, step)
    elif entry.value.startswith(MACRO) and entry not in seen:
        macro = entry.value.removeprefix(MACRO)
        for other in tracer.resolver.project.bindings(macro):
            for one in other.entries:
                if one.path in ((macro,), (macro, "value")):
                    yield from _value(tracer, other, one, step, seen | {entry})
    else:
        why = Reason.of("why-expression", Meaning.GIVEN_AT_START, text=document.text(entry))
        yield Leaf(document, entry, OriginKind.UNKNOWN, why=why, way=step)


def _by_calls(tracer: Tracer, binding: Binding, configurable: str, name: str, way: Way) -> Iterator[Leaf]:
    for module, call in _calls(tracer, binding.binds):
        said = argument_of(call, "binding_key", 0)
        selector, _, parameter = str(said.value).rpartition(".") if isinstance(said, ast.Constant) else ("", "", "")
        value = argument_of(call, "value", 1)
        if value is not None and parameter == name and _means(selector, configurable):
            step = way.hop(
                module.place(call),
                Reason.of("hop-argument", Meaning.ARGUMENT, name=name, function=configurable),
                OriginKind.ARGUMENT,
            )
            yield from tracer.trace(module, value, step.inside(None))


def _in_texts(tracer: Tracer, binding: Binding, configurable: str, name: str, way: Way) -> Iterator[Leaf]:
    """Bindings in a text of a program: which of its values is meant is for a person to change."""
    for module, call in _calls(tracer, binding.reads):
        for text in (part for argument in call.args for part in ast.walk(argument) if isinstance(part, ast.Constant)):
            for entry in read(text.value).entries if isinstance(text.value, str) else ():
                if entry.path[-1] == name and len(entry.path) == 2 and _means(entry.path[0], configurable):
                    yield tracer.unknown(module, text, way, "why-text-built", text=module.short_text(text))


def _calls(tracer: Tracer, names: tuple[str, ...]) -> Iterator[tuple[Module, ast.Call]]:
    project = tracer.resolver.project
    for last in {name.rpartition(".")[2] for name in names}:
        for module in (module for file in project.mentioning(last) for module in project.programs(file)):
            for call in calls_of(module).get(last, ()):
                if set(tracer.resolver.names(module, call.func)) & set(names):
                    yield module, call
