"""What the code does to a key of a mapping before it is used: assignments, ``update``, ``setdefault``, ``|=``, functions that may."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence
from enum import Enum

from msgspec import Struct

from ddp_codemod.dataflow.calls import Def, find_names, is_bound_method
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.reaching_definitions import ReachingDefinitions
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.entities import Definition, External
from ddp_codemod.sites.scopes import COMPREHENSIONS, Binding, assignment_pairs, bindings, owner_scope, scope_of

# methods of a mapping that leave it as it is, and functions of others that only read what they are passed
_READING = frozenset({"get", "items", "keys", "values", "copy", "__contains__"})
_TOLD = frozenset({"update", "debug", "info", "warning", "error", "exception", "critical", "log", "dump", "dumps", "format"})
_SIMPLE = (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Delete)


class KeyEffect(Enum):
    """What a statement does to the key of a mapping."""

    MAKES = "makes"  # the mapping is made anew, of ``value``
    SETS = "sets"
    DROPS = "drops"
    FILLS = "fills"  # the key, where it is not there
    MIXES = "mixes"  # another mapping, ``value``, into it
    CHANGES = "changes"  # in a way that is not known


class MappingStore(Struct, frozen=True, eq=False):
    """One statement that does something to the key."""

    does: KeyEffect
    statement: ast.AST
    value: ast.expr | None = None

    @property
    def settles(self) -> bool:
        """Whether nothing that the key had before is left."""
        return self.does in (KeyEffect.MAKES, KeyEffect.SETS, KeyEffect.DROPS)


def find_reaching_stores(
    tracer: Tracer, module: Module, steps: list[MappingStore], use: ast.Name, scope: ast.AST
) -> tuple[list[MappingStore], bool]:
    """The steps whose effect can be there where the mapping is used, and whether what was there before any of them can."""
    inside = scope_of(module, use)
    while isinstance(inside, COMPREHENSIONS):
        inside = scope_of(module, inside)
    if inside is not scope:
        last = [step for step in steps if tracer.facts.unreachable(module, step.statement) is None]
        return last, True  # a function that runs whenever it is called
    places = {step: Binding(use.id, step.does.value, step.statement, step.value) for step in steps}

    def run(some: list[MappingStore]) -> tuple[list[MappingStore], bool]:
        flow = ReachingDefinitions(module, [places[step] for step in some], lambda test: tracer.facts.truth(module, test))
        reached = flow.before(use)
        return [step for step in some if any(made is places[step] for made in reached.found)], reached.open

    settling = [step for step in steps if step.settles]
    found, open_ = run(settling)
    return [*found, *(step for step in steps if not step.settles and step in run([*settling, step])[0])], open_


def find_stores(tracer: Tracer, module: Module, scope: ast.AST, mapping: ast.Name, wanted: Known) -> Iterator[MappingStore]:
    """What the statements of a scope do to the key of the mapping that a name holds."""
    for binding in bindings(module, scope).get(mapping.id, ()):
        if binding.kind == "value":
            yield MappingStore(KeyEffect.MAKES, binding.node, binding.value)
        elif isinstance(binding.node, ast.AugAssign) and isinstance(binding.node.op, ast.BitOr):
            yield from _match_merge(tracer, module, binding.node, binding.node.value, (), wanted)
        elif binding.kind != "parameter":
            yield MappingStore(KeyEffect.CHANGES, binding.node)
    key = ("steps", scope, mapping.id, type(wanted.value), repr(wanted.value))
    if key not in module.cache:
        module.cache[key] = _find_stores_by_name(tracer, module, scope, mapping.id, wanted)
    others: list[tuple[ast.Name, list[MappingStore]]] = module.cache[key]  # type: ignore[assignment]
    for node, steps in others:
        if node is not mapping:
            yield from steps


def _find_stores_by_name(
    tracer: Tracer, module: Module, scope: ast.AST, name: str, wanted: Known
) -> list[tuple[ast.Name, list[MappingStore]]]:
    """What is done where a mapping's name is, of those places where something is done."""
    found: list[tuple[ast.Name, list[MappingStore]]] = []
    for node in find_names(module, name):
        if isinstance(node.ctx, ast.Load) and owner_scope(module, scope_of(module, node), node.id) is scope:
            if steps := list(find_stores_at(tracer, module, node, wanted)):
                found.append((node, steps))
    return found


