"""Values of tables in programs under keys that nothing looks up: ``{"dist_config": {"dist_backend": "nccl"}}`` of a copied model."""

from __future__ import annotations

import ast
import sys

from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.ledger.unread_keys import nodes_by_name
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.resolve import External


def is_in_unread_table(tracer: Tracer, module: Module, node: ast.expr) -> bool:
    """Whether a value stands in a table under a key that no program mentions, of a table under a name that no library is handed."""
    tables: list[str] = []
    below: ast.AST = node
    for around in module.ancestors(node):
        if isinstance(around, ast.Dict) and below in around.values:
            key = around.keys[around.values.index(below)]
            if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
                return False
            if below is not node:
                tables.append(key.value)
        elif isinstance(around, ast.Assign) and len(around.targets) == 1 and isinstance(target := around.targets[0], ast.Name):
            unread = any(key.isidentifier() and not _is_looked_up(tracer, key) for key in tables)
            return unread and not _is_handed_on(tracer, target.id)
        else:
            return False
        below = around
    return False


def _is_looked_up(tracer: Tracer, key: str) -> bool:
    """Whether a program speaks of a key, other than to put something under it in a table."""
    project = tracer.resolver.project
    return any(
        not isinstance(around := module.parents[node], ast.Dict) or node not in around.keys
        for file in project.mentioning(key)
        for module in project.programs(file)
        for node in nodes_by_name(module).get(key, ())
    )


def _is_handed_on(tracer: Tracer, name: str) -> bool:
    """Whether a call of a library is given what has this name, or unpacks it."""
    project = tracer.resolver.project
    for file in project.mentioning(name):
        for module in project.programs(file):
            for call in module.nodes.get(ast.Call, ()):
                assert isinstance(call, ast.Call)
                given = (*call.args, *(keyword.value for keyword in call.keywords))
                if any(isinstance(part, ast.Name) and part.id == name for one in given for part in ast.walk(one)):
                    entities = tracer.resolver.resolve(module, call.func)
                    roots = {one.name.partition(".")[0] for one in entities if isinstance(one, External)}
                    if not entities or roots - sys.stdlib_module_names:
                        return True
    return False
