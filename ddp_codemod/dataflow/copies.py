"""What a call or comprehension gives a copy of."""

from __future__ import annotations

import ast

from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.parse.python import Module

COPIES = frozenset({"clone", "copy"})  # methods that give the same values again
COPIERS = frozenset({"copy.copy", "copy.deepcopy"})


def find_copy_source(tracer: Tracer, module: Module, node: ast.expr) -> ast.expr | None:
    """What a call gives a copy of: ``x.copy()``, ``copy.deepcopy(x)``; None for anything else."""
    if isinstance(node, ast.DictComp):
        return _find_filtered_mapping(node)
    if not isinstance(node, ast.Call):
        return None
    if isinstance(node.func, ast.Attribute) and node.func.attr in COPIES and not node.args:
        return node.func.value
    if len(node.args) == 1 and COPIERS & set(tracer.resolver.names(module, node.func)):
        return node.args[0]
    return None


def _find_filtered_mapping(node: ast.DictComp) -> ast.expr | None:
    """The mapping whose entries a comprehension takes as they are: ``{k: v for k, v in x.items() if v}``."""
    loop = node.generators[0]
    if len(node.generators) != 1 or not isinstance(loop.target, ast.Tuple) or not isinstance(loop.iter, ast.Call):
        return None
    taken = [ast.dump(part) for part in (node.key, node.value)]
    given = [ast.dump(part).replace("Store()", "Load()") for part in loop.target.elts]
    items = loop.iter.func
    return items.value if taken == given and isinstance(items, ast.Attribute) and items.attr == "items" else None
