"""Values that start in a configuration file: keys that the code reads by attribute or subscript."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Set

from msgspec.structs import replace

from ddp_codemod.dataflow import python_config
from ddp_codemod.dataflow.allocation_sites import AllocationKind, AllocationSites, find_origins
from ddp_codemod.dataflow.calls import index_calls
from ddp_codemod.dataflow.configured_targets import find_config_places
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.opened_files import OpenedPaths, find_opened_files
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.dataflow.values import Confidence, Trace, Value
from ddp_codemod.kinds import OriginKind
from ddp_codemod.model import Reason
from ddp_codemod.parse.config import giving
from ddp_codemod.parse.document import Document, Entry
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.option_receivers import explain_launch_value
from ddp_codemod.sites.scopes import SELF
from ddp_codemod.sites.word_search import TextMatcher, has_word

OTHERS = "entries of other files"  # in the tracer's memory: what has a key that is read, and is not what the reader opens
DASHES = re.compile(rb"""\.replace\(\s*["']-["'],\s*["']_["']""")
_OVERRIDE = re.compile(r"\+{0,2}([\w./-]+)=(.+)")  # Hydra: another value for a key
_REFERENCE = re.compile(r"\$\{([\w.-]+)\}")  # OmegaConf: the value of another key


def find_key_path(node: ast.expr) -> tuple[str, ...]:
    """The keys that an expression goes through below its root: ``("dist", "backend")`` of ``cfg.dist["backend"]``.

    () where one of them is not written out.
    """
    keys: list[str] = []
    at = node
    while True:
        if isinstance(at, ast.Attribute):
            keys.insert(0, at.attr)
            at = at.value
        elif isinstance(at, ast.Subscript) and isinstance(at.slice, ast.Constant) and isinstance(at.slice.value, str):
            keys.insert(0, at.slice.value)
            at = at.value
        elif isinstance(at, ast.Call) and isinstance(at.func, ast.Attribute) and at.func.attr == "get" and at.args:
            if not isinstance(at.args[0], ast.Constant) or not isinstance(at.args[0].value, str):
                return ()
            keys.insert(0, at.args[0].value)
            at = at.func.value
        else:
            return tuple(keys) if isinstance(at, ast.Name) else ()


def trace_key(tracer: Tracer, module: Module, node: ast.expr, trace: Trace, rest: tuple[str, ...] = ()) -> list[Value]:
    """The entries of the project's configuration files that an expression can read, or ``rest`` of what it gives.

    Where the files that the object was read from are known, those of no other; where the object is not known to come from a
    file at all, all that is found is a guess.
    """
    keys = find_key_path(node)
    if not keys and not rest:
        return []
    holder = node if rest else _find_holder(node)
    found = trace_key_path(tracer, (*keys, *rest), trace, _is_self_attribute(node))
    if holder is None:
        return found
    if not keys:  # of a whole file's keys only those of what is known to be one; asked late, for it may take long
        if next(_find_entries(tracer, rest), None) is None or not find_origins(tracer, module, node, trace).sure:
            return []
    origin = find_origins(tracer, module, holder, trace)
    for through in dict.fromkeys(
        one.path for one in origin.made if one.path
    ):  # ``setup(cfg.dist)``, and there ``options.backend``
        found += trace_key_path(tracer, (*through, *(*keys, *rest)[len(find_key_path(origin.at)) :]), trace)
    if not found:
        return (
            list(_trace_merged_sections(tracer, module, origin, keys[-1], trace))
            if len(keys) == len(find_key_path(origin.at)) + 1 and not rest
            else []
        )
    files = find_opened_files(tracer, origin)
    if files is not None:
        below = (*keys, *rest)[len(find_key_path(origin.at)) :]
        traces = {tuple(key.replace("-", "_") for key in (*one.path, *below)) for one in origin.made}
        read = [source for source in found if not isinstance(source.module, Document) or _is_read(source, files, traces)]
        tracer.memory.setdefault(OTHERS, set()).update((source.module, source.node) for source in found if source not in read)
        found = read
    return list(
        dict.fromkeys(replace(source, trace=source.trace.with_doubt(origin.doubt, module.text(holder))) for source in found)
    )


def _trace_merged_sections(tracer: Tracer, module: Module, origin: AllocationSites, key: str, trace: Trace) -> Iterator[Value]:
    """The entries of any section of the files whose sections are merged into the object."""
    flat = replace(origin, made=tuple(one for one in origin.made if one.maker is AllocationKind.FILE and one.flat))
    files = find_opened_files(tracer, flat) if flat.made else None
    for document, entry in _find_entries(tracer, (key,)) if files is not None else ():
        assert files is not None
        if len(entry.path) == 2 and entry.is_text and files.has(document.name) and tracer.could_be_value(entry.value):
            step = trace.step(document.place(entry), Reason.of("hop-config", name=".".join(entry.path), file=document.name))
            if not _is_sectioned_config(module, document, key):
                step = step.with_doubt(Confidence.NAME, ".".join(entry.path))
            yield Value(document, entry, OriginKind.CONFIG_KEY, Known(entry.value), None, step)


def _is_sectioned_config(module: Module, document: Document, key: str) -> bool:
    """Whether a file looks like one whose merged sections a program reads: the key is in one of them, and others that it speaks of."""
    inside = [entry.path[1] for entry in document.entries if len(entry.path) == 2]
    others = {name for name in inside if name != key and name.isidentifier()}
    return inside.count(key) == 1 and any(has_word(module.source.text.encode(), name.encode()) for name in others)


def _find_holder(node: ast.expr) -> ast.expr | None:
    """What an attribute, a key or a ``get`` is read of."""
    if isinstance(node, ast.Call):
        return node.func.value if isinstance(node.func, ast.Attribute) else None
    return node.value if isinstance(node, (ast.Attribute, ast.Subscript)) else None


def _is_read(source: Value, files: OpenedPaths, traces: Set[tuple[str, ...]]) -> bool:
    """Whether an entry is in one of the files that are read, under one of these ways of keys."""
    if not isinstance(source.node, Entry):
        return True
    return files.has(source.module.name) and tuple(key.replace("-", "_") for key in source.node.path) in traces


def _is_self_attribute(node: ast.expr) -> bool:
    """Whether what an expression goes through first is an attribute of the object itself: a variable, no key of a file."""
    at = node
    while isinstance(at, (ast.Attribute, ast.Subscript)):
        if isinstance(at, ast.Attribute) and isinstance(at.value, ast.Name):
            return at.value.id in SELF
        at = at.value
    return False


def trace_configured_parameter(tracer: Tracer, module: Module, function: ast.AST, name: str, trace: Trace) -> list[Value]:
    """What configuration files that name a function or its class give for a parameter: ``_target_: pkg.Trainer``, ``backend: nccl``."""
    found: list[Value] = []
    for document, path in find_config_places(tracer, module, function):
        for entry in document.ending(name):
            if entry.path == (*path, name) and entry.is_text and tracer.could_be_value(entry.value):
                step = trace.step(document.place(entry), Reason.of("hop-config", name=".".join(entry.path), file=document.name))
                source = Value(document, entry, OriginKind.CONFIG_KEY, Known(entry.value), None, step)
                found += [source, *trace_entry_overrides(tracer, source, trace)]
    return found


def trace_key_path(tracer: Tracer, keys: tuple[str, ...], trace: Trace, of_self: bool = False) -> list[Value]:
    """The entries of the project's configuration files that going through these keys can reach.

    The whole path of an entry has to be the end of what the code goes through, or, from two keys on, the other way round
    (the first key of ``self.cfg.dist.backend`` is no key: ``of_self``); and what is there has to be the name of a
    backend or a URL.
    """
    found: list[Value] = []
    below = keys[1:] if of_self and len(keys) > 2 else keys
    for document, entry in _find_entries(tracer, keys) if keys else ():
        path = entry.path if entry.path[-1] == keys[-1] else tuple(key.replace("-", "_") for key in entry.path)
        whole = keys[-len(path) :] == path
        part = len(below) > 1 and path[-len(below) :] == below
        if (whole or part) and entry.is_text and tracer.could_be_value(entry.value):
            step = trace.step(document.place(entry), Reason.of("hop-config", name=".".join(entry.path), file=document.name))
            found.append(Value(document, entry, OriginKind.CONFIG_KEY, Known(entry.value), None, step))
    found += python_config.trace_settings(tracer, keys, trace)
    return [*found, *(given for source in found for given in trace_entry_overrides(tracer, source, trace))]


def trace_reference(tracer: Tracer, source: Value) -> list[Value] | None:
    """What ``${dist.backend}`` stands for in a configuration file; None for any other text."""
    said = _REFERENCE.fullmatch(str(source.value.value)) if isinstance(source.value, Known) else None
    if said is None:
        return None
    step = source.trace.step(source.place, Reason.of("hop-reference", name=said[1]))
    return [found for found in trace_key_path(tracer, tuple(said[1].split(".")), step) if found.place != source.place]


def _find_entries(tracer: Tracer, keys: tuple[str, ...]) -> Iterator[tuple[Document, Entry]]:
    """The entries of configuration files under the last key, also with dashes in place of its underscores where the project takes them so."""
    project, key = tracer.resolver.project, keys[-1]
    if key.isdigit():  # may be a place in a list: the file then gives the key before it a value
        named = next((part for part in reversed(keys) if not part.isdigit()), key)
        for document in project.documents(named, giving(named, [b""])):
            yield from ((document, entry) for entry in document.ending(key))
        return
    for spelled in dict.fromkeys((key, key.replace("_", "-"))):
        for document in project.documents(spelled, _make_entry_pattern(tracer, spelled), _list_relevant_files(tracer)):
            if spelled == key or _has_dash_conversion(tracer):
                yield from ((document, entry) for entry in document.ending(spelled))


def _has_dash_conversion(tracer: Tracer) -> bool:
    """Whether any code of the project turns the dashes of a text, such as a key, into underscores."""
    if "dashes" not in tracer.memory:
        project = tracer.resolver.project
        tracer.memory["dashes"] = any(DASHES.search(project.data(name)) for name in project.mentioning("replace"))
    return bool(tracer.memory["dashes"])


def _list_known_values(tracer: Tracer) -> list[str]:
    """What is in every text of interest, in small letters."""
    return ["://", *sorted(tracer.value_names)]


def _list_relevant_files(tracer: Tracer) -> tuple[str, ...]:
    """The configuration files that hold a value of interest at all."""
    if "valued" not in tracer.memory:
        project, values = tracer.resolver.project, TextMatcher(_list_known_values(tracer))
        tracer.memory["valued"] = tuple(name for name in project.small_configs if values.held(project.data(name).lower()))
    return tracer.memory["valued"]  # type: ignore[no-any-return]


def _make_entry_pattern(tracer: Tracer, key: str) -> bytes:
    """What is in a file that gives a key a value of interest."""
    known = tracer.memory.setdefault("given", {})
    if key not in known:
        values = (b"(?i:%b)" % re.escape(value.encode()) for value in _list_known_values(tracer))
        known[key] = giving(key, values)
    return known[key]  # type: ignore[no-any-return]


def trace_entry_overrides(tracer: Tracer, source: Value, trace: Trace) -> list[Value]:
    """What launch files give in place of an entry of a configuration file: ``python train.py dist.backend=x``."""
    if not isinstance(source.module, Document) or not isinstance(source.node, Entry):
        return []
    return trace_path_overrides(tracer, source.module, source.node.path, trace)


def trace_path_overrides(tracer: Tracer, document: Document, path: tuple[str, ...], trace: Trace) -> list[Value]:
    """What launch files give for a path of keys of a configuration file, whether they are there or not."""
    found: list[Value] = []
    for script, option in tracer.composed.overrides(document, path, tracer.could_be_value):
        step = trace.step(script.place(option), explain_launch_value(option))
        found.append(Value(script, option, OriginKind.COMMAND_LINE, Known(option.value), None, step))
    return [*found, *_trace_composed_overrides(tracer, path, trace)]


def _trace_composed_overrides(tracer: Tracer, path: tuple[str, ...], trace: Trace) -> Iterator[Value]:
    """What code gives for a path of keys where it composes the configuration: ``compose("config", overrides=["dist.backend=x"])``."""
    project = tracer.resolver.project
    for word in sorted({word for idioms in tracer.idioms for word in idioms.file_composers}):
        for module in filter(None, map(project.module, sorted({*project.mentioning(word)} & {*project.mentioning(path[-1])}))):
            for part in (part for call in index_calls(module).get(word, ()) for part in ast.walk(call)):
                said = _OVERRIDE.fullmatch(part.value) if isinstance(part, ast.Constant) and isinstance(part.value, str) else None
                keys = tuple(said[1].replace("/", ".").split(".")) if said else ()
                if said and tracer.could_be_value(said[2]) and path[-len(keys) :] == keys[-len(path) :]:
                    step = trace.step(module.place(part), Reason.of("hop-launch", name=said[1], program=module.name))
                    yield tracer.unknown(module, part, step, "why-expression", text=module.text(part))
