"""What made an object whose attributes or keys are read: parsed options, a configuration file, code that is not read."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterable, Iterator
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from ddp_codemod.dataflow import bulk_stores
from ddp_codemod.dataflow.attribute_tables import find_attribute_owner
from ddp_codemod.dataflow.configured_targets import find_defaulted_parameter, find_key_paths
from ddp_codemod.dataflow.flattened_config import find_flattened_table
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.dataflow.values import Confidence, Trace, Value
from ddp_codemod.kinds import OriginKind
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.sites.entities import Definition, Entity, External, Instance

MAX_PATH, MAX_SAME = 8, 2  # keys on a path, and those of one name: ``node = node.next`` has no longest


class AllocationKind(Enum):
    """Who gives an object its attributes."""

    OPTIONS = "options"
    FILE = "file"
    CLASS = "class"  # of the project
    ELSEWHERE = "elsewhere"  # a package that is not in the project, and no reader of files or options
    UNKNOWN = "unknown"


class AllocationSite(Struct, frozen=True):
    """One way in which the object can have been made."""

    maker: AllocationKind
    module: Module | None = None
    call: ast.Call | None = None  # that gave it
    path: tuple[str, ...] = ()  # the keys that lead from there to the object
    owners: tuple[Definition, ...] = ()  # the classes of the project that the object can be of
    flat: bool = False  # the sections of the file are merged: its keys are theirs


class AllocationSites(Struct, frozen=True):
    """All that an expression's object can have been made by; ``at`` is the part of the expression that is known to be made so."""

    made: tuple[AllocationSite, ...]
    at: ast.expr
    doubt: Confidence | None = None  # nothing but its name leads from the expression to an option, a file's key or a field

    def is_same(self, other: AllocationSites) -> bool:
        """Whether two say the same, in whatever order it was found."""
        return self.at is other.at and self.doubt is other.doubt and set(self.made) == set(other.made)

    @property
    def parsers(self) -> list[tuple[Module, ast.expr]]:
        """The objects that parse the options; [] where one of them is not known."""
        found: list[tuple[Module, ast.expr]] = []
        for one in self.made:
            if one.maker is AllocationKind.OPTIONS:
                if one.module is None or one.call is None or not isinstance(one.call.func, ast.Attribute):
                    return []
                found.append((one.module, one.call.func.value))
        return found

    @property
    def sure(self) -> bool:
        """Whether it is known that options or a file give the object its attributes."""
        return self.doubt is None and any(one.maker in (AllocationKind.OPTIONS, AllocationKind.FILE) for one in self.made)

    @property
    def homes(self) -> list[str]:
        """The files that parse the options."""
        return [one.module.name for one in self.made if one.maker is AllocationKind.OPTIONS and one.module is not None]

    @property
    def doubt_of_options(self) -> Confidence | None:
        """The same of options: a file that is read, or a class, gives none."""
        return self.doubt if any(one.maker is AllocationKind.OPTIONS for one in self.made) else Confidence.NAME

    def doubt_of_fields(self, tracer: Tracer) -> Confidence | None:
        """The same of the fields of a class: a file that is read gives keys, and no fields, but where it is made by the class."""
        typed = {name for idioms in tracer.idioms for name in idioms.typed_readers}
        for one in self.made:
            known = one.maker is AllocationKind.FILE and (one.call is None or last_name(one.call.func) in typed)
            if one.maker is AllocationKind.OPTIONS or known:
                return None
        return Confidence.NAME

    @property
    def classes(self) -> list[Definition]:
        """The classes of the project that the object can be of; [] where it can be something that is not known."""
        if any(one.maker in (AllocationKind.UNKNOWN, AllocationKind.ELSEWHERE) for one in self.made):
            return []
        return list(dict.fromkeys(owner for one in self.made for owner in one.owners))


def find_origins(tracer: Tracer, module: Module, node: ast.expr, trace: Trace) -> AllocationSites:
    """What made the object that an expression gives; of ``cfg.dist`` that is what made ``cfg``. Worked out once for each."""
    key, none = ("provenance", node, trace.frame), AllocationSites((), node, Confidence.NAME)
    return tracer.ask_once(module, key, lambda: _search_allocation_sites(tracer, module, node, trace), none)


