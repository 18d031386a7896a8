"""Parameters whose values are bound elsewhere, ``setup.backend = "nccl"``: in files of bindings, by a call, in a text that is read."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ddp_codemod.catalog.idioms import Binding
from ddp_codemod.dataflow.calls import Def, find_argument, index_calls
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.dataflow.values import Confidence, Trace, Value
from ddp_codemod.kinds import Meaning, OriginKind
from ddp_codemod.model import Reason
from ddp_codemod.parse.document import Document, Entry
from ddp_codemod.parse.gin import read
from ddp_codemod.parse.python import Module

_INCLUDE = re.compile(r"(?m)^[ \t]*include[ \t]+['\"]([^'\"\n]+)['\"]")
MACRO = "%"  # in front of the name of a value that is elsewhere


def trace_parameter_bindings(tracer: Tracer, module: Module, function: Def, name: str, trace: Trace) -> list[Value]:
    """The sources of what is bound to a parameter of a function, or of a class by its ``__init__``, that a decorator opens to bindings."""
    found: list[Value] = []
    for binding in (binding for idioms in tracer.idioms for binding in idioms.binding):
        configurable = _find_configurable(tracer, module, function, binding)
        if configurable:
            found += _trace_files(tracer, configurable, name, trace)
            found += _trace_calls(tracer, binding, configurable, name, trace)
            found += _trace_texts(tracer, binding, configurable, name, trace)
            found += _trace_commands(tracer, configurable, name, trace)
    return found


def is_required(tracer: Tracer, module: Module, default: ast.expr) -> bool:
    """Whether a default stands for none."""
    names = tracer.resolver.names(module, default) if isinstance(default, (ast.Name, ast.Attribute)) else ()
    return any(name in binding.required for idioms in tracer.idioms for binding in idioms.binding for name in names)


def _find_configurable(tracer: Tracer, module: Module, function: Def, binding: Binding) -> tuple[str, ...]:
    """The name that bindings use, behind its module's: each may omit parts from the front; () where none of the decorators is on it."""
    around = module.parents.get(function)
    decorated = around if function.name == "__init__" and isinstance(around, ast.ClassDef) else function
    for part in decorated.decorator_list:
        called = part.func if isinstance(part, ast.Call) else part
        if set(tracer.resolver.names(module, called)) & set(binding.decorators):
            name = find_argument(part, "name", 0) if isinstance(part, ast.Call) else None
            said = find_argument(part, "module", None) if isinstance(part, ast.Call) else None
            home = str(said.value).split(".") if isinstance(said, ast.Constant) else module.name.removesuffix(".py").split("/")
            return (*home, *(str(name.value).split(".") if isinstance(name, ast.Constant) else [decorated.name]))
    return ()


def _is_selector_of(selector: str, configurable: tuple[str, ...]) -> bool:
    """Whether what is before a parameter, behind its scopes, is the function: ``train/trainer.Group``."""
    parts = selector.rpartition("/")[2].split(".")
    return tuple(parts) == configurable[-len(parts) :]


def _trace_files(tracer: Tracer, configurable: tuple[str, ...], name: str, trace: Trace) -> Iterator[Value]:
    for document in tracer.resolver.project.bindings(name):
        for entry in document.ending(name):
            if len(entry.path) == 2 and _is_selector_of(entry.path[0], configurable):
                yield from _trace_entry(tracer, document, entry, trace, set())


def _trace_entry(tracer: Tracer, document: Document, entry: Entry, trace: Trace, seen: set[Entry]) -> Iterator[Value]:
    """What an entry gives, or the macro that it names."""
    step = trace.step(document.place(entry), Reason.of("hop-config", name=".".join(entry.path), file=document.name))
    if entry.is_text or entry.value == str(None):
        yield Value(document, entry, OriginKind.CONFIG_KEY, Known(entry.value if entry.is_text else None), None, step)
    elif entry.value.startswith(MACRO) and entry not in seen:
        macro = entry.value.removeprefix(MACRO)
        homes = tracer.resolver.project.bindings(macro)
        for other in homes:
            # what no include joins is another program's, for all that is known
            at = step if other is document or _is_including(other, document) else step.with_doubt(Confidence.NAME, entry.value)
            for one in other.entries:
                if one.path in ((macro,), (macro, "value")):
                    yield from _trace_entry(tracer, other, one, at, seen | {entry})
    else:
        why = Reason.of("why-expression", Meaning.GIVEN_AT_START, text=document.text(entry))
        yield Value(document, entry, OriginKind.UNKNOWN, why=why, trace=step)


def _is_including(one: Document, other: Document) -> bool:
    """Whether one of two files includes the other."""
    return any(
        f"/{inside.name}".endswith(f"/{path.removeprefix('./')}")
        for outside, inside in ((one, other), (other, one))
        for path in _INCLUDE.findall(outside.source.text)
    )


def _trace_calls(tracer: Tracer, binding: Binding, configurable: tuple[str, ...], name: str, trace: Trace) -> Iterator[Value]:
    for module, call in _find_calls(tracer, binding.binds):
        said = find_argument(call, "binding_key", 0)
        selector, _, parameter = str(said.value).rpartition(".") if isinstance(said, ast.Constant) else ("", "", "")
        value = find_argument(call, "value", 1)
        if value is not None and parameter == name and _is_selector_of(selector, configurable):
            step = trace.step(
                module.place(call),
                Reason.of("hop-argument", Meaning.ARGUMENT, name=name, function=configurable[-1]),
                OriginKind.ARGUMENT,
            )
            yield from tracer.evaluate(module, value, step.inside(None))


def _trace_texts(tracer: Tracer, binding: Binding, configurable: tuple[str, ...], name: str, trace: Trace) -> Iterator[Value]:
    """Bindings in a text of a program: which of its values is meant is for the user to change."""
    for module, call in _find_calls(tracer, binding.reads):
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        for text in (part for argument in given for part in ast.walk(argument) if isinstance(part, ast.Constant)):
            for entry in read(text.value).entries if isinstance(text.value, str) else ():
                if entry.path[-1] == name and len(entry.path) == 2 and _is_selector_of(entry.path[0], configurable):
                    yield tracer.unknown(module, text, trace, "why-text-built", text=module.short_text(text))


def _trace_commands(tracer: Tracer, configurable: tuple[str, ...], name: str, trace: Trace) -> Iterator[Value]:
    """Bindings that commands give to an option: ``--gin_bindings="setup.backend = 'nccl'"``."""
    for script in tracer.resolver.project.scripts(f"{configurable[-1]}.{name}"):
        for option in script.options:
            for entry in read(option.value).entries:
                if entry.path[-1] == name and len(entry.path) == 2 and _is_selector_of(entry.path[0], configurable):
                    why = Reason.of("why-text-built", text=option.value)
                    yield Value(script, option, OriginKind.UNKNOWN, why=why, trace=trace)


def _find_calls(tracer: Tracer, names: tuple[str, ...]) -> Iterator[tuple[Module, ast.Call]]:
    project = tracer.resolver.project
    for last in {name.rpartition(".")[2] for name in names}:
        for module in (module for file in project.mentioning(last) for module in project.programs(file)):
            for call in index_calls(module).get(last, ()):
                if set(tracer.resolver.names(module, call.func)) & set(names):
                    yield module, call
