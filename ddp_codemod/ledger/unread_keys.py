"""Values under keys that nobody reads: no program mentions them, or only as parameters that are not read."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Container, Iterable, Iterator

from ddp_codemod.ledger.unread import reads
from ddp_codemod.origins.trace import Tracer
from ddp_codemod.parse.document import Document, Entry
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.keyed import is_settings
from ddp_codemod.sites.project import Project
from ddp_codemod.sites.resolve import External
from ddp_codemod.sites.scopes import bindings, owner, scope_of
from ddp_codemod.sites.words import whole

_JSON = ".json"  # a format that libraries seldom take: the project's own programs read it
_DEFS = (ast.FunctionDef, ast.AsyncFunctionDef)


def is_unread_setting(project: Project, module: Module, node: ast.expr) -> bool:
    """Whether a value of a file of settings stands under a key, or in a variable, that no program mentions."""
    calls = (around for around in module.ancestors(node) if isinstance(around, ast.Call))
    held = all(
        isinstance(call.func, ast.Name) and call.func.id == "dict" for call in calls
    )  # what is handed to others, they read
    return held and _only_settings(project, module) and _some_unmentioned(project, module.name, _keys_of(module, node))


def is_unread_entry(tracer: Tracer, document: Document, entry: Entry, sayers: Container[str]) -> bool:
    """Whether a value of a JSON file stands in a table whose key no program mentions, or under one that only unread parameters have."""
    project, own = tracer.resolver.project, document.name.rpartition("/")[2].encode()
    if document.name.endswith(_JSON) and entry.path and _is_for_unread(tracer, entry.path[-1], sayers):
        return True
    if not document.name.endswith(_JSON) or any(own in project.data(name) for name in project.names):
        return False  # a file that a program names may be handed to a library
    return _some_unmentioned(project, document.name, entry.path[:-1])


def _is_for_unread(tracer: Tracer, key: str, sayers: Container[str]) -> bool:
    """Whether all that has this name in the project's programs are parameters that are not read, and what belongs to others."""
    found = False
    for module in (
        module for name in tracer.resolver.project.mentioning(key) for module in tracer.resolver.project.programs(name)
    ):
        for node in ast.walk(module.tree):
            if isinstance(node, ast.arg) and node.arg == key:
                around = module.parents[module.parents[node]]
                if not isinstance(around, _DEFS) or reads(tracer, module, around, key, sayers, 0):
                    return False
                found = True
            elif isinstance(node, ast.Attribute) and node.attr == key:
                if not any(isinstance(one, External) for one in tracer.resolver.resolve(module, node)):
                    return False
            elif isinstance(node, ast.Name) and node.id == key:
                home = owner(module, scope_of(module, node), key)
                if home is None or not any(binding.kind == "parameter" for binding in bindings(module, home)[key]):
                    return False  # what reads a parameter was asked about with it
            elif getattr(node, "value", None) == key or getattr(node, "arg", None) == key:
                return False
    return found


def _only_settings(project: Project, module: Module) -> bool:
    """Whether a file gives names their values, and calls nothing but what Python itself or the project brings."""
    calls = (node for node in module.nodes.get(ast.Call, ()) if isinstance(node, ast.Call))
    return is_settings(module) and all(_is_pythons(call.func) or _id(call.func) in _ours(project, module) for call in calls)


def _ours(project: Project, module: Module) -> set[str]:
    """The names that a file imports from the project."""
    found: set[str] = set()
    folder = module.name.rpartition("/")[0] or "."
    for node in module.nodes.get(ast.ImportFrom, ()):
        assert isinstance(node, ast.ImportFrom)
        if project.file("." * node.level + (node.module or ""), folder) is not None:
            found |= {alias.asname or alias.name for alias in node.names}
    return found


def _id(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _is_pythons(callee: ast.expr) -> bool:
    root = callee
    while isinstance(root, ast.Attribute):
        root = root.value
    if isinstance(root, ast.Constant):
        return True  # "{}".format(...)
    name = root.id if isinstance(root, ast.Name) else ""
    return hasattr(builtins, name) if root is callee else name == "__file__" or name in sys.stdlib_module_names


def _keys_of(module: Module, node: ast.expr) -> Iterator[str]:
    below: ast.AST = node
    for around in module.ancestors(node):
        if isinstance(around, ast.keyword) and around.arg:
            yield around.arg
        elif isinstance(around, ast.Dict) and isinstance(below, ast.expr) and below in around.values:
            key = around.keys[around.values.index(below)]
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value
        elif isinstance(around, ast.Assign):
            yield from (target.id for target in around.targets if isinstance(target, ast.Name))
        below = around


def _some_unmentioned(project: Project, home: str, keys: Iterable[str]) -> bool:
    unmentioned = any(key.isidentifier() and not _is_mentioned(project, home, key) for key in keys)
    # where no program is, somebody else's reads the file
    return unmentioned and any(
        not _only_settings(project, module) for name in project.names for module in project.programs(name)[:1]
    )


def _is_mentioned(project: Project, home: str, key: str) -> bool:
    """Whether a program speaks of a key, or the file that has it does so a second time."""
    for name in project.mentioning(key):
        if name == home:
            if sum(1 for _ in whole(project.data(name), key.encode())) > 1:
                return True
        elif any(not _only_settings(project, module) for module in project.programs(name)):
            return True
    return False
