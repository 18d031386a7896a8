"""What made an object whose attributes or keys are read: parsed options, a configuration file, code that is not read."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterable, Iterator
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from ddp_codemod.dataflow import filled_objects
from ddp_codemod.dataflow.attribute_tables import owner_of_attributes
from ddp_codemod.dataflow.configured_targets import parameter_of, paths_to
from ddp_codemod.dataflow.flattened_config import flattened
from ddp_codemod.dataflow.leaves import Doubt, Leaf, Way
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.kinds import OriginKind
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.sites.entities import Definition, Entity, External, Instance

DEPTH = 8  # objects that are parts of each other


class Maker(Enum):
    """Who gives an object its attributes."""

    OPTIONS = "options"
    FILE = "file"
    CLASS = "class"  # of the project
    ELSEWHERE = "elsewhere"  # a package that is not in the project, and no reader of files or options
    UNKNOWN = "unknown"


class Made(Struct, frozen=True):
    """One way in which the object can have been made."""

    maker: Maker
    module: Module | None = None
    call: ast.Call | None = None  # that gave it
    path: tuple[str, ...] = ()  # the keys that lead from there to the object
    owners: tuple[Definition, ...] = ()  # the classes of the project that the object can be of
    flat: bool = False  # the sections of the file are merged: its keys are theirs


class Provenance(Struct, frozen=True):
    """All that an expression's object can have been made by; ``at`` is the part of the expression that is known to be made so."""

    made: tuple[Made, ...]
    at: ast.expr
    doubt: Doubt | None = None  # nothing but its name leads from the expression to an option, a file's key or a field

    @property
    def parsers(self) -> list[tuple[Module, ast.expr]]:
        """The objects that parse the options; [] where one of them is not known."""
        found: list[tuple[Module, ast.expr]] = []
        for one in self.made:
            if one.maker is Maker.OPTIONS:
                if one.module is None or one.call is None or not isinstance(one.call.func, ast.Attribute):
                    return []
                found.append((one.module, one.call.func.value))
        return found

    @property
    def sure(self) -> bool:
        """Whether it is known that options or a file give the object its attributes."""
        return self.doubt is None and any(one.maker in (Maker.OPTIONS, Maker.FILE) for one in self.made)

    @property
    def homes(self) -> list[str]:
        """The files that parse the options."""
        return [one.module.name for one in self.made if one.maker is Maker.OPTIONS and one.module is not None]

    @property
    def doubt_of_options(self) -> Doubt | None:
        """The same of options: a file that is read, or a class, gives none."""
        return self.doubt if any(one.maker is Maker.OPTIONS for one in self.made) else Doubt.NAME

    def doubt_of_fields(self, tracer: Tracer) -> Doubt | None:
        """The same of the fields of a class: a file that is read gives keys, and no fields, but where it is made by the class."""
        typed = {name for idioms in tracer.idioms for name in idioms.typed_readers}
        for one in self.made:
            known = one.maker is Maker.FILE and (one.call is None or last_name(one.call.func) in typed)
            if one.maker is Maker.OPTIONS or known:
                return None
        return Doubt.NAME

    @property
    def classes(self) -> list[Definition]:
        """The classes of the project that the object can be of; [] where it can be something that is not known."""
        if any(one.maker in (Maker.UNKNOWN, Maker.ELSEWHERE) for one in self.made):
            return []
        return list(dict.fromkeys(owner for one in self.made for owner in one.owners))


def provenance(tracer: Tracer, module: Module, node: ast.expr, way: Way, depth: int = 0) -> Provenance:
    """What made the object that an expression gives; of ``cfg.dist`` that is what made ``cfg``. Worked out once for each."""
    key = ("provenance", node, way.frame)
    if key not in module.cache:
        module.cache[key] = _provenance(tracer, module, node, way, depth)
    return module.cache[key]  # type: ignore[return-value]


