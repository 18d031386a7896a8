"""Values of tables in programs under keys that nothing looks up: ``{"dist_config": {"dist_backend": "nccl"}}`` of a copied model."""

from __future__ import annotations

import ast
import sys

from ddp_codemod.dataflow.calls import find_names
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.ledger.unread_keys import index_nodes_by_name, keys_of
from ddp_codemod.ledger.unread_options import find_calls_given
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.entities import External


def is_in_unread_table(tracer: Tracer, module: Module, node: ast.expr) -> bool:
    """Whether a value is in a table under a key that no program mentions, of a table under a name that no library is handed."""
    tables: list[str] = []
    below: ast.AST = node
    for around in module.ancestors(node):
        if isinstance(around, ast.Dict) and below in keys_of(module, around):
            key = keys_of(module, around)[below]
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
    """Whether a program speaks of a key, other than to put something under it in a table; asked once for each."""
    project = tracer.resolver.project
    known: dict[str, bool] = tracer.memory.setdefault("keys looked up", {})
    if key not in known:
        nodes = (
            (module.parents[node], node)
            for file in project.mentioning(key)
            for module in project.programs(file)
            for node in index_nodes_by_name(module).get(key, ())
        )
        known[key] = any(not isinstance(around, ast.Dict) or node not in around.keys for around, node in nodes)
    return known[key]


def _is_handed_on(tracer: Tracer, name: str) -> bool:
    """Whether a call of a library is passed what has this name, or unpacks it; asked once for each."""
    project = tracer.resolver.project
    known: dict[str, bool] = tracer.memory.setdefault("tables handed on", {})
    if name not in known:
        calls = (
            (module, call)
            for file in project.mentioning(name)
            for module in project.programs(file)
            for call in find_calls_given(module, find_names(module, name))
        )
        known[name] = any(_may_read(tracer, module, call) for module, call in calls)
    return known[name]


def _may_read(tracer: Tracer, module: Module, call: ast.Call) -> bool:
    entities = tracer.resolver.resolve(module, call.func)
    roots = {one.name.partition(".")[0] for one in entities if isinstance(one, External)}
    return not entities or bool(roots - sys.stdlib_module_names)
