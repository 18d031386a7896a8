"""Python's scopes: which statement binds a name, as the language reference has it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Union

from msgspec import Struct

from ddp_codemod.parse.newer_nodes import TypeAlias
from ddp_codemod.parse.nodes import Kinds
from ddp_codemod.parse.python import Module

Function = Union[ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda]
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
SELF = ("self", "cls")  # what a method calls its object, or its class
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
SCOPES = (ast.Module, ast.ClassDef, *FUNCTIONS, *COMPREHENSIONS)
_SCOPED = Kinds(*SCOPES)
_SILENT = Kinds(ast.Expr, ast.If, ast.Return, ast.Assert, ast.Raise, ast.Pass)  # they bind no name by themselves


class Binding(Struct, frozen=True):
    """One way in which a scope gives a name a value.

    kind: import, value (``value`` is the expression), unpack (``value`` and ``path`` into it), parameter, function, class,
    or other (loop target, with, except, augmented assignment, deletion, star import): a value that is not followed.
    """

    name: str
    kind: str
    node: ast.AST  # the statement, or the argument
    value: ast.expr | None = None
    path: tuple[int, ...] = ()
    module: str = ""  # import: dotted module, with its leading dots where relative
    member: str = ""  # from-import: the name taken from it; "*" for all


def scope_of(module: Module, node: ast.AST) -> ast.AST:
    """The scope whose names an expression or statement sees first; remembered by statements, of which there are few."""
    known, at, statement = module.scopes, node, None
    while (found := known.get(at)) is None:
        if statement is None and isinstance(at, ast.stmt):
            statement = at
        parent = getattr(at, "parent", None)  # as ``module.parents`` has it: asked for each name
        if isinstance(parent, ast.comprehension) and at is not parent.iter:
            found = module.parents[parent]  # its target and its conditions belong to the comprehension, whichever part it is
            break
        if parent is None or (_SCOPED[type(parent)] and _is_evaluated_in(parent, at)):
            found = parent or module.tree
            break
        at = parent
    if statement is not None:
        known[statement] = found
    return found


def _is_evaluated_in(scope: ast.AST, child: ast.AST) -> bool:
    """Whether a direct child of a scope node is evaluated in it, not in the scope around it."""
    if isinstance(scope, ast.Lambda):
        return child is scope.body
    if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return child in scope.body
    if isinstance(scope, ast.ClassDef):
        return child in scope.body
    if isinstance(scope, COMPREHENSIONS):
        return child is not scope.generators[0] or not isinstance(child, ast.comprehension)
    return True


def enclosing_scopes(module: Module, scope: ast.AST) -> Iterator[ast.AST]:
    """The scopes around a scope that its names fall back to: class bodies are omitted."""
    at = scope
    while not isinstance(at, ast.Module):
        at = scope_of(module, at)
        if not isinstance(at, ast.ClassDef):
            yield at


def bindings(module: Module, scope: ast.AST) -> dict[str, list[Binding]]:
    """All bindings of a scope by name, in source order; worked out once per scope."""
    key = ("bindings", scope)
    found = module.own.get(key)
    if found is None:
        table: dict[str, list[Binding]] = {}
        for binding in _collect_bindings(module, scope):
            if binding.name in table:
                table[binding.name].append(binding)
            else:
                table[binding.name] = [binding]  # mostly the only one: a list that grows takes room for four
        found = module.own[key] = table
    return found  # type: ignore[return-value]


def owner_scope(module: Module, scope: ast.AST, name: str) -> ast.AST | None:
    """The scope that a name used in ``scope`` belongs to; None for a builtin or a name bound by a star import."""
    known: dict[str, ast.AST | None] = module.own.setdefault(("owners", scope), {})  # type: ignore[assignment]
    if name not in known:
        known[name] = _find_owner_scope(module, scope, name)
    return known[name]


def _find_owner_scope(module: Module, scope: ast.AST, name: str) -> ast.AST | None:
    for at in (scope, *enclosing_scopes(module, scope)):
        if isinstance(at, FUNCTIONS) and name in _declared_names(module, at, ast.Global):
            return module.tree
        if name in bindings(module, at) and name not in _declared_names(module, at, ast.Nonlocal):
            return at
    return None


def lasting_bindings(module: Module, scope: ast.AST, name: str) -> list[Binding]:
    """The bindings of a name that can last: none that an unconditional one of the same scope comes after."""
    made = bindings(module, scope).get(name, [])
    for index in range(len(made) - 1, 0, -1):
        if module.parents.get(made[index].node) is scope and made[index].kind != "other":
            return made[index:]
    return made


def bindings_from_inside(module: Module, home: ast.AST, name: str) -> list[Binding]:
    """The bindings of a scope's name that functions inside make: of a module's by ``global``, of a function's by ``nonlocal``."""
    kind: type[ast.Global] | type[ast.Nonlocal] = ast.Global if isinstance(home, ast.Module) else ast.Nonlocal
    found: list[Binding] = []
    for declared in module.nodes.get(kind, ()):
        if isinstance(declared, kind) and name in declared.names:
            scope = scope_of(module, declared)
            if kind is ast.Global or owner_scope(module, scope, name) is home:
                found += [made for made in bindings(module, scope).get(name, ()) if made.kind != "parameter"]
    return list(dict.fromkeys(found))


