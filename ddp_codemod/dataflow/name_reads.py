"""Where a project reads something by a word alone: attributes, keys, parameters that options or mappings fill."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ddp_codemod.dataflow.calls import find_names, index_calls, is_read, is_value
from ddp_codemod.dataflow.declared_options import find_declarations
from ddp_codemod.dataflow.text_fields import find_filled
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.entities import Definition, External, ModuleRef
from ddp_codemod.sites.scopes import bindings, is_public, owner_scope, scope_of
from ddp_codemod.sites.word_search import WordMatcher

_READERS = frozenset(
    {"get", "pop", "setdefault", "getenv", "get_default", "getattr", "get_value", "__getattr__", "attrgetter", "itemgetter"}
)
_TABLES = frozenset({"vars", "getmembers"})
_SIGNATURES = WordMatcher(
    ["signature", "getfullargspec", "getargspec", "__defaults__", "__kwdefaults__"]
)  # tell a function's defaults
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def find_reads_in_scope(module: Module, name: str, home: ast.AST | None) -> list[ast.Name]:
    """Where a file reads the name of a scope; None: a name that no scope of the file has. Looked for once for all its scopes."""
    key = ("reads", name)
    if key not in module.own:
        table: dict[ast.AST | None, list[ast.Name]] = {}
        for node in find_names(module, name):
            if is_read(module, node):
                table.setdefault(owner_scope(module, scope_of(module, node), name), []).append(node)
        module.own[key] = table
    return module.own[key].get(home, [])  # type: ignore[attr-defined, no-any-return]


def find_reads_of_word(tracer: Tracer, word: str) -> list[tuple[Module, ast.AST]]:
    """The attributes, look-ups, texts with a field and parameters of a word, in all files; worked out once for each word."""
    known: dict[str, list[tuple[Module, ast.AST]]] = tracer.memory.setdefault("reads of words", {})
    if word not in known:
        project = tracer.resolver.project
        spelled = {word, word.replace("_", "-")}
        files = sorted({name for one in spelled for name in project.mentioning(one)})
        known[word] = [
            (module, node)
            for name in files
            for module in project.programs(name)
            for node in _search_module(tracer, module, spelled, word)
        ]
    return known[word]


def _search_module(tracer: Tracer, module: Module, spelled: set[str], word: str) -> Iterator[ast.AST]:
    for node in module.nodes.get(ast.Attribute, ()):
        assert isinstance(node, ast.Attribute)
        if node.attr == word and isinstance(node.ctx, ast.Load) and not _is_foreign(tracer, module, node):
            yield node
    for node in module.nodes.get(ast.Subscript, ()):
        assert isinstance(node, ast.Subscript)
        if isinstance(node.slice, ast.Constant) and str(node.slice.value) in spelled and isinstance(node.ctx, ast.Load):
            yield node
    for name in _READERS & index_calls(module).keys():
        for call in index_calls(module)[name]:
            if any(isinstance(part, ast.Constant) and str(part.value) in spelled for part in call.args[:2]):
                yield call
    for kind in _FUNCTIONS:
        for function in module.nodes.get(kind, ()):
            assert isinstance(function, _FUNCTIONS)
            arguments = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
            for argument in (one for one in arguments if one.arg == word):
                if function.decorator_list or _is_called_with_mapping(tracer, module, function):
                    yield argument
    for node in module.nodes.get(ast.Constant, ()):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and (filled := find_filled(module, node, word)) is not None
        ):
            yield filled


def _is_foreign(tracer: Tracer, module: Module, node: ast.Attribute) -> bool:
    """Whether an attribute is that of a library; one of ``self`` may be set by the project, whatever its class derives from."""
    if isinstance(node.value, ast.Name) and _is_own_object(module, node.value):
        return False
    found = tracer.resolver.resolve(module, node)
    return bool(found) and all(isinstance(entity, External) for entity in found)


def _is_own_object(module: Module, name: ast.Name) -> bool:
    """Whether a name is that of the object whose method it is in."""
    function = scope_of(module, name)
    if not isinstance(function, _FUNCTIONS) or not isinstance(module.parents.get(function), ast.ClassDef):
        return False
    return [one.arg for one in (*function.args.posonlyargs, *function.args.args)][:1] == [name.id]


def _is_called_with_mapping(tracer: Tracer, module: Module, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a call of a function unpacks a mapping into its arguments."""
    name = function.name
    if name == "__init__" and isinstance(made := module.parents.get(function), ast.ClassDef):
        name = made.name
    for file in tracer.resolver.project.calling(name):
        other = tracer.resolver.project.module(file)
        for call in index_calls(other).get(name, ()) if other is not None else ():
            if any(part.arg is None for part in call.keywords):
                return True
    return False


def find_converters(tracer: Tracer, word: str) -> Iterator[tuple[Module, ast.expr]]:
    """The functions that see the text of an option of this name before the program does: ``type=checked``, ``action=Choose``."""
    for made in find_declarations(tracer, word).values():
        for module, call, flag in made:
            for keyword in call.keywords:
                value = keyword.value
                plain = isinstance(value, ast.Constant) or (isinstance(value, ast.Name) and value.id == "str")
                if keyword.arg in flag.converters and not plain:
                    yield module, value


