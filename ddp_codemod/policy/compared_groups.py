"""Comparisons of a name with that of the group which it made: both change, and stay equal."""

from __future__ import annotations

import ast

from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.dataflow.values import CurrentBackend
from ddp_codemod.parse.python import Module


def is_group_asked(tracer: Tracer, module: Module, compare: ast.Compare, name: ast.expr) -> bool:
    """Whether a name is compared with that of the default group: ``dist.get_backend() == backend``."""
    if len(compare.ops) != 1 or not isinstance(compare.ops[0], (ast.Eq, ast.NotEq)):
        return False
    other = compare.left if compare.left is not name else compare.comparators[0]
    found = tracer.evaluate(module, other)
    return bool(found) and all(
        isinstance(one.value, CurrentBackend) and isinstance(one.node, ast.Call) and not one.node.args and not one.node.keywords
        for one in found
    )