def _provenance(tracer: Tracer, module: Module, node: ast.expr, way: Way, depth: int) -> Provenance:
    at = node
    while True:
        leaves = tracer.evaluate(module, at, Way(kind=OriginKind.OBJECT, frame=way.frame))
        made = tuple(dict.fromkeys(one for leaf in leaves for one in _of_leaf(tracer, leaf, at, depth)))
        if made or not isinstance(at, (ast.Attribute, ast.Subscript)):
            break
        at = at.value
    known = any(one.maker in (Maker.OPTIONS, Maker.FILE) for one in made)
    others = any(one.maker is Maker.ELSEWHERE for one in made)
    return Provenance(made, at, Doubt.NAME if not known else Doubt.OTHERS if others else None)


def _of_leaf(tracer: Tracer, leaf: Leaf, asked: ast.expr, depth: int) -> Iterator[Made]:
    """Who made the object that a leaf is; nothing where the expression that was asked about leads nowhere itself."""
    if not isinstance(leaf.module, Module) or not isinstance(leaf.node, ast.AST):
        yield Made(Maker.FILE)
        return
    module, node = leaf.module, leaf.node
    if isinstance(node, ast.arg) and (owners := _classes(tracer.resolver.annotated(module, node.annotation))):
        yield Made(Maker.CLASS, module, owners=owners)
        return
    if leaf.kind == OriginKind.PARAMETER:
        around = filled_objects.class_of_self(module, node)
        filled = list(_filled(tracer, module, filled_objects.fills_of_self(module, around), leaf.way, depth)) if around else []
        if filled:
            yield from filled
            return
        yield Made(Maker.FILE if _is_entry(tracer, module, node) else Maker.UNKNOWN)
        yield from (Made(Maker.FILE, path=path) for path in paths_to(tracer, module, node))
        yield from _spread(tracer, module, node, leaf.way, depth)
        return
    if (parameter := parameter_of(module, node)) is not None:  # its default: a file that names the function may give another
        yield from (Made(Maker.FILE, path=path) for path in paths_to(tracer, module, parameter))
    if depth < DEPTH and (table := flattened(module, node)) is not None:
        yield from (replace(one, flat=True) for one in provenance(tracer, module, table, leaf.way, depth + 1).made)
        return
    if isinstance(node, ast.Call):
        yield from _filled(tracer, module, filled_objects.fills_of_object(module, node), leaf.way, depth)
        for one in _classes(tracer.resolver.resolve(module, node.func)):
            assert isinstance(one.node, ast.ClassDef)
            yield from _filled(tracer, one.module, filled_objects.fills_of_self(one.module, one.node), leaf.way, depth)
        yield from _of_call(tracer, module, node, leaf.way, depth)
        return
    if isinstance(node, ast.Dict):
        spread = [value for key, value in zip(node.keys, node.values, strict=True) if key is None]
        yield from _filled(tracer, module, (*filled_objects.fills_of_object(module, node), *spread), leaf.way, depth)
    inner = node.value if isinstance(node, ast.Assign) else None  # ``(args,) = parser.parse_args_into_dataclasses()``
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.BitOr):
        inner = node.value  # ``cfg |= yaml.safe_load(file)``
    inner = node.generators[0].iter if isinstance(node, (ast.DictComp, ast.ListComp)) else inner
    if inner is not None and depth < DEPTH:
        yield from provenance(tracer, module, inner, leaf.way, depth + 1).made
        return
    entities = tracer.resolver.resolve(module, node) if isinstance(node, (ast.Name, ast.Attribute)) else []
    outside = [entity.name for entity in entities if isinstance(entity, External)]
    if any(name in idioms.option_objects for idioms in tracer.idioms for name in outside):
        yield Made(Maker.OPTIONS, module)
    elif outside and len(outside) == len(entities):
        yield Made(Maker.ELSEWHERE)
    elif node is not asked and isinstance(node, (ast.Attribute, ast.Subscript)) and depth < DEPTH:
        for made in provenance(tracer, module, node.value, leaf.way, depth + 1).made:
            yield replace(made, path=(*made.path, key)) if (key := _key(node)) else made
    elif node is not asked:
        yield Made(Maker.UNKNOWN)


