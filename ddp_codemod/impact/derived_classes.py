"""Finds arguments of classes that the project derives from one that is known, of methods that pass theirs on, and entries of settings."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ddp_codemod.catalog.advisory import Pattern
from ddp_codemod.dataflow.calls import index_calls
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.findings import Context
from ddp_codemod.sites.entities import Definition


def find_derived_calls(context: Context, pattern: Pattern, module: Module, known: Sequence[ast.Call]) -> Iterator[ast.Call]:
    """The calls that pass the argument by its name to a class of the project which derives from one of the names."""
    resolver = context.tracer.resolver
    for keyword in module.nodes.get(ast.keyword, ()):
        assert isinstance(keyword, ast.keyword)
        call = module.parents[keyword]
        if keyword.arg != pattern.argument or not isinstance(call, ast.Call) or call in known:
            continue
        for entity in resolver.resolve(module, call.func):
            if isinstance(entity, Definition) and isinstance(entity.node, ast.ClassDef):
                if set(pattern.names) & set(resolver.external_bases(entity.module, entity.node)):
                    yield call
                    break


def is_passed_by_name(context: Context, module: Module, argument: ast.expr) -> bool:
    """Whether an argument is a parameter, and a call of a method of its function's name passes it, of whatever object."""
    function = next((at for at in module.ancestors(argument) if isinstance(at, (ast.FunctionDef, ast.AsyncFunctionDef))), None)
    if not isinstance(argument, ast.Name) or function is None:
        return False
    every = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    if argument.id not in {one.arg for one in every}:
        return False
    project = context.tracer.resolver.project
    calls = (
        call
        for name in project.calling(function.name)
        for other in project.programs(name)
        for call in index_calls(other).get(function.name, ())
    )
    return any(
        isinstance(call.func, ast.Attribute)
        and any(word.arg == argument.id and not _is_none(word.value) for word in call.keywords)
        for call in calls
    )


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def find_listed_entries(pattern: Pattern, module: Module) -> Iterator[ast.expr]:
    """The lists that a mapping holds under a key of ``holders``."""
    for node in module.nodes.get(ast.Assign, ()):
        assert isinstance(node, ast.Assign)
        keys = [target.slice for target in node.targets if isinstance(target, ast.Subscript)]
        if len(keys) == len(node.targets) and all(_is_key(pattern, key) for key in keys) and isinstance(node.value, ast.List):
            yield node.value
    for table in module.nodes.get(ast.Dict, ()):
        assert isinstance(table, ast.Dict)
        for key, value in zip(table.keys, table.values, strict=True):
            if key is not None and _is_key(pattern, key) and isinstance(value, ast.List):
                yield value
    for keyword in module.nodes.get(ast.keyword, ()):
        assert isinstance(keyword, ast.keyword)
        call = module.parents[keyword]
        if keyword.arg in pattern.holders and isinstance(keyword.value, ast.List) and isinstance(call, ast.Call):
            if isinstance(call.func, ast.Name) and call.func.id == "dict":
                yield keyword.value


def _is_key(pattern: Pattern, node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value in pattern.holders
