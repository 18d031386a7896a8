"""Values that nobody reads: overwritten, for parameters that their functions do not read, under keys that no program mentions."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Container, Iterable, Iterator

from ddp_codemod.origins.calls import Def, bound_method, default_of, is_read, names_of, parameter_for
from ddp_codemod.origins.trace import Tracer
from ddp_codemod.parse.document import Document, Entry
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.sites.keyed import is_settings
from ddp_codemod.sites.project import Project
from ddp_codemod.sites.resolve import Definition
from ddp_codemod.sites.scopes import owner, scope_of
from ddp_codemod.sites.words import whole

_DEEPEST = 4  # functions that a parameter is handed on to
_BY_ALL_NAMES = frozenset({"eval", "exec", "locals", "save_hyperparameters", "vars"})
_PLAIN = ("classmethod", "staticmethod")
_JSON = ".json"  # a format that libraries seldom take: the project's own programs read it


def is_for_unread_parameter(tracer: Tracer, module: Module, node: ast.expr, sayers: Container[str], depth: int = 0) -> bool:
    """Whether an expression is the default of a parameter that its function does not read, or what a call passes for one."""
    found = list(_parameters(tracer, module, node))
    return bool(found) and not any(_reads(tracer, *parameter, sayers, depth) for parameter in found)


def _parameters(tracer: Tracer, module: Module, node: ast.expr) -> Iterator[tuple[Module, Def, str]]:
    """The project's parameters that an expression is for."""
    around = module.parents[node]
    if isinstance(around, ast.arguments):
        function = module.parents[around]
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for argument in (*around.posonlyargs, *around.args, *around.kwonlyargs):
                if default_of(function, argument.arg) is node:
                    yield module, function, argument.arg
        return
    keyword = around.arg if isinstance(around, ast.keyword) else None
    call = module.parents[around] if isinstance(around, ast.keyword) else around
    if not isinstance(call, ast.Call) or node is call.func or (isinstance(around, ast.keyword) and keyword is None):
        return
    position = call.args.index(node) if node in call.args else None
    for entity in tracer.resolver.resolve(module, call.func):
        if isinstance(entity, Definition) and not isinstance(entity.node, ast.ClassDef):
            skip = int(bound_method(entity.module, entity.node))
            if (name := parameter_for(entity.node, keyword, position, skip)) is not None:
                yield entity.module, entity.node, name


def is_said(tracer: Tracer, module: Module, node: ast.expr, sayers: Container[str]) -> bool:
    """Whether an expression is printed, or handed to a call that only looks at a text."""
    below: ast.AST = node
    for around in module.ancestors(node):
        if isinstance(around, ast.Call):
            name, entities = last_name(around.func), tracer.resolver.resolve(module, around.func)
            if name not in sayers or below not in around.args or any(isinstance(one, Definition) for one in entities):
                return False
            return name != "getattr" or below is around.args[1]
        if not isinstance(around, (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.JoinedStr, ast.FormattedValue)):
            return False
        below = around
    return False


def _reads(tracer: Tracer, module: Module, function: Def, name: str, sayers: Container[str], depth: int) -> bool:
    """Whether a function reads a parameter before it sets it, other than to print it or to hand it to one that is not read."""
    return (
        depth > _DEEPEST
        or _may_read_unseen(tracer, module, function)
        or any(
            isinstance(node.ctx, ast.Load)
            and owner(module, scope_of(module, node), name) is function
            and not _is_set_before(module, function, node)
            and not is_said(tracer, module, node, sayers)
            and not is_for_unread_parameter(tracer, module, node, sayers, depth + 1)
            for node in names_of(module).get(name, ())
        )
    )


def _may_read_unseen(tracer: Tracer, module: Module, function: Def) -> bool:
    """Whether a function may read its parameters without their names, or another function runs in its place."""
    words = {
        part.id if isinstance(part, ast.Name) else part.attr
        for part in ast.walk(function)
        if isinstance(part, (ast.Name, ast.Attribute))
    }
    if words & _BY_ALL_NAMES or any(last_name(one) not in _PLAIN for one in function.decorator_list):
        return True
    around = module.parents.get(function)
    classes = [base for _, base in tracer.resolver.subclasses(around)] if isinstance(around, ast.ClassDef) else []
    return any(
        isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)) and part.name == function.name
        for base in classes
        for part in base.body
    )


def _is_set_before(module: Module, function: Def, reading: ast.Name) -> bool:
    """Whether a statement of the function's own block above a reading sets the name."""
    around = {reading, *module.ancestors(reading)}
    above = [part for part in function.body if part.end_lineno < reading.lineno and part not in around]  # type: ignore[operator]
    targets = [target for part in above if isinstance(part, ast.Assign) for target in part.targets]
    return any(isinstance(target, ast.Name) and target.id == reading.id for target in targets)


def is_overwritten(tracer: Tracer, module: Module, node: ast.expr) -> bool:
    """Whether an expression is all that a name of this file is set to, and is replaced before anybody reads the name."""
    statement = module.parents[node]
    targets = statement.targets if isinstance(statement, ast.Assign) and statement.value is node else []
    target = targets[0] if len(targets) == 1 else None
    if not isinstance(target, ast.Name):
        return False
    home = owner(module, scope_of(module, target), target.id)
    if isinstance(home, ast.ClassDef):
        return False
    key = ("values that are read", home, target.id)
    if key not in module.cache:
        module.cache[key] = _values_read(tracer, module, home, target.id)
    held: set[ast.AST | None] | None = module.cache[key]  # type: ignore[assignment]
    return held is not None and node not in held


def _values_read(tracer: Tracer, module: Module, home: ast.AST | None, name: str) -> set[ast.AST | None] | None:
    """What those that read a name of this file can read; None where it is not known who does, or nobody does."""
    read = [one for one in names_of(module).get(name, ()) if is_read(module, one)]
    read = [one for one in read if owner(module, scope_of(module, one), one.id) is home]
    taken = isinstance(home, ast.Module) and len(tracer.resolver.project.mentioning(name)) > 1
    return {made.value for one in read for made in tracer.facts.definitions(module, one)} if read and not taken else None


def is_unread_setting(project: Project, module: Module, node: ast.expr) -> bool:
    """Whether a value of a file of settings stands under a key, or in a variable, that no program mentions."""
    calls = (around for around in module.ancestors(node) if isinstance(around, ast.Call))
    held = all(
        isinstance(call.func, ast.Name) and call.func.id == "dict" for call in calls
    )  # what is handed to others, they read
    return held and _only_settings(project, module) and _some_unmentioned(project, module.name, _keys_of(module, node))


def is_unread_entry(project: Project, document: Document, entry: Entry) -> bool:
    """Whether a value of a JSON file stands in a table whose key no program mentions."""
    own = document.name.rpartition("/")[2].encode()
    if not document.name.endswith(_JSON) or any(own in project.data(name) for name in project.names):
        return False  # a file that a program names may be handed to a library
    return _some_unmentioned(project, document.name, entry.path[:-1])


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
