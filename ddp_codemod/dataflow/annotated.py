"""What the annotation of a parameter says of its value, which no look at the callers has to find out."""

from __future__ import annotations

import ast
from collections.abc import Set

from ddp_codemod.parse.python import Module, last_name, walk
from ddp_codemod.sites.resolve import Resolver
from ddp_codemod.sites.scopes import bindings, owner, scope_of


def is_annotated(resolver: Resolver, module: Module, node: ast.expr, classes: Set[str]) -> bool:
    """Whether an expression is a parameter that is annotated with one of some classes from outside: ``Optional[torch.Tensor]``.

    It stays one where its function gives it another value, as type checkers have it.
    """
    if not isinstance(node, ast.Name):
        return False
    home, last = owner(module, scope_of(module, node), node.id), {name.rpartition(".")[2] for name in classes}
    made = bindings(module, home).get(node.id, ()) if home is not None else ()
    annotations = (one.node.annotation for one in made if isinstance(one.node, ast.arg) and one.node.annotation is not None)
    parts = (part for annotation in annotations for part in walk(annotation) if last_name(part) in last)
    return any(not classes.isdisjoint(resolver.names(module, part)) for part in parts if isinstance(part, ast.expr))
