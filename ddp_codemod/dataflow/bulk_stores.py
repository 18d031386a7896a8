"""Objects that get all that another holds: ``for key, value in vars(args).items(): setattr(cfg, key, value)``."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ddp_codemod.dataflow.attribute_tables import find_attribute_owner
from ddp_codemod.dataflow.calls import index_calls
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.entities import Definition, Entity, Instance
from ddp_codemod.sites.scopes import owner_scope, scope_of

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
BulkStore = tuple[ast.expr, ast.expr]  # the object that is filled, and what it is filled with: ``vars(args)``, ``config``


def find_bulk_stores(module: Module, made: ast.expr) -> Iterator[ast.expr]:
    """What the object that a call or a table makes is filled with, through the name that it gets at once."""
    statement = module.parents.get(made)
    names = [one.id for one in statement.targets if isinstance(one, ast.Name)] if isinstance(statement, ast.Assign) else []
    for target, source in _list_bulk_stores(module):
        if isinstance(target, ast.Name) and target.id in names:
            if owner_scope(module, scope_of(module, target), target.id) is owner_scope(module, scope_of(module, made), target.id):
                yield source


def find_bulk_stores_of_class(module: Module, node: ast.ClassDef) -> Iterator[ast.expr]:
    """What the methods of a class fill its objects with."""
    for target, source in _list_bulk_stores(module):
        method = scope_of(module, target)
        if isinstance(target, ast.Name) and isinstance(method, _FUNCTIONS) and module.parents.get(method) is node:
            first = next(iter((*method.args.posonlyargs, *method.args.args)), None)
            if first is not None and first.arg == target.id:
                yield source


def has_any(module: Module, base: Iterable[Entity]) -> bool:
    """Whether code beside an expression, or beside the classes that it is of, fills objects."""
    homes = [entity.module for entity in base if isinstance(entity, (Definition, Instance))]
    return any(map(_list_bulk_stores, (module, *homes)))


def is_set_by_any_name(tracer: Tracer, module: Module, holder: ast.expr) -> bool:
    """Whether code sets attributes of such an object under names that are not written out: ``setattr(cfg, key, value)``."""
    classes = find_classes(tracer, module, holder)
    for file in tracer.resolver.project.calling("setattr") if classes else ():
        other = tracer.resolver.project.module(file)
        if other is None:
            continue
        for call in index_calls(other).get("setattr", ()):
            written = len(call.args) != 3 or isinstance(call.args[1], (ast.Constant, ast.JoinedStr, ast.BinOp))
            if not written and _match_setattr_loop(other, call) is None:
                if classes & find_classes(tracer, other, call.args[0]):
                    return True
    return False


def find_classes(tracer: Tracer, module: Module, holder: ast.expr) -> set[ast.AST]:
    """The classes of the project that an expression can be an object of, with those that they derive from."""
    found = tracer.resolver.resolve(module, holder)
    made = [one for one in found if isinstance(one, (Instance, Definition)) and isinstance(one.node, ast.ClassDef)]
    return {base for one in made for _, base in tracer.resolver.lineage(one.module, one.node)}  # type: ignore[arg-type]


def find_class_of_self(module: Module, node: ast.AST) -> ast.ClassDef | None:
    """The class whose method's first parameter this is."""
    method = module.parents.get(module.parents[node]) if isinstance(node, ast.arg) else None
    around = module.parents.get(method) if isinstance(method, _FUNCTIONS) else None
    if not isinstance(method, _FUNCTIONS) or not isinstance(around, ast.ClassDef) or method.decorator_list:
        return None
    return around if next(iter((*method.args.posonlyargs, *method.args.args)), None) is node else None


def _list_bulk_stores(module: Module) -> list[BulkStore]:
    if "fills" not in module.own:
        calls = (call for call in module.nodes.get(ast.Call, ()) if isinstance(call, ast.Call))
        found = [fill for call in calls if (fill := _match_setattr_loop(module, call) or _match_update(call)) is not None]
        module.own["fills"] = found
    return module.own["fills"]  # type: ignore[return-value]


def _match_setattr_loop(module: Module, call: ast.Call) -> BulkStore | None:
    if not isinstance(call.func, ast.Name) or call.func.id != "setattr" or len(call.args) != 3:
        return None
    target, key, value = call.args
    loop = next((around for around in module.ancestors(call) if isinstance(around, ast.For)), None)
    if loop is None or not isinstance(key, ast.Name):
        return None
    if isinstance(loop.target, ast.Tuple):  # for key, value in source.items()
        names = [one.id for one in loop.target.elts if isinstance(one, ast.Name)]
        items = loop.iter.func if isinstance(loop.iter, ast.Call) and not loop.iter.args else None
        given = isinstance(value, ast.Name) and names == [key.id, value.id]
        return (target, items.value) if given and isinstance(items, ast.Attribute) and items.attr == "items" else None
    source = find_attribute_owner(loop.iter)  # for key in vars(source)
    if source is None or not isinstance(loop.target, ast.Name) or loop.target.id != key.id or not isinstance(value, ast.Call):
        return None
    read = isinstance(value.func, ast.Name) and value.func.id == "getattr"
    same = [ast.dump(one) for one in value.args] == [ast.dump(source), ast.dump(key)]
    return (target, loop.iter) if read and same else None


def _match_update(call: ast.Call) -> BulkStore | None:
    """``cfg.__dict__.update(vars(args))``, ``cfg.update(yaml.safe_load(file))``"""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "update" or len(call.args) != 1 or call.keywords:
        return None
    return (find_attribute_owner(call.func.value) or call.func.value, call.args[0])
