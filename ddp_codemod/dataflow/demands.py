"""Demands for a device: a test of it that ends the program. Code behind one runs once the demand is taken out."""

from __future__ import annotations

import ast
from collections.abc import Collection

from ddp_codemod.dataflow.reaching_definitions import EXITS
from ddp_codemod.parse.python import Module, last_name, walk
from ddp_codemod.sites.entities import Definition
from ddp_codemod.sites.resolver import Resolver


def is_device_demand(resolver: Resolver, names: Collection[str], module: Module, statement: ast.AST | None) -> bool:
    """Whether a statement asks for one of the functions ``names``, and ends the program by what it hears."""
    if isinstance(statement, ast.Assert):
        return asks(resolver, names, module, statement.test)
    return isinstance(statement, ast.If) and sources(statement.body[-1]) and asks(resolver, names, module, statement.test)


def asks(resolver: Resolver, names: Collection[str], module: Module, test: ast.expr) -> bool:
    """Whether a test asks for one of the names, itself or in a function that it calls."""
    for part in walk(test):
        if not isinstance(part, ast.Call):
            continue
        for entity in resolver.resolve(module, part.func):
            if getattr(entity, "name", None) in names:
                return True
            if isinstance(entity, Definition) and not isinstance(entity.node, ast.ClassDef):
                for inner in walk(entity.node):
                    if isinstance(inner, ast.Call) and set(resolver.names(entity.module, inner.func)) & set(names):
                        return True
    return False


def sources(statement: ast.stmt) -> bool:
    """Whether a statement ends the program, as far as nothing catches it."""
    if isinstance(statement, ast.Raise):
        return True
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and last_name(statement.value.func) in EXITS
