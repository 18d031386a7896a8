"""How many devices a framework is told to take, which decides whether it makes a process group at all."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from enum import Enum

from ddp_codemod.catalog.objects import Objects
from ddp_codemod.dataflow.config_values import is_set, read_config_values
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.mappings import look_up
from ddp_codemod.dataflow.values import Trace, Value
from ddp_codemod.kinds import OriginKind
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.findings import Context
from ddp_codemod.sites.surface_calls import Use

_DEFAULTS = (OriginKind.OPTION_DEFAULT, OriginKind.PARAMETER_DEFAULT, OriginKind.FIELD_DEFAULT)  # the user gives another number

_GROW = frozenset({"append", "extend", "insert"})


class Count(Enum):
    """What the keywords of a call that count devices say."""

    SEVERAL = "several"
    OPEN = "open"  # it is decided elsewhere, or by the machine
    ONE = "one"
    UNSAID = "unsaid"


def count_devices(context: Context, use: Use, objects: Objects) -> Count:
    """How many devices the call asks for; one keyword that says several decides."""
    found = set(_collect_keyword_counts(context, use, objects))
    return next((count for count in Count if count in found), Count.UNSAID)


def _collect_keyword_counts(context: Context, use: Use, objects: Objects) -> Iterator[Count]:
    for keyword in use.call.keywords:
        if keyword.arg in objects.several:
            yield count_of(context, use.module, keyword.value)
    for mapping in use.spread:
        for name in objects.several:
            sources = look_up(context.tracer, use.module, mapping, ast.Constant(name), Trace())
            if sources:
                yield merge_counts(_count_source(context, source) for source in sources)
            elif texts := read_config_values(context.tracer, use.module, mapping, (name,)):
                yield merge_counts(map(count_value, texts))


def count_of(context: Context, module: Module, value: ast.expr) -> Count:
    """How many devices an expression counts, wherever its value starts."""
    known = context.facts.fold(module, value)
    if isinstance(known, Known) and not (isinstance(value, ast.Name) and isinstance(known.value, tuple)):
        return count_value(known.value)
    if _is_at_most_one(context, module, value):
        return Count.ONE
    if isinstance(value, ast.Attribute) and is_set(context.tracer, value.attr):
        return Count.OPEN  # the tracer does not look for numbers that other code stores
    if (texts := read_config_values(context.tracer, module, value)) is not None:
        return merge_counts(map(count_value, texts))
    return merge_counts(_count_source(context, source) for source in context.tracer.evaluate(module, value))


def _count_source(context: Context, source: Value) -> Count:
    """How many devices one of the starts of a value counts."""
    if source.kind in _DEFAULTS or source.trace.doubt is not None:
        return Count.OPEN
    if isinstance(source.value, Known):
        return count_value(source.value.value)
    if isinstance(source.module, Module) and isinstance(source.node, ast.expr):
        if isinstance(source.node, (ast.List, ast.Tuple)):
            return Count.OPEN if _can_grow(source.module, source.node) else count_value(tuple(source.node.elts))
        if _is_at_most_one(context, source.module, source.node):
            return Count.ONE
        known = context.facts.fold(source.module, source.node)
        return count_value(known.value if isinstance(known, Known) else "auto")
    return Count.OPEN


def _can_grow(module: Module, listed: ast.List | ast.Tuple) -> bool:
    """Whether more devices than are written may be in a list: it unpacks one, or a variable holds it that gets more."""
    around = module.parents.get(listed)
    named = {target.id for target in around.targets if isinstance(target, ast.Name)} if isinstance(around, ast.Assign) else set()
    held = (one for one in module.nodes.get(ast.Attribute, ()) if isinstance(one, ast.Attribute) and one.attr in _GROW)
    added = any(isinstance(one.value, ast.Name) and one.value.id in named for one in held)
    more = (one.target for one in module.nodes.get(ast.AugAssign, ()) if isinstance(one, ast.AugAssign))
    added = added or any(isinstance(one, ast.Name) and one.id in named for one in more)
    return added or any(isinstance(part, ast.Starred) for part in listed.elts)


def _is_at_most_one(context: Context, module: Module, value: ast.expr) -> bool:
    """Whether a number is a truth value or capped: ``int(torch.cuda.is_available())``, ``min(1, torch.cuda.device_count())``."""
    if isinstance(value, ast.Compare) or (isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not)):
        return True
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Name) or value.keywords:
        return False
    given = [context.facts.fold(module, part) for part in value.args]
    if value.func.id == "min":
        return any(isinstance(one, Known) and isinstance(one.value, int) and one.value <= 1 for one in given) and len(given) > 1
    whole = value.func.id == "bool" and len(given) == 1
    truth = len(given) == 1 and (
        _is_at_most_one(context, module, value.args[0]) or isinstance(getattr(given[0], "value", 0), bool)
    )
    return whole or (value.func.id == "int" and truth)


def merge_counts(counts: Iterable[Count]) -> Count:
    """What one keyword says whose value can start in several places."""
    found = set(counts) or {Count.OPEN}
    if len(found) > 1 and Count.SEVERAL in found:
        return Count.OPEN
    return next(count for count in Count if count in found)


def count_value(many: object) -> Count:
    """What a number of devices says, or a list of them, or a text for either; of a text that is neither nothing is known."""
    if isinstance(many, str):
        many = int(many) if many.isdigit() else many.split(",") if "," in many else -1
    if isinstance(many, (tuple, list)):
        many = len(many)
    if many is None or many is False:
        return Count.UNSAID
    if not isinstance(many, int) or many < 0:
        return Count.OPEN
    return Count.SEVERAL if many > 1 else Count.ONE
