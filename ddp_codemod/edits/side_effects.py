"""What would be lost with code that an edit takes away."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection
from pathlib import PurePosixPath

from ddp_codemod.dataflow.fold import Known
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.findings import Context


def is_droppable(context: Context, pure: Collection[str], module: Module, node: ast.expr) -> bool:
    """Whether dropping an expression loses nothing but a value: no call in it does more than ask for a fact."""
    for part in ast.walk(node):
        if isinstance(part, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)):
            return False
        if isinstance(part, ast.Call):
            names = context.tracer.resolver.names(module, part.func)
            known = any(f"{name}()" in pure for name in names)
            if not known and not isinstance(context.facts.fold(module, part), Known):
                return False
    return True


def is_reexported(context: Context, module: Module, name: str) -> bool:
    """Whether another file of the project takes the name from this one."""
    resolver = context.tracer.resolver
    stem = PurePosixPath(module.name).stem
    taken = re.compile(rb"\bfrom[\s\\]+%b[\s\\]+import\b" % re.escape(stem.encode()))
    for other_name in resolver.project.mentioning(name):
        # whoever takes a name from a file imports the file
        if (
            stem != "__init__"
            and not resolver.project.may_refer(other_name, stem)
            and not taken.search(resolver.project.data(other_name))
        ):
            continue
        other = resolver.project.module(other_name) if other_name != module.name else None
        if other is None:
            continue
        for node in other.nodes.get(ast.ImportFrom, ()):
            assert isinstance(node, ast.ImportFrom)
            if any(alias.name in (name, "*") for alias in node.names):
                if resolver.project.find("." * node.level + (node.module or ""), other) is module:
                    return True
        for attribute in other.nodes.get(ast.Attribute, ()):
            assert isinstance(attribute, ast.Attribute)
            if attribute.attr == name:
                owners = resolver.resolve(other, attribute.value)
                if any(getattr(entity, "module", None) is module for entity in owners):
                    return True
    return False
