"""The objects that hold a value under a name: parsed options, a table of settings, an instance; where they are made."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ddp_codemod.dataflow.allocation_sites import AllocationKind, find_origins
from ddp_codemod.dataflow.def_use_arguments import Path
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.dataflow.values import Trace, Value
from ddp_codemod.kinds import OriginKind
from ddp_codemod.parse.python import Module


def find_holders(tracer: Tracer, module: Module, read: ast.expr) -> Iterator[tuple[Module, ast.expr, Path]]:
    """What ``read`` looks the value up in, as the expressions that make it, each with the keys that lead from there to the value.

    ``args.backend`` is held by ``parser.parse_args()`` under ``("backend",)``, ``cfg["dist"]["backend"]`` by what reads the file.
    """
    at, path = read, Path()
    while (step := _split_lookup(at)) is not None:
        at, path = step[0], (step[1], *path)
        known = find_origins(tracer, module, at, Trace())
        for one in known.made if known.at is at else ():
            if one.module is None or one.call is None or one.flat:
                continue
            if one.maker is not AllocationKind.OPTIONS or not one.path:  # an option is a text, with no entries
                yield one.module, one.call, (*one.path, *path)
        for source in tracer.evaluate(module, at, Trace(kind=OriginKind.OBJECT)):
            if isinstance(source.node, (ast.Dict, ast.Call)) and isinstance(source.module, Module) and _is_table(tracer, source):
                yield source.module, source.node, path


def _is_table(tracer: Tracer, source: Value) -> bool:
    """Whether a value is a table, or an object that has entries as attributes: ``SimpleNamespace(lr=1)``."""
    if source.kind == OriginKind.OBJECT or not isinstance(source.module, Module) or not isinstance(source.node, ast.Call):
        return source.kind == OriginKind.OBJECT
    kinds = {name for idioms in tracer.idioms for name in idioms.attribute_mappings}
    return not kinds.isdisjoint(tracer.resolver.names(source.module, source.node.func))


def _split_lookup(node: ast.expr) -> tuple[ast.expr, object] | None:
    """The object of an attribute or of an entry, and its name; None for other expressions."""
    if isinstance(node, ast.Attribute):
        return node.value, node.attr
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return node.value, node.slice.value
    if isinstance(node, ast.Call):  # ``cfg.get("backend")``, ``getattr(args, "backend", "nccl")``
        held = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        parts = [*held, *node.args]
        if len(parts) > 1 and isinstance(key := parts[1], ast.Constant):
            return parts[0], key.value
    return None