def _declared_names(module: Module, scope: ast.AST, kind: type[ast.Global] | type[ast.Nonlocal]) -> set[str]:
    if kind not in module.nodes:
        return set()
    key = (kind, scope)
    if key not in module.own:
        module.own[key] = {name for node in _walk_scope(module, scope) if isinstance(node, kind) for name in node.names}
    return module.own[key]  # type: ignore[return-value]


def _walk_scope(module: Module, scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a scope that can bind a name, without those of the scopes inside it (their defaults and decorators belong here).

    Expressions can where they hold a walrus; the others are passed over.
    """
    binding = _ancestors_of_walruses(module)
    if not binding:
        yield from _walk_statements(scope)
        return
    if isinstance(scope, ast.Lambda):
        todo: list[ast.AST] = [scope.body]
    elif isinstance(scope, COMPREHENSIONS):
        todo = [child for child in ast.iter_child_nodes(scope) if not isinstance(child, ast.comprehension)]
        todo += [part for made in scope.generators for part in (made.target, *made.ifs)]
        todo += [made.iter for made in scope.generators[1:]]
    else:
        todo = list(reversed(scope.body))  # type: ignore[attr-defined]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.expr) and node not in binding:
            continue
        yield node
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            inner: list[ast.AST] = [*node.decorator_list, *node.args.defaults, *(d for d in node.args.kw_defaults if d)]
        elif isinstance(node, ast.ClassDef):
            inner = [*node.decorator_list, *node.bases, *node.keywords]
        elif isinstance(node, ast.Lambda):
            inner = [*node.args.defaults, *(d for d in node.args.kw_defaults if d)]
        elif isinstance(node, COMPREHENSIONS):
            inner = [node.generators[0].iter]
            inner += [walrus for walrus in ast.walk(node) if isinstance(walrus, ast.NamedExpr)]
        else:
            inner = list(ast.iter_child_nodes(node))
        todo.extend(reversed(inner))


def _walk_statements(scope: ast.AST) -> Iterator[ast.AST]:
    """The statements of a scope with the patterns in them, without those of the scopes inside it."""
    if isinstance(scope, (ast.Lambda, *COMPREHENSIONS)):
        return
    todo: list[ast.AST] = list(reversed(scope.body))  # type: ignore[attr-defined]
    while todo:
        node = todo.pop()
        yield node
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        if isinstance(node, (ast.match_case, ast.pattern)):
            todo += [part for part in reversed(list(ast.iter_child_nodes(node))) if not isinstance(part, ast.expr)]
            continue
        for name in ("cases", "finalbody", "orelse", "handlers", "body"):
            if suite := getattr(node, name, None):
                todo.extend(reversed(suite))


def _ancestors_of_walruses(module: Module) -> set[ast.AST]:
    if "walruses" not in module.own:
        found = module.nodes.get(ast.NamedExpr, ())
        module.own["walruses"] = {node for walrus in found for node in (walrus, *module.ancestors(walrus))}
    return module.own["walruses"]  # type: ignore[return-value]


def _collect_bindings(module: Module, scope: ast.AST) -> Iterator[Binding]:
    if isinstance(scope, FUNCTIONS):
        arguments = scope.args
        for argument in (*arguments.posonlyargs, *arguments.args, arguments.vararg, *arguments.kwonlyargs, arguments.kwarg):
            if argument is not None:
                yield Binding(argument.arg, "parameter", argument)
    if isinstance(scope, COMPREHENSIONS):
        for made in scope.generators:
            yield from _bind_targets(made.target, None, made, ())
    for node in _walk_scope(module, scope):
        if not _SILENT[type(node)]:
            yield from bindings_of_statement(node)


def bindings_of_statement(node: ast.AST) -> Iterator[Binding]:
    """The bindings that one statement (or walrus) makes by itself, without the statements inside it."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            bound = alias.asname or alias.name.split(".")[0]
            yield Binding(bound, "import", node, module=alias.name if alias.asname else bound)
    elif isinstance(node, ast.ImportFrom):
        source = "." * node.level + (node.module or "")
        for alias in node.names:
            yield Binding(alias.asname or alias.name, "import", node, module=source, member=alias.name)
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _bind_targets(target, node.value, node, ())
    elif isinstance(node, ast.AnnAssign):
        if isinstance(node.target, ast.Name) and node.value is not None:
            yield Binding(node.target.id, "value", node, node.value)
    elif isinstance(node, ast.NamedExpr):
        yield Binding(node.target.id, "value", node, node.value)
    elif isinstance(node, ast.AugAssign):
        yield from _bind_targets(node.target, None, node, ())
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield Binding(node.name, "function", node)
    elif isinstance(node, ast.ClassDef):
        yield Binding(node.name, "class", node)
    elif isinstance(node, (ast.For, ast.AsyncFor)):
        yield from _bind_targets(node.target, None, node, ())
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        for item in node.items:
            if item.optional_vars is not None:
                yield from _bind_targets(item.optional_vars, None, node, ())
    elif isinstance(node, ast.ExceptHandler):
        if node.name:
            yield Binding(node.name, "other", node)
    elif isinstance(node, ast.Delete):
        for target in node.targets:
            yield from _bind_targets(target, None, node, ())
    elif isinstance(node, (ast.MatchAs, ast.MatchStar)):
        if node.name:
            yield Binding(node.name, "other", node)
    elif isinstance(node, ast.MatchMapping):
        if node.rest:
            yield Binding(node.rest, "other", node)
    elif isinstance(node, TypeAlias):
        yield from _bind_targets(node.name, None, node, ())  # its value is an annotation, which nothing works out


def _bind_targets(target: ast.expr, value: ast.expr | None, node: ast.AST, path: tuple[int, ...]) -> Iterator[Binding]:
    if isinstance(target, ast.Name):
        if value is None:
            yield Binding(target.id, "other", node)
        else:
            yield Binding(target.id, "unpack" if path else "value", node, value, path)
    elif isinstance(target, ast.Starred):
        yield from _bind_targets(target.value, None, node, path)
    elif isinstance(target, (ast.Tuple, ast.List)):
        starred = False  # a name behind one that takes the rest is at no place that is known
        for index, part in enumerate(target.elts):
            starred = starred or isinstance(part, ast.Starred)
            yield from _bind_targets(part, None if starred else value, node, (*path, index))


def assignment_pairs(statement: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    """The (target, value) pairs of a plain or annotated assignment."""
    if isinstance(statement, ast.Assign):
        return [(target, statement.value) for target in statement.targets]
    if isinstance(statement, ast.AnnAssign) and statement.value is not None:
        return [(statement.target, statement.value)]
    return []


def is_public(module: Module, name: str) -> bool:
    """Whether ``from module import *`` may take a name: not what ``__all__`` omits, where that is one list as it is."""
    if "public" not in module.own:
        made = bindings(module, module.tree).get("__all__", [])
        listed = made[0].value if len(made) == 1 and made[0].kind == "value" else None
        parts = (
            listed.elts if isinstance(listed, (ast.List, ast.Tuple)) and module.source.text.count("__all__") == 1 else [listed]
        )
        texts = [part.value if isinstance(part, ast.Constant) else None for part in parts]
        module.own["public"] = frozenset(texts) if all(isinstance(text, str) for text in texts) else None
    public: frozenset[object] | None = module.own["public"]  # type: ignore[assignment]
    return public is None or name in public
