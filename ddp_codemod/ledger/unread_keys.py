"""Values under keys that nobody reads: no program mentions them, or only as parameters that are not read."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Container, Iterable, Iterator
from itertools import islice

from ddp_codemod.dataflow.config_keys import OTHERS
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.ledger.unread_parameters import is_parameter_read
from ddp_codemod.parse.document import Document, Entry
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.sites.entities import External
from ddp_codemod.sites.key_path_uses import is_settings
from ddp_codemod.sites.project import Project
from ddp_codemod.sites.scopes import bindings, owner_scope, scope_of
from ddp_codemod.sites.word_search import find_whole_words

_JSON = ".json"  # a format that libraries seldom take: the project's own programs read it
_WHOLE = ""  # all that a file holds
_DEFS = (ast.FunctionDef, ast.AsyncFunctionDef)


def is_unread_setting(tracer: Tracer, module: Module, node: ast.expr) -> bool:
    """Whether a value of a file of settings is under a key, or in a variable, that no program mentions."""
    project = tracer.resolver.project
    calls = (around for around in module.ancestors(node) if isinstance(around, ast.Call))
    held = all(
        isinstance(call.func, ast.Name) and call.func.id == "dict" for call in calls
    )  # what is handed to others, they read
    return (
        held
        and _is_only_settings(project, module)
        and _is_some_key_unmentioned(tracer, module.name, _iterate_keys_around(module, node))
    )


def is_unread_attribute(tracer: Tracer, module: Module, node: ast.expr) -> bool:
    """Whether a value is passed to an attribute that nothing else mentions, of an object that the file makes (``_C = CfgNode()``)."""
    statement = module.statement(node)
    if not isinstance(statement, ast.Assign) or statement.value is not node or len(statement.targets) != 1:
        return False
    target: ast.expr = statement.targets[0]
    if not isinstance(target, ast.Attribute):
        return False
    attribute = target.attr
    while isinstance(target, ast.Attribute):
        target = target.value
    home = owner_scope(module, scope_of(module, target), target.id) if isinstance(target, ast.Name) else None
    result = bindings(module, home).get(target.id, ()) if home is not None and isinstance(target, ast.Name) else ()
    own = bool(result) and all(isinstance(binding.value, ast.Call) for binding in result)
    return own and not _is_mentioned(tracer, module.name, attribute)


def is_unread_field(tracer: Tracer, module: Module, node: ast.expr, bases: Container[str]) -> bool:
    """Whether a value is the default of a field that nothing else mentions, of a class that only holds settings."""
    statement, around = module.statement(node), module.parents[module.statement(node)]
    if not isinstance(statement, ast.AnnAssign) or statement.value is not node or not isinstance(statement.target, ast.Name):
        return False
    if not isinstance(around, ast.ClassDef) or _is_mentioned(tracer, module.name, statement.target.id):
        return False
    lineage = list(tracer.resolver.lineage(module, around))
    above = [entity for home, one in lineage for base in one.bases for entity in tracer.resolver.resolve(home, base)]
    whole = sum(len(one.bases) for _, one in lineage) <= len(above)
    outside = [entity.name for entity in above if isinstance(entity, External)]
    return whole and all(name in bases or name.partition(".")[0] in sys.stdlib_module_names for name in outside)


def is_unread_entry(tracer: Tracer, document: Document, entry: Entry, sayers: Container[str]) -> bool:
    """Whether a value of a JSON file is one that no program reads.

    Those that read its key read other files; or it is in a table whose key no program mentions, or under a key that only unread
    parameters have.
    """
    if not document.name.endswith(_JSON):
        return False
    if (document, entry) in tracer.memory.get(OTHERS, ()):
        return True  # whoever reads this key reads other files
    if entry.path:
        known: dict[str, bool] = tracer.memory.setdefault("unread keys", {})  # a key may be in thousands of tables
        key = entry.path[-1]
        if key not in known:
            known[key] = _is_for_unread(tracer, key, sayers)
        if known[key]:
            return True
    handed = _find_handed_on(tracer, document.name.rpartition("/")[2], sayers)
    if _WHOLE in handed or not handed.isdisjoint(entry.path):
        return False
    return _is_some_key_unmentioned(tracer, document.name, entry.path[:-1])


def _find_handed_on(tracer: Tracer, file: str, sayers: Container[str]) -> frozenset[str]:
    """What a library may be handed of what a file holds: all of it, or the tables under these keys.

    A command names it, or a program does that gives something unpacked to a library.
    """
    project, known = tracer.resolver.project, tracer.memory.setdefault("files handed on", {})
    if file not in known:
        naming = (name for name in project.names if file.encode() in project.data(name))
        programs = (module for name in naming for module in project.programs(name))
        parts = frozenset({part for module in programs for part in _find_given_parts(tracer, module, file, sayers)})
        known[file] = parts | frozenset({_WHOLE for script in project.scripts("") if file in script.source.text})
    return known[file]  # type: ignore[no-any-return]


def _find_given_parts(tracer: Tracer, module: Module, file: str, sayers: Container[str]) -> Iterator[str]:
    """What a program that names a file gives to libraries: what the name stands for, or unpacked mappings, by their keys."""
    for call in module.nodes.get(ast.Call, ()):
        assert isinstance(call, ast.Call)
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        named = any(isinstance(one, ast.Constant) and isinstance(one.value, str) and file in one.value for one in given)
        unpacked = [part for keyword in call.keywords if keyword.arg is None for part in _list_table_keys(module, keyword.value)]
        if (named or unpacked) and last_name(call.func) not in sayers:
            roots = {
                one.name.partition(".")[0] for one in tracer.resolver.resolve(module, call.func) if isinstance(one, External)
            }
            if roots - sys.stdlib_module_names:
                yield from [_WHOLE] if named else unpacked


def _list_table_keys(module: Module, mapping: ast.expr) -> list[str]:
    """The key of the table that is unpacked: ``**config.model``, ``**config["model"]``; none where no file can be in it."""
    if isinstance(mapping, ast.Attribute):
        return [mapping.attr]
    key = mapping.slice.value if isinstance(mapping, ast.Subscript) and isinstance(mapping.slice, ast.Constant) else None
    if isinstance(mapping, ast.Name) and isinstance(home := owner_scope(module, scope_of(module, mapping), mapping.id), _DEFS):
        if home.args.kwarg is not None and home.args.kwarg.arg == mapping.id:
            return []  # what a caller gives by name
    return [] if isinstance(mapping, ast.Dict) else [key if isinstance(key, str) else _WHOLE]


def _is_for_unread(tracer: Tracer, key: str, sayers: Container[str]) -> bool:
    """Whether all that has this name in the project's programs are parameters that are not read, and what belongs to others."""
    found = False
    project = tracer.resolver.project
    for module in (module for name in project.mentioning(key) for module in project.programs(name)):
        for node in index_nodes_by_name(module).get(key, ()):
            if isinstance(node, ast.arg):
                around = module.parents[module.parents[node]]
                if not isinstance(around, _DEFS) or is_parameter_read(tracer, module, around, key, sayers, 0):
                    return False
                found = True
            elif isinstance(node, ast.Attribute):
                if not any(isinstance(one, External) for one in tracer.resolver.resolve(module, node)):
                    return False
            elif isinstance(node, ast.Name):
                home = owner_scope(module, scope_of(module, node), key)
                if home is None or not any(binding.kind == "parameter" for binding in bindings(module, home)[key]):
                    return False  # what reads a parameter was asked about with it
            else:
                return False  # a text, or what a call is passed by this name
    return found