def find_importers(tracer: Tracer, module: Module, name: str) -> Iterator[tuple[Module, str]]:
    """The files that take a module's name, and what they call it; "" where they take the name under an alias of their own."""
    known: dict[str, list[tuple[Module, ast.ImportFrom, ast.alias]]] = tracer.memory.setdefault("takers of names", {})
    project = tracer.resolver.project
    if name not in known:
        known[name] = []
        for other in filter(None, map(project.module, project.mentioning(name))):
            for statement in other.nodes.get(ast.ImportFrom, ()):
                assert isinstance(statement, ast.ImportFrom)
                known[name] += [(other, statement, alias) for alias in statement.names if alias.name == name][:1]
    for other, statement, alias in known[name]:
        if other is not module and project.find("." * statement.level + (statement.module or ""), other) is module:
            yield other, alias.asname or name


def find_star_importers(tracer: Tracer, module: Module, name: str) -> Iterator[Module]:
    """The files that take a module's name with all its others, and have no name of their own like it: ``from settings import *``."""
    project = tracer.resolver.project
    for file in project.files_with_star_imports if is_public(module, name) else ():
        other = project.module(file)
        if other is None or other is module or name in bindings(other, other.tree):
            continue
        if any(project.find(star.module, other) is module for star in bindings(other, other.tree).get("*", ())):
            yield other


def find_scope_tables(tracer: Tracer, module: Module, home: ast.AST) -> Iterator[tuple[Module, ast.expr]]:
    """What gives all names of a function, or of the file, as a table: ``locals()``, ``globals()``, ``vars(settings)``."""
    for call in (*index_calls(module).get("locals", ()), *index_calls(module).get("vars", ())):
        if not call.args and isinstance(call.func, ast.Name) and scope_of(module, call) is home:
            yield module, call
    if home is not module.tree:
        return
    yield from ((module, call) for call in index_calls(module).get("globals", ()) if isinstance(call.func, ast.Name))
    for file in sorted(tracer.imports.importers.get(module.name, ())):
        for other in tracer.resolver.project.programs(file):
            yield from ((other, node) for node, held in _find_object_tables(other) if _is_module(tracer, other, held, module))


def _find_object_tables(module: Module) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What gives all attributes of an object as a table, with the object: ``vars(x)``, ``inspect.getmembers(x)``, ``x.__dict__``."""
    for word in _TABLES & index_calls(module).keys():
        yield from ((call, call.args[0]) for call in index_calls(module)[word] if call.args)
    for node in module.nodes.get(ast.Attribute, ()):
        if isinstance(node, ast.Attribute) and node.attr == "__dict__":
            yield node, node.value


def _is_module(tracer: Tracer, other: Module, node: ast.expr, module: Module) -> bool:
    return any(isinstance(one, ModuleRef) and one.module is module for one in tracer.resolver.resolve(other, node))


def is_module_attribute(tracer: Tracer, other: Module, node: ast.Attribute, module: Module) -> bool:
    """Whether an attribute is a module's own: ``settings.BACKEND``."""
    return _is_module(tracer, other, node.value, module)


def is_class_inspected(tracer: Tracer, module: Module, made: ast.ClassDef) -> bool:
    """Whether code of the project sees a class, with what it holds, as soon as it is made: a metaclass, a decorator."""
    for _, base in tracer.resolver.lineage(module, made):
        hooks = (part.name for part in base.body if isinstance(part, _FUNCTIONS))
        if base.keywords or "__init_subclass__" in hooks:
            return True
    called = (part.func if isinstance(part, ast.Call) else part for part in made.decorator_list)
    return any(isinstance(one, Definition) for part in called for one in tracer.resolver.resolve(module, part))


def is_introspected(tracer: Tracer, module: Module, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a file that hands a function around asks functions for their parameters: ``inspect.signature``."""
    asks = _SIGNATURES.some(tracer.resolver.project.data(module.name))
    used = find_names(module, function.name) if asks else ()
    return any(is_value(module, node) or _is_looked_into(module, node) for node in used if isinstance(node.ctx, ast.Load))


def are_defaults_replaced(tracer: Tracer, module: Module, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a file gives a function of its own other defaults: ``start.__defaults__ = ("gloo",)``."""
    asks = _SIGNATURES.some(tracer.resolver.project.data(module.name))
    around = (module.parents.get(node) for node in find_names(module, function.name)) if asks else ()
    written = (one for one in around if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store))
    return any(_SIGNATURES.some(one.attr.encode()) for one in written)


def _is_looked_into(module: Module, node: ast.Name) -> bool:
    """``start.__defaults__``."""
    around = module.parents.get(node)
    return isinstance(around, ast.Attribute) and _SIGNATURES.some(around.attr.encode())
