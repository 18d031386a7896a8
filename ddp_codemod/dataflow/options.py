"""Command-line options and declared defaults: argparse, click and typer, dataclass and pydantic fields."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from ddp_codemod.catalog.idioms import Flag
from ddp_codemod.dataflow import calls
from ddp_codemod.dataflow.allocation_sites import AllocationSites
from ddp_codemod.dataflow.declared_options import find_declarations, find_destination, list_flags, list_texts
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.parsers import may_be_parsed_by
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.dataflow.values import Trace, Value
from ddp_codemod.kinds import Meaning, OriginKind
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.parse.shell import Option, Script
from ddp_codemod.sites.option_receivers import explain_launch_value, find_option_receivers

_DASHED, _ENDED = re.compile(rb"""["']-*\Z"""), re.compile(rb"""[\\"'=]""")  # around the last dash and one that is passed


def find_declared_default(tracer: Tracer, module: Module, node: ast.Call, names: Iterable[str]) -> ast.expr | None:
    """The default in a call that stands for one: ``field(default=...)``, ``typer.Option(...)``."""
    names = set(names)
    for idioms in tracer.idioms:
        for declared in idioms.default:
            if names & set(declared.names):
                found = calls.find_argument(node, declared.keyword, declared.position)
                if found is not None:
                    return found
    return None


def trace_decorated_default(
    tracer: Tracer, module: Module, function: ast.FunctionDef | ast.AsyncFunctionDef, name: str, trace: Trace
) -> list[Value]:
    """The default that a decorator declares for a parameter: ``@click.option("--backend", default="nccl")``."""
    found: list[Value] = []
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call):
            for flag in list_flags(tracer):
                if last_name(decorator.func) == flag.method and find_destination(decorator, flag) == name:
                    found += _trace_default(tracer, module, decorator, flag, name, trace)
    return found


def trace_option(tracer: Tracer, module: Module, name: str, trace: Trace, origin: AllocationSites | None = None) -> list[Value]:
    """The defaults of the options whose value an attribute of this name reads.

    Those of the parser that made the object, where that is known, in the files that parse them where these declare it, else in
    this file, else in the files nearest to it.
    """
    homes, parsers = (origin.homes, origin.parsers) if origin is not None else ([], [])
    if origin is not None:
        trace = trace.with_doubt(origin.doubt_of_options, module.text(origin.at))
        if trace.is_over:
            return []
    every = find_declarations(tracer, name)
    read = {file: [one for one in made if may_be_parsed_by(tracer, one[0], one[1], parsers)] for file, made in every.items()}
    by_file, words = {file: made for file, made in read.items() if made}, {name, name.replace("_", "-")}
    if every and not by_file:
        return []
    files = set(every)
    if not by_file.keys() & {
        module.name,
        *homes,
    }:  # a name alone says little: elsewhere, an option that gives another kind of value is another's
        by_file = {
            file: made
            for file, made in by_file.items()
            if any(_may_be_backend_option(tracer, one, call, flag) for one, call, flag in made)
        }
    found: list[Value] = []
    nearest = [home for home in dict.fromkeys(homes) if home in by_file] or _find_nearest([*homes, module.name][0], by_file)
    for file in nearest:
        for other, call, flag in by_file[file]:
            found += _trace_default(tracer, other, call, flag, name, trace)
    others = files - set(nearest)
    words = {text.lstrip("-") for file in nearest for _, call, _ in by_file[file] for text in list_texts(call.args)} | words
    if not found:
        return []
    given = [*_trace_parsed_lists(tracer, words, nearest, trace), *_trace_command_lists(tracer, words, others, trace)]
    return [*found, *given, *_trace_launch_options(tracer, words, lambda file: file not in others, trace)]


def _trace_parsed_lists(tracer: Tracer, words: Iterable[str], files: Iterable[str], trace: Trace) -> list[Value]:
    """What the files that declare an option give it in a command line of their own: ``parse_args(["--backend", "nccl"])``."""
    found: list[Value] = []
    methods = {method for flag in list_flags(tracer) for method in flag.parse_methods}
    for module in filter(None, map(tracer.resolver.project.module, files)):
        for call in (call for method in sorted(methods) for call in calls.index_calls(module).get(method, ())):
            given = calls.find_argument(call, "args", 0)
            parts = given.elts if isinstance(given, (ast.List, ast.Tuple)) else []
            found += _trace_words(tracer, module, parts, words, last_name(call.func), trace)
    return found


def _trace_command_lists(tracer: Tracer, words: Iterable[str], others: set[str], trace: Trace) -> list[Value]:
    """What code gives an option in the words of a command that it starts: ``run(["python", "train.py", "--backend", "nccl"])``."""
    project, words = tracer.resolver.project, set(words)
    found: list[Value] = []
    naming = {name for word in words for name in project.holding(word, _DASHED, _ENDED, b"-")}
    for module in filter(None, map(project.module, sorted(naming))):
        for node in _find_lists_with(module, words):
            texts = list_texts(node.elts)
            programs = [
                text for before, text in zip(["-m", *texts], texts, strict=False) if text.endswith(".py") or before == "-m"
            ]
            if {file for program in programs for file in project.started(program)} - others:
                around = module.parents[node]
                function = last_name(around.func) if isinstance(around, ast.Call) else ""
                found += _trace_words(tracer, module, node.elts, words, function or module.text(node), trace)
    return found