def find_stores_at(tracer: Tracer, module: Module, node: ast.expr, wanted: Known) -> Iterator[MappingStore]:
    """What the code around a mapping's name does to the key."""
    around, statement = module.parents[node], module.statement(node)
    simple = isinstance(statement, _SIMPLE)
    if isinstance(around, ast.Subscript) and around.value is node:
        key = tracer.facts.fold(module, around.slice)
        if isinstance(around.ctx, ast.Load) or (isinstance(key, Known) and key != wanted):
            return
        value = next((value for target, value in assignment_pairs(statement) if target is around), None)
        if isinstance(key, Known) and value is not None:
            yield MappingStore(KeyEffect.SETS, statement, value)
        elif isinstance(key, Known) and isinstance(statement, ast.Delete):
            yield MappingStore(KeyEffect.DROPS, statement)
        elif isinstance(value, ast.Subscript) and ast.dump(value.slice) == ast.dump(around.slice):
            yield MappingStore(
                KeyEffect.MIXES, statement, value.value
            )  # a loop copies: ``ours[field.name] = defaults[field.name]``
        else:
            yield MappingStore(KeyEffect.CHANGES, statement)
    elif isinstance(around, ast.Attribute):
        call = module.parents[around]
        if isinstance(call, ast.Call) and call.func is around and around.attr not in _READING:
            yield from _match_method_store(tracer, module, statement if simple else call, call, around.attr, wanted)
    elif isinstance(around, ast.keyword) and around.arg is not None:
        if _may_change(tracer, module, module.parents[around], around):  # type: ignore[arg-type]
            yield MappingStore(KeyEffect.CHANGES, statement)
    elif isinstance(around, ast.Call) and node in around.args and _may_change(tracer, module, around, node):
        yield MappingStore(KeyEffect.CHANGES, statement)
    elif isinstance(around, ast.AugAssign) and around.target is node and isinstance(around.op, ast.BitOr):
        yield from _match_merge(tracer, module, around, around.value, (), wanted)
    elif isinstance(around, (ast.Assign, ast.AnnAssign)) and around.value is node:
        yield MappingStore(KeyEffect.CHANGES, statement)  # it has a second name from here on


def _match_method_store(
    tracer: Tracer, module: Module, at: ast.AST, call: ast.Call, name: str, wanted: Known
) -> Iterator[MappingStore]:
    key = tracer.facts.fold(module, call.args[0]) if call.args else None
    if name == "update":
        yield from _match_merge(tracer, module, at, call.args[0] if call.args else None, call.keywords, wanted)
    elif name in ("setdefault", "pop") and isinstance(key, Known):
        if key == wanted and name == "pop":
            yield MappingStore(KeyEffect.DROPS, at)
        elif key == wanted:
            yield MappingStore(KeyEffect.FILLS, at, call.args[1]) if len(call.args) == 2 else MappingStore(KeyEffect.CHANGES, at)
    elif name == "clear":
        yield MappingStore(KeyEffect.DROPS, at)
    else:
        yield MappingStore(KeyEffect.CHANGES, at)


def _match_merge(
    tracer: Tracer, module: Module, at: ast.AST, other: ast.expr | None, keywords: Sequence[ast.keyword], wanted: Known
) -> Iterator[MappingStore]:
    """What the entries of another mapping, and arguments by name, do when they are put into this one."""
    for keyword in keywords:
        if keyword.arg is None:
            yield MappingStore(KeyEffect.MIXES, at, keyword.value)
        elif keyword.arg == wanted.value:
            yield MappingStore(KeyEffect.SETS, at, keyword.value)
            return
    if isinstance(other, ast.Dict) and None not in other.keys:
        keys = [tracer.facts.fold(module, key) for key in other.keys if key is not None]
        if all(isinstance(key, Known) for key in keys):
            yield from (MappingStore(KeyEffect.SETS, at, other.values[index]) for index, key in enumerate(keys) if key == wanted)
            return
    if other is not None:
        yield MappingStore(KeyEffect.MIXES, at, other)


def _may_change(tracer: Tracer, module: Module, call: ast.Call, argument: ast.AST) -> bool:
    """Whether a call that is handed a mapping may write into it: not one that only reads it."""
    entities = tracer.resolver.resolve(module, call.func)
    if not entities and isinstance(call.func, ast.Attribute) and call.func.attr in _TOLD:
        return isinstance(call.func.value, ast.Name) and hasattr(builtins, call.func.value.id)  # ``dict.update(x, ...)``
    if not entities and isinstance(call.func, ast.Name) and hasattr(builtins, call.func.id):
        return False
    for entity in entities:
        if not isinstance(entity, Definition) or isinstance(entity.node, ast.ClassDef):
            return not (isinstance(entity, External) and entity.name.partition(".")[0] in ("copy", "json", "pprint", "logging"))
        names = [part.arg for part in (*entity.node.args.posonlyargs, *entity.node.args.args)]
        names = names[1:] if is_bound_method(entity.module, entity.node) else names
        at = call.args.index(argument) if argument in call.args else -1
        taken = argument.arg if isinstance(argument, ast.keyword) else names[at] if at < len(names) else None
        if taken is None or not _is_read_only(entity.module, entity.node, taken):
            return True
    return not entities


def _is_read_only(module: Module, function: Def, name: str) -> bool:
    """Whether a function writes nothing into what it takes under a name; worked out once for each."""
    key = ("leaves alone", function, name)
    if key not in module.cache:
        uses = (part for part in ast.walk(function) if isinstance(part, ast.Name) and part.id == name)
        module.cache[key] = all(_is_plain_read(module, part) for part in uses)
    return bool(module.cache[key])


def _is_plain_read(module: Module, node: ast.Name) -> bool:
    around = module.parents[node]
    if isinstance(around, ast.Subscript):
        return around.value is node and isinstance(around.ctx, ast.Load)
    if isinstance(around, ast.Attribute):
        return around.attr in _READING
    return (isinstance(around, ast.keyword) and around.arg is None) or isinstance(around, (ast.Compare, ast.For))