def index_nodes_by_name(module: Module) -> dict[str, list[ast.AST]]:
    """The parameters, attributes, names, texts and keywords of a file, by what they say."""
    if "nodes-by-name" not in module.cache:
        table: dict[str, list[ast.AST]] = {}
        for node in (node for nodes in module.nodes.values() for node in nodes):
            said = {getattr(node, field, None) for field in ("arg", "attr", "id", "value")}
            for text in said:
                if isinstance(text, str):
                    table.setdefault(text, []).append(node)
        module.cache["nodes-by-name"] = table
    return module.cache["nodes-by-name"]  # type: ignore[return-value]


def _is_only_settings(project: Project, module: Module) -> bool:
    """Whether a file gives names their values, and calls nothing but what Python itself or the project supplies."""
    if "only-settings" not in module.cache:
        ours = _list_project_names(project, module) if is_settings(module) else set()
        calls = (node for node in module.nodes.get(ast.Call, ()) if isinstance(node, ast.Call))
        module.cache["only-settings"] = is_settings(module) and all(
            _is_python_builtin(call.func) or _get_id(call.func) in ours for call in calls
        )
    return bool(module.cache["only-settings"])


def _list_project_names(project: Project, module: Module) -> set[str]:
    """The names that a file imports from the project."""
    found: set[str] = set()
    folder = module.name.rpartition("/")[0] or "."
    for node in module.nodes.get(ast.ImportFrom, ()):
        assert isinstance(node, ast.ImportFrom)
        if project.file("." * node.level + (node.module or ""), folder) is not None:
            found |= {alias.asname or alias.name for alias in node.names}
    return found


