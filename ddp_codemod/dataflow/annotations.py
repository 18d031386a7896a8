"""What the annotation of a parameter says of its value, which no look at the callers has to find out."""

from __future__ import annotations

import ast
from collections.abc import Set

from ddp_codemod.parse.python import Module, last_name, walk
from ddp_codemod.sites.resolver import Resolver
from ddp_codemod.sites.scopes import bindings, owner_scope, scope_of

_ANYTHING = frozenset({"Any", "object", "str"})  # a parameter that is annotated with one beside a class can be a text


def is_annotated(resolver: Resolver, module: Module, node: ast.expr, classes: Set[str]) -> bool:
    """Whether an expression is a parameter that is annotated with one of some classes from outside: ``Optional[torch.Tensor]``.

    It stays one where its function gives it another value, as type checkers have it.
    """
    home = owner_scope(module, scope_of(module, node), node.id) if isinstance(node, ast.Name) else None
    made = bindings(module, home).get(node.id, ()) if home is not None and isinstance(node, ast.Name) else ()
    return any(isinstance(one.node, ast.arg) and is_annotation_of(resolver, module, one.node.annotation, classes) for one in made)


def is_annotation_of(resolver: Resolver, module: Module, annotation: ast.expr | None, classes: Set[str]) -> bool:
    """Whether an annotation names one of some classes from outside, and nothing beside it that can be a text."""
    last = {name.rpartition(".")[2] for name in classes}
    parts = [part for part in walk(annotation) if isinstance(part, ast.expr)] if annotation is not None else []
    if not _ANYTHING.isdisjoint(map(last_name, parts)):
        return False
    return any(last_name(part) in last and not classes.isdisjoint(resolver.names(module, part)) for part in parts)


def is_type_of_something(module: Module, node: ast.AST) -> bool:
    """Whether a name is declared to be the type of something: ``x: C``, ``x: list[C] | None``, ``-> C``."""
    around = module.parents.get(node)
    while isinstance(around, (ast.Subscript, ast.Tuple, ast.BinOp)):
        node, around = around, module.parents.get(around)
    if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return around.returns is node
    return isinstance(around, (ast.arg, ast.AnnAssign)) and around.annotation is node