def _search_allocation_sites(tracer: Tracer, module: Module, node: ast.expr, trace: Trace) -> AllocationSites:
    at = node
    while True:
        sources = tracer.evaluate(module, at, Trace(kind=OriginKind.OBJECT, frame=trace.frame))
        made = tuple(dict.fromkeys(one for source in sources for one in _find_sites_once(tracer, source, at)))
        if made or not isinstance(at, (ast.Attribute, ast.Subscript)):
            break
        at = at.value
    known = any(one.maker in (AllocationKind.OPTIONS, AllocationKind.FILE) for one in made)
    others = any(one.maker is AllocationKind.ELSEWHERE for one in made)
    return AllocationSites(made, at, Confidence.NAME if not known else Confidence.OTHERS if others else None)


def _find_sites_once(tracer: Tracer, source: Value, asked: ast.expr) -> tuple[AllocationSite, ...]:
    """Who made the object that a source is; nothing where the expression that was asked about leads nowhere itself."""
    module, node = source.module, source.node
    if not isinstance(module, Module) or not isinstance(node, ast.AST):
        return (AllocationSite(AllocationKind.FILE),)
    key = ("sites", node, source.kind == OriginKind.PARAMETER, source.trace.frame, node is asked)
    return tracer.ask_once(module, key, lambda: tuple(_find_sites_of_value(tracer, module, node, source, asked)), ())


def _find_sites_of_value(
    tracer: Tracer, module: Module, node: ast.AST, source: Value, asked: ast.expr
) -> Iterator[AllocationSite]:
    if isinstance(node, ast.arg) and (owners := _select_classes(tracer.resolver.annotated(module, node.annotation))):
        yield AllocationSite(AllocationKind.CLASS, module, owners=owners)
        return
    if source.kind == OriginKind.PARAMETER:
        around = bulk_stores.find_class_of_self(module, node)
        filled = (
            list(_find_filled_sites(tracer, module, bulk_stores.find_bulk_stores_of_class(module, around), source.trace))
            if around
            else []
        )
        if filled:
            yield from filled
            return
        yield AllocationSite(AllocationKind.FILE if _is_entry(tracer, module, node) else AllocationKind.UNKNOWN)
        yield from (AllocationSite(AllocationKind.FILE, path=path) for path in find_key_paths(tracer, module, node))
        yield from _find_spread_sites(tracer, module, node, source.trace)
        return
    if (
        parameter := find_defaulted_parameter(module, node)
    ) is not None:  # its default: a file that names the function may give another
        yield from (AllocationSite(AllocationKind.FILE, path=path) for path in find_key_paths(tracer, module, parameter))
    if (table := find_flattened_table(module, node)) is not None:
        yield from (replace(one, flat=True) for one in find_origins(tracer, module, table, source.trace).made)
        return
    if isinstance(node, ast.Call):
        yield from _find_filled_sites(tracer, module, bulk_stores.find_bulk_stores(module, node), source.trace)
        for one in _select_classes(tracer.resolver.resolve(module, node.func)):
            assert isinstance(one.node, ast.ClassDef)
            yield from _find_filled_sites(
                tracer, one.module, bulk_stores.find_bulk_stores_of_class(one.module, one.node), source.trace
            )
        yield from _classify_call(tracer, module, node, source.trace)
        return
    if isinstance(node, ast.Dict):
        spread = [value for key, value in zip(node.keys, node.values, strict=True) if key is None]
        yield from _find_filled_sites(tracer, module, (*bulk_stores.find_bulk_stores(module, node), *spread), source.trace)
    inner = node.value if isinstance(node, ast.Assign) else None  # ``(args,) = parser.parse_args_into_dataclasses()``
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.BitOr):
        inner = node.value  # ``cfg |= yaml.safe_load(file)``
    inner = node.generators[0].iter if isinstance(node, (ast.DictComp, ast.ListComp)) else inner
    if inner is not None:
        yield from find_origins(tracer, module, inner, source.trace).made
        return
    entities = tracer.resolver.resolve(module, node) if isinstance(node, (ast.Name, ast.Attribute)) else []
    outside = [entity.name for entity in entities if isinstance(entity, External)]
    if any(name in idioms.option_objects for idioms in tracer.idioms for name in outside):
        yield AllocationSite(AllocationKind.OPTIONS, module)
    elif outside and len(outside) == len(entities):
        yield AllocationSite(AllocationKind.ELSEWHERE)
    elif node is not asked and isinstance(node, (ast.Attribute, ast.Subscript)):
        for made in find_origins(tracer, module, node.value, source.trace).made:
            yield _extend_path(made, key) if (key := _find_key(node)) else made
    elif node is not asked:
        yield AllocationSite(AllocationKind.UNKNOWN)


