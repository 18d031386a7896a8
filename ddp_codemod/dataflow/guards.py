"""What the shape of the code around a place rules out: None behind ``if x is None: x = ...``."""

from __future__ import annotations

import ast

from ddp_codemod.parse.python import Module
from ddp_codemod.sites.scopes import FUNCTIONS, Binding, assigned


def fills_none(module: Module, binding: Binding) -> ast.If | None:
    """The ``if`` that asks a name for None and gives it a value whatever happens, which an assignment stands in."""
    below: ast.AST = binding.node
    for around in module.ancestors(binding.node) if binding.kind == "value" else ():
        if isinstance(around, FUNCTIONS):
            return None
        if isinstance(around, ast.If) and below in around.body and _asks_for_none(around.test, binding.name):
            return around if _always_sets(around.body, binding.name) else None
        below = around
    return None


def _always_sets(block: list[ast.stmt], name: str) -> bool:
    """Whether a name has a value, and not None, behind a block, or the block is left."""
    for statement in block:
        for target, value in assigned(statement):
            if isinstance(target, ast.Name) and target.id == name:
                return not (isinstance(value, ast.Constant) and value.value is None)
        if isinstance(statement, (ast.Raise, ast.Return, ast.Continue, ast.Break)):
            return True
        if isinstance(statement, ast.If) and statement.orelse:
            if _always_sets(statement.body, name) and _always_sets(statement.orelse, name):
                return True
    return False


def _asks_for_none(test: ast.expr, name: str) -> bool:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return isinstance(test.operand, ast.Name) and test.operand.id == name
    if not (isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == name):
        return False
    right = test.comparators[0]
    return isinstance(test.ops[0], (ast.Is, ast.Eq)) and isinstance(right, ast.Constant) and right.value is None
