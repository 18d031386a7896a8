"""Values that nobody reads: overwritten, or for parameters that their functions do not read."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator

from ddp_codemod.dataflow.calls import Def, find_default, find_names, find_parameter, is_bound_method, is_read
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.sites.entities import Definition
from ddp_codemod.sites.scopes import FUNCTIONS, owner_scope, scope_of

_DEEPEST = 4  # functions that a parameter is passed on to
_BY_ALL_NAMES = frozenset({"eval", "exec", "locals", "save_hyperparameters", "vars"})
_PLAIN = ("classmethod", "staticmethod")


def is_for_unread_parameter(tracer: Tracer, module: Module, node: ast.expr, sayers: Container[str], depth: int = 0) -> bool:
    """Whether an expression is the default of a parameter that its function does not read, or what a call passes for one."""
    found = list(_find_parameters(tracer, module, node))
    return bool(found) and not any(is_parameter_read(tracer, *parameter, sayers, depth) for parameter in found)


def _find_parameters(tracer: Tracer, module: Module, node: ast.expr) -> Iterator[tuple[Module, Def, str]]:
    """The project's parameters that an expression is for."""
    around = module.parents[node]
    if isinstance(around, ast.arguments):
        function = module.parents[around]
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for argument in (*around.posonlyargs, *around.args, *around.kwonlyargs):
                if find_default(function, argument.arg) is node:
                    yield module, function, argument.arg
        return
    keyword = around.arg if isinstance(around, ast.keyword) else None
    call = module.parents[around] if isinstance(around, ast.keyword) else around
    if not isinstance(call, ast.Call) or node is call.func or (isinstance(around, ast.keyword) and keyword is None):
        return
    position = call.args.index(node) if node in call.args else None
    for entity in tracer.resolver.resolve(module, call.func):
        if isinstance(entity, Definition) and not isinstance(entity.node, ast.ClassDef):
            skip = int(is_bound_method(entity.module, entity.node))
            if (name := find_parameter(entity.node, keyword, position, skip)) is not None:
                yield entity.module, entity.node, name


def is_only_compared(module: Module, node: ast.expr) -> bool:
    """Whether an expression is assigned to a name of a function that is read in comparisons alone."""
    statement, below = module.statement(node), node
    while isinstance(around := module.parents[below], ast.IfExp) and below is not around.test:
        below = around
    if not isinstance(statement, ast.Assign) or statement.value is not below or len(statement.targets) != 1:
        return False
    target = statement.targets[0]
    if not isinstance(target, ast.Name) or not isinstance(
        home := owner_scope(module, scope_of(module, target), target.id), FUNCTIONS
    ):
        return False
    names = [name for name in find_names(module, target.id) if owner_scope(module, scope_of(module, name), name.id) is home]
    read = [name for name in names if isinstance(name.ctx, ast.Load)]
    return bool(read) and all(isinstance(module.parents[name], (ast.Compare, ast.FormattedValue)) for name in read)


def is_only_printed(tracer: Tracer, module: Module, node: ast.expr, sayers: Container[str]) -> bool:
    """Whether an expression is printed, or handed to a call that only looks at a text."""
    below: ast.AST = node
    for around in module.ancestors(node):
        if isinstance(around, ast.Call):
            name, entities = last_name(around.func), tracer.resolver.resolve(module, around.func)
            said = name in sayers or any(dotted in sayers for dotted in tracer.resolver.names(module, around.func))
            if not said or below not in around.args or any(isinstance(one, Definition) for one in entities):
                return False
            return name != "getattr" or below is around.args[1]
        if not isinstance(around, (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.JoinedStr, ast.FormattedValue)):
            return False
        below = around
    return False


def is_parameter_read(tracer: Tracer, module: Module, function: Def, name: str, sayers: Container[str], depth: int) -> bool:
    """Whether a function reads a parameter before it sets it, other than to print it or to hand it to one that is not read."""
    return (
        depth > _DEEPEST
        or _may_read_unseen(tracer, module, function)
        or any(
            isinstance(node.ctx, ast.Load)
            and owner_scope(module, scope_of(module, node), name) is function
            and not _is_set_before(module, function, node)
            and not is_only_printed(tracer, module, node, sayers)
            and not is_for_unread_parameter(tracer, module, node, sayers, depth + 1)
            for node in find_names(module, name)
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
    home = owner_scope(module, scope_of(module, target), target.id)
    if isinstance(home, ast.ClassDef):
        return False
    key = ("values that are read", home, target.id)
    if key not in module.cache:
        module.cache[key] = _find_read_values(tracer, module, home, target.id)
    held: set[ast.AST | None] | None = module.cache[key]  # type: ignore[assignment]
    return held is not None and node not in held


def _find_read_values(tracer: Tracer, module: Module, home: ast.AST | None, name: str) -> set[ast.AST | None] | None:
    """What those that read a name of this file can read; None where it is not known who does, or nobody does."""
    read = [one for one in find_names(module, name) if is_read(module, one)]
    read = [one for one in read if owner_scope(module, scope_of(module, one), one.id) is home]
    taken = isinstance(home, ast.Module) and len(tracer.resolver.project.mentioning(name)) > 1
    return {result.value for one in read for result in tracer.facts.definitions(module, one)} if read and not taken else None
