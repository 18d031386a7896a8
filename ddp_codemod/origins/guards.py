"""What the shape of the code around a place rules out: None behind ``if x is None: x = ...``."""

from __future__ import annotations

import ast

from ddp_codemod.parse.python import Module
from ddp_codemod.sites.scopes import FUNCTIONS, Binding


def is_position(node: ast.Call) -> bool:
    """Whether a look-up is of a place in a list that changes with each of them: ``names.pop(0)``."""
    return len(node.args) == 1 and isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, int)


def fills_none(module: Module, binding: Binding) -> bool:
    """Whether an assignment runs where its name held None, and only there."""
    below: ast.AST = binding.node
    for around in module.ancestors(binding.node) if binding.kind == "value" else ():
        if isinstance(around, FUNCTIONS):
            return False
        if isinstance(around, ast.If) and below in around.body and _asks_for_none(around.test, binding.name):
            return True
        below = around
    return False


def _asks_for_none(test: ast.expr, name: str) -> bool:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return isinstance(test.operand, ast.Name) and test.operand.id == name
    if not (isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == name):
        return False
    right = test.comparators[0]
    return isinstance(test.ops[0], (ast.Is, ast.Eq)) and isinstance(right, ast.Constant) and right.value is None