def _get_id(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _is_python_builtin(callee: ast.expr) -> bool:
    root = callee
    while isinstance(root, ast.Attribute):
        root = root.value
    if isinstance(root, ast.Constant):
        return True  # "{}".format(...)
    name = root.id if isinstance(root, ast.Name) else ""
    return hasattr(builtins, name) if root is callee else name == "__file__" or name in sys.stdlib_module_names


def _iterate_keys_around(module: Module, node: ast.expr) -> Iterator[str]:
    below: ast.AST = node
    for around in module.ancestors(node):
        if isinstance(around, ast.keyword) and around.arg:
            yield around.arg
        elif isinstance(around, ast.Dict):
            key = keys_of(module, around).get(below)
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value
        elif isinstance(around, ast.Assign):
            yield from (target.id for target in around.targets if isinstance(target, ast.Name))
        below = around


def keys_of(module: Module, display: ast.Dict) -> dict[ast.AST, ast.expr | None]:
    """The keys of a display by its values."""
    if ("keys", display) not in module.cache:
        module.cache["keys", display] = dict(zip(display.values, display.keys, strict=True))
    return module.cache["keys", display]  # type: ignore[return-value]


def _is_some_key_unmentioned(tracer: Tracer, home: str, keys: Iterable[str]) -> bool:
    project, memory = tracer.resolver.project, tracer.memory
    if not any(key.isidentifier() and not _is_mentioned(tracer, home, key) for key in keys):
        return False
    if "some program" not in memory:  # where none is, somebody else's reads the file
        programs = (module for name in project.names for module in project.programs(name)[:1])
        memory["some program"] = any(not _is_only_settings(project, module) for module in programs)
    return bool(memory["some program"])


def _is_mentioned(tracer: Tracer, home: str, key: str) -> bool:
    """Whether a program speaks of a key, or the file that has it does so a second time; asked once for each."""
    known: dict[tuple[str, str], bool] = tracer.memory.setdefault("mentioned keys", {})
    if (home, key) not in known:
        known[home, key] = _is_mentioned_in_project(tracer.resolver.project, home, key)
    return known[home, key]


def _is_mentioned_in_project(project: Project, home: str, key: str) -> bool:
    for name in project.mentioning(key):
        if name == home:
            if len(list(islice(find_whole_words(project.data(name), key.encode()), 2))) > 1:
                return True
        elif any(not _is_only_settings(project, module) for module in project.programs(name)):
            return True
    return False