def _spread(tracer: Tracer, module: Module, node: ast.AST, way: Way, depth: int) -> Iterator[Made]:
    """Who made the object whose attributes callers spread into ``**kwargs``: ``Trainer(**vars(args))``."""
    function = module.parents.get(module.parents[node])
    if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) and node is function.args.kwarg:
        for given in tracer.callers(module, function):
            spread = (keyword.value for keyword in given.keywords if keyword.arg is None)
            held = [part for part in spread if owner_of_attributes(part) is not None]  # a table's own way may be long
            yield from _filled(tracer, given.module, held, way, depth)


def _filled(tracer: Tracer, module: Module, sources: Iterable[ast.expr], way: Way, depth: int) -> Iterator[Made]:
    """Who made what an object is filled with, where that is options or a file."""
    if depth < DEPTH:
        for source in sources:
            made = provenance(tracer, module, source, way, depth + 1).made
            yield from (one for one in made if one.maker in (Maker.OPTIONS, Maker.FILE))


def _classes(entities: list[Entity]) -> tuple[Definition, ...]:
    found = (entity for entity in entities if isinstance(entity, (Definition, Instance)))
    return tuple(Definition(one.module, one.node) for one in found if isinstance(one.node, ast.ClassDef))


def _key(node: ast.Attribute | ast.Subscript) -> str:
    """The key that an expression looks up; "" where it is not written out."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.slice.value if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str) else ""


def _of_call(tracer: Tracer, module: Module, call: ast.Call, way: Way, depth: int) -> Iterator[Made]:
    last, entities = last_name(call.func), tracer.resolver.resolve(module, call.func)
    names = [entity.name for entity in entities if isinstance(entity, External)]
    tops = {name.partition(".")[0] for name in names}
    for idioms in tracer.idioms:
        parses = not names or tops & (set(idioms.option_packages) | sys.stdlib_module_names)
        if parses and (any(last in flag.parse_methods for flag in idioms.flag) or last in idioms.option_parsers):
            yield Made(Maker.OPTIONS, module, call)
            return
        if last in idioms.file_composers:
            yield Made(Maker.FILE)
            return
        known = set(idioms.file_packages) | idioms.formats.keys() | sys.stdlib_module_names
        reads = bool(tops & known) if names else bool(call.args)
        if (last in idioms.file_readers and reads) or any(name in idioms.config_readers for name in names):
            yield Made(Maker.FILE, module, call)
            return
    ours = any(isinstance(entity, Definition) for entity in entities)
    if ours:
        yield Made(Maker.CLASS, module, call, owners=_classes(entities))
    plain = isinstance(call.func, ast.Name) and not entities and hasattr(builtins, call.func.id)
    kept = ours or plain or (bool(names) and all(name.partition(".")[0] in sys.stdlib_module_names for name in names))
    kept = kept or any(name in idioms.attribute_mappings for idioms in tracer.idioms for name in names)
    if (
        depth < DEPTH
    ):  # what it is given may be what it holds: ``AttrDict(json.load(file))``, ``vars(args)``; also ``cfg.clone()``
        given = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg is None)] if kept else []
        given += [call.func.value] if isinstance(call.func, ast.Attribute) and not entities else []
        inner = [one for part in given for one in provenance(tracer, module, part, way, depth + 1).made]
        held = [one for one in inner if one.maker in (Maker.OPTIONS, Maker.FILE)]
        yield from held
        if held:
            return
    if not ours:
        yield Made(Maker.ELSEWHERE if names and not kept else Maker.UNKNOWN)


def _is_entry(tracer: Tracer, module: Module, node: ast.AST) -> bool:
    """Whether a parameter is what a decorator hands to the function that a program starts with: Hydra's configuration."""
    function = module.parents.get(module.parents[node])
    for part in getattr(function, "decorator_list", []):
        called = part.func if isinstance(part, ast.Call) else part
        names = tracer.resolver.names(module, called)
        if any(name in entry.names for idioms in tracer.idioms for entry in idioms.config_entry for name in names):
            return True
    return False