def _find_lists_with(module: Module, words: set[str]) -> list[ast.List | ast.Tuple]:
    """The lists of a file, then its tuples, that have one of these options among their elements."""
    if "lists-by-option" not in module.own:
        table: dict[str, list[tuple[int, ast.List | ast.Tuple]]] = {}
        for number, node in enumerate(node for kind in (ast.List, ast.Tuple) for node in module.nodes.get(kind, ())):
            assert isinstance(node, (ast.List, ast.Tuple))
            options = (text.lstrip("-").partition("=")[0] for text in list_texts(node.elts) if text.startswith("-"))
            for option in dict.fromkeys(options):
                table.setdefault(option, []).append((number, node))
        module.own["lists-by-option"] = table
    known: dict[str, list[tuple[int, ast.List | ast.Tuple]]] = module.own["lists-by-option"]  # type: ignore[assignment]
    return list(dict(sorted((entry for word in words for entry in known.get(word, ())), key=lambda entry: entry[0])).values())


def _trace_words(
    tracer: Tracer, module: Module, parts: Sequence[ast.expr], words: Iterable[str], function: str, trace: Trace
) -> Iterator[Value]:
    """What is behind an option in the words of a command line."""
    for part, after in zip(parts, [*parts[1:], None], strict=False):
        text = part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else ""
        name, joined, value = text.lstrip("-").partition("=")
        if name not in words or not text.startswith("-"):
            continue
        reason = Reason.of("hop-argument", Meaning.ARGUMENT, name=name, function=function)
        step = trace.step(module.place(part), reason, OriginKind.ARGUMENT)
        if joined and tracer.could_be_value(value):  # one text holds the name and the value
            yield tracer.unknown(module, part, step, "why-expression", text=module.text(part))
        elif after is not None and not joined:
            yield from tracer.evaluate(module, after, step.inside(None))


def trace_field_option(tracer: Tracer, name: str, homes: Iterable[str], trace: Trace) -> list[Value]:
    """What launch files pass for the option that a parser makes from a field of a class, to the files that parse or name these."""
    project = tracer.resolver.project
    ours = {file for home in homes for file in (home, *project.mentioning(PurePosixPath(home).stem))}
    others = find_declarations(tracer, name)
    return _trace_launch_options(tracer, {name, name.replace("_", "-")}, lambda file: file in ours and file not in others, trace)


def _trace_launch_options(tracer: Tracer, words: Iterable[str], takes: Callable[[str], bool], trace: Trace) -> list[Value]:
    """What the project's launch files pass for an option to the files that take it."""
    found: list[Value] = []
    project, value = tracer.resolver.project, tracer.value_ahead
    for word in sorted(words):
        texts = (f"-{word}", f"{word}=")
        for script in (*project.scripts(*texts, behind=value), *project.manifests(*texts, behind=value)):
            for option in _index_options(tracer, script).get(word, ()):
                started = find_option_receivers(project, script, option)
                if any(map(takes, started)) and tracer.could_be_value(option.value):
                    step = trace.step(script.place(option), explain_launch_value(option))
                    found.append(Value(script, option, OriginKind.COMMAND_LINE, Known(option.value), None, step))
    return list(dict.fromkeys(found))


def _index_options(tracer: Tracer, script: Script) -> dict[str, list[Option]]:
    """The options of a launch file by their names: both may be thousands."""
    known = tracer.memory.setdefault("options by name", {})
    if id(script) not in known:
        table: dict[str, list[Option]] = {}
        for option in script.options:
            table.setdefault(option.name, []).append(option)
        known[id(script)] = (script, table)  # the file is kept, and with it its id
    return known[id(script)][1]  # type: ignore[no-any-return]


def _may_be_backend_option(tracer: Tracer, module: Module, call: ast.Call, flag: Flag) -> bool:
    value = calls.find_argument(call, flag.default, flag.default_position)
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return tracer.could_be_value(value.value)
    return True


def _find_nearest(name: str, files: Iterable[str]) -> list[str]:
    """The file itself if it is among them, else those that share the most folders with it."""
    files = list(files)
    if name in files:
        return [name]
    home = PurePosixPath(name).parent.parts

    def shared(file: str) -> int:
        count = 0
        for one, other in zip(home, PurePosixPath(file).parent.parts, strict=False):
            if one != other:
                break
            count += 1
        return count

    best = max((shared(file) for file in files), default=0)
    return [file for file in files if shared(file) == best]


def _trace_default(tracer: Tracer, module: Module, call: ast.Call, flag: Flag, name: str, trace: Trace) -> list[Value]:
    keyword = name if last_name(call.func) == flag.defaults_method else flag.default
    value = calls.find_argument(call, keyword, flag.default_position)
    step = trace.step(module.place(call), Reason.of("hop-option", name=name), OriginKind.OPTION_DEFAULT)
    bare = calls.find_argument(call, flag.const, None) if flag.const else None  # ``--backend`` without a value
    found = [*tracer.evaluate(module, bare, step.inside(None))] if bare is not None else []
    if value is None:
        return [*found, tracer.unknown(module, call, step, "why-option", Meaning.GIVEN_AT_START, name=name)]
    return [*tracer.evaluate(module, value, step.inside(None)), *found]


def trace_handle(tracer: Tracer, module: Module, node: ast.Attribute, trace: Trace) -> list[Value]:
    """The default of ``HANDLE.value``, where HANDLE is what declaring an option gave (absl)."""
    found: list[Value] = []
    if node.attr == "value":
        for source in tracer.evaluate(module, node.value, trace):
            for flag in list_flags(tracer) if isinstance(source.node, ast.Call) and isinstance(source.module, Module) else ():
                if isinstance(source.node, ast.Call) and last_name(source.node.func) == flag.method:
                    found += _trace_default(tracer, source.code[0], source.node, flag, node.attr, trace)
    return found


def find_choices(call: ast.Call, flag: Flag) -> ast.expr | None:
    """The list of values that an option accepts."""
    found = calls.find_argument(call, flag.choices, flag.choices_position)
    if isinstance(found, ast.Call) and found.args:  # click.Choice([...])
        found = found.args[0]
    return found
