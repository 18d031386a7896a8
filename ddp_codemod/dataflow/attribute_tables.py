"""Tables of an object's attributes: ``vars(args)``, ``args.__dict__``, ``dataclasses.asdict(config)``."""

from __future__ import annotations

import ast

from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.dataflow.values import Trace, Value
from ddp_codemod.kinds import OriginKind
from ddp_codemod.parse.python import Module

_DICT = "__dict__"


def find_attribute_owner(node: ast.AST) -> ast.expr | None:
    """``x`` of ``vars(x)`` and ``x.__dict__``."""
    if isinstance(node, ast.Attribute) and node.attr == _DICT:
        return node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "vars" and len(node.args) == 1:
        return node.args[0]
    return None


def look_up_attribute(tracer: Tracer, module: Module, table: ast.expr, name: str, trace: Trace) -> list[Value] | None:
    """The sources of the attribute that a key of such a table is; None for any other table, and where nothing is known of the attribute."""
    held = find_attribute_owner(table)
    if held is None and isinstance(table, ast.Call) and len(table.args) == 1:
        makers = {maker for idioms in tracer.idioms for maker in idioms.attribute_tables}
        held = table.args[0] if makers & {*tracer.resolver.names(module, table.func)} else None
    if held is None or not name.isidentifier():
        return None
    attribute = ast.copy_location(ast.Attribute(held, name, ast.Load()), table)
    module.parents[attribute] = module.parents[table]
    sources = [*tracer.evaluate(module, attribute, trace)]
    return None if all(source.kind == OriginKind.UNKNOWN for source in sources) else sources
