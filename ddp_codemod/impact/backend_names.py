"""Expressions that name a backend, and tables whose keys do."""

from __future__ import annotations

import ast

from msgspec import Struct

from ddp_codemod.dataflow.fold import FoldResult, Known
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.findings import Context
from ddp_codemod.sites.scopes import bindings, owner_scope, scope_of


class LookUp(Struct, frozen=True, eq=False):
    """A look-up in a table that is written out."""

    whole: ast.expr
    table: ast.Dict
    fallback: ast.expr | None = None
    fails: bool = True  # where the key is not there


def read_backend_name(context: Context, module: Module, node: ast.AST) -> str | None:
    """The backend that an expression names, as a text or as a member of torch's enum."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.lower() if node.value.lower() in context.rules.backends else None
    if isinstance(node, ast.Attribute) and node.attr.isupper() and node.attr.lower() in context.rules.backends:
        owners = context.tracer.resolver.names(module, node.value)
        if any(name in idioms.backend_enums for idioms in context.rules.idioms for name in owners):
            return node.attr.lower()
    return None


def find_table(context: Context, module: Module, node: ast.Subscript) -> ast.Dict | None:
    """The table that is looked into, where it is written out and its keys are names of backends."""
    table = read_table(module, node.value)
    if table is not None and table.keys and all(key and read_backend_name(context, module, key) for key in table.keys):
        return table
    return None


def read_table(module: Module, node: ast.expr) -> ast.Dict | None:
    """The table that an expression gives, where it is written out: here, or where its name gets its one value."""
    if isinstance(node, ast.Name):
        home = owner_scope(module, scope_of(module, node), node.id)
        result = bindings(module, home).get(node.id, []) if home is not None else []
        node = result[0].value if len(result) == 1 and result[0].value is not None else node
    return node if isinstance(node, ast.Dict) else None


def find_look_up(module: Module, key: ast.expr) -> LookUp | None:
    """The look-up that an expression is the key of."""
    around = module.parents.get(key)
    if isinstance(around, ast.Subscript) and around.slice is key and isinstance(around.ctx, ast.Load):
        table = read_table(module, around.value)
        return LookUp(around, table) if table is not None else None
    if isinstance(around, ast.Call) and around.args and around.args[0] is key and isinstance(around.func, ast.Attribute):
        if around.func.attr == "get" and (table := read_table(module, around.func.value)) is not None:
            return LookUp(around, table, around.args[1] if len(around.args) > 1 else None, False)
    return None


def find_entry(context: Context, module: Module, look_up: LookUp, key: FoldResult) -> ast.expr | None:
    """What a table has under a key, or what holds where the key is not there."""
    for one, entry in zip(look_up.table.keys, look_up.table.values, strict=True):
        name = read_backend_name(context, module, one) if one is not None else None
        if isinstance(key, Known) and (name == key.value or (isinstance(one, ast.Constant) and one.value == key.value)):
            return entry
    return look_up.fallback