def _find_spread_sites(tracer: Tracer, module: Module, node: ast.AST, trace: Trace) -> Iterator[AllocationSite]:
    """Who made the object whose attributes callers spread into ``**kwargs``: ``Trainer(**vars(args))``."""
    function = module.parents.get(module.parents[node])
    if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) and node is function.args.kwarg:
        for given in tracer.callers_of(module, function):
            spread = (keyword.value for keyword in given.keywords if keyword.arg is None)
            held = [part for part in spread if find_attribute_owner(part) is not None]  # a table's own way may be long
            yield from _find_filled_sites(tracer, given.module, held, trace)


def _find_filled_sites(tracer: Tracer, module: Module, sources: Iterable[ast.expr], trace: Trace) -> Iterator[AllocationSite]:
    """Who made what an object is filled with, where that is options or a file."""
    for source in sources:
        made = find_origins(tracer, module, source, trace).made
        yield from (one for one in made if one.maker in (AllocationKind.OPTIONS, AllocationKind.FILE))


def _extend_path(made: AllocationSite, key: str) -> AllocationSite:
    """What lies under a key of an object."""
    if len(made.path) >= MAX_PATH or made.path.count(key) >= MAX_SAME:
        return AllocationSite(AllocationKind.UNKNOWN)
    return replace(made, path=(*made.path, key))


def _select_classes(entities: list[Entity]) -> tuple[Definition, ...]:
    found = (entity for entity in entities if isinstance(entity, (Definition, Instance)))
    return tuple(Definition(one.module, one.node) for one in found if isinstance(one.node, ast.ClassDef))


def _find_key(node: ast.Attribute | ast.Subscript) -> str:
    """The key that an expression looks up; "" where it is not written out."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.slice.value if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str) else ""


def _classify_call(tracer: Tracer, module: Module, call: ast.Call, trace: Trace) -> Iterator[AllocationSite]:
    last, entities = last_name(call.func), tracer.resolver.resolve(module, call.func)
    names = [entity.name for entity in entities if isinstance(entity, External)]
    tops = {name.partition(".")[0] for name in names}
    for idioms in tracer.idioms:
        parses = not names or tops & (set(idioms.option_packages) | sys.stdlib_module_names)
        if parses and (any(last in flag.parse_methods for flag in idioms.flag) or last in idioms.option_parsers):
            yield AllocationSite(AllocationKind.OPTIONS, module, call)
            return
        if last in idioms.file_composers:
            yield AllocationSite(AllocationKind.FILE)
            return
        known = set(idioms.file_packages) | idioms.formats.keys() | sys.stdlib_module_names
        reads = bool(tops & known) if names else bool(call.args)
        if (last in idioms.file_readers and reads) or any(name in idioms.config_readers for name in names):
            yield AllocationSite(AllocationKind.FILE, module, call)
            return
    ours = any(isinstance(entity, Definition) for entity in entities)
    if ours:
        yield AllocationSite(AllocationKind.CLASS, module, call, owners=_select_classes(entities))
    plain = isinstance(call.func, ast.Name) and not entities and hasattr(builtins, call.func.id)
    kept = ours or plain or (bool(names) and all(name.partition(".")[0] in sys.stdlib_module_names for name in names))
    kept = kept or any(name in idioms.attribute_mappings for idioms in tracer.idioms for name in names)
    # what it is passed may be what it holds: ``AttrDict(json.load(file))``, ``vars(args)``; also ``cfg.clone()``
    given = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg is None)] if kept else []
    given += [call.func.value] if isinstance(call.func, ast.Attribute) and not entities else []
    inner = [one for part in given for one in find_origins(tracer, module, part, trace).made]
    held = [one for one in inner if one.maker in (AllocationKind.OPTIONS, AllocationKind.FILE)]
    yield from held
    if held:
        return
    if not ours:
        yield AllocationSite(AllocationKind.ELSEWHERE if names and not kept else AllocationKind.UNKNOWN)


def _is_entry(tracer: Tracer, module: Module, node: ast.AST) -> bool:
    """Whether a parameter is what a decorator hands to the function that a program starts with: Hydra's configuration."""
    function = module.parents.get(module.parents[node])
    for part in getattr(function, "decorator_list", []):
        called = part.func if isinstance(part, ast.Call) else part
        names = tracer.resolver.names(module, called)
        if any(name in entry.names for idioms in tracer.idioms for entry in idioms.config_entry for name in names):
            return True
    return False
