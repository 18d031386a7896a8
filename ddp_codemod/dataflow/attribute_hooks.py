"""Code of the project that runs where an attribute is set: the setter of a property, a descriptor, ``__setattr__``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.entities import Definition, Instance
from ddp_codemod.sites.scopes import bindings

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
Taker = tuple[Module, "ast.FunctionDef | ast.AsyncFunctionDef", str]  # a function, and the parameter that takes the value


def find_setters(tracer: Tracer, module: Module, holder: ast.expr, name: str) -> Iterator[Taker]:
    """The functions that run where ``holder.name = value`` does; by the name alone where the class of the object is not known."""
    classes = [
        one for one in tracer.resolver.resolve(module, holder) if isinstance(one, Instance) and isinstance(one.node, ast.ClassDef)
    ]
    if not classes:
        yield from _find_setters_of_word(tracer, name)
    for one in classes:
        for home, base in tracer.resolver.lineage(one.module, one.node):
            yield from _find_in_class(tracer, home, base, name)
            yield from _find_methods(home, base, "__setattr__")


def _find_setters_of_word(tracer: Tracer, name: str) -> Iterator[Taker]:
    project = tracer.resolver.project
    for file in project.mentioning(name):
        for module in project.programs(file):
            for made in module.nodes.get(ast.ClassDef, ()):
                if isinstance(made, ast.ClassDef):
                    yield from _find_in_class(tracer, module, made, name)


def _find_in_class(tracer: Tracer, module: Module, made: ast.ClassDef, name: str) -> Iterator[Taker]:
    """The setter that a class has for an attribute, as a property or as an object that takes what is assigned to it."""
    for binding in bindings(module, made).get(name, ()):
        function, value = binding.node, binding.value
        if isinstance(function, _FUNCTIONS):
            if any(isinstance(part, ast.Attribute) and part.attr == "setter" for part in function.decorator_list):
                yield from _name_last_parameter(module, function)
        elif isinstance(value, ast.Call):
            for entity in tracer.resolver.resolve(module, value.func):
                if isinstance(entity, Definition) and isinstance(entity.node, ast.ClassDef):
                    for home, base in tracer.resolver.lineage(entity.module, entity.node):
                        yield from _find_methods(home, base, "__set__")
            for part in value.args[1:2]:  # ``backend = property(get_backend, set_backend)``
                if isinstance(part, ast.Name) and isinstance(value.func, ast.Name) and value.func.id == "property":
                    yield from _find_methods(module, made, part.id)


def _find_methods(module: Module, made: ast.ClassDef, name: str) -> Iterator[Taker]:
    for binding in bindings(module, made).get(name, ()):
        if isinstance(binding.node, _FUNCTIONS):
            yield from _name_last_parameter(module, binding.node)


def _name_last_parameter(module: Module, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Taker]:
    arguments = [*function.args.posonlyargs, *function.args.args]
    if arguments:
        yield module, function, arguments[-1].arg
