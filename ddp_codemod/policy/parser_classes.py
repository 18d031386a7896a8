"""The classes that a parser is passed whose options are their fields."""

from __future__ import annotations

import ast
from collections.abc import Collection

from msgspec import Struct

from ddp_codemod.catalog.model import Parameter
from ddp_codemod.catalog.objects import Fields
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.findings import Context
from ddp_codemod.sites.entities import Definition, Entity, External


class ParserClass(Struct, frozen=True, eq=False):
    """One of the classes that a parser is passed; ``module`` and ``node`` are those of a class of the project.

    ``parameter`` is the field as the library's class has it, which that of the project derives from.
    """

    parameter: Parameter
    module: Module | None = None
    node: ast.ClassDef | None = None


def find_parser_classes(context: Context, module: Module, argument: ast.expr, fields: Fields) -> list[ParserClass]:
    """The classes that have the field, of those that the parser is passed."""
    return [
        taken
        for entity in _resolve_argument(context, module, argument)
        if (taken := _match_parser_class(context, entity, fields)) is not None
    ]


def find_likely_class(context: Context, module: Module, argument: ast.expr, fields: Fields) -> str | None:
    """A class that the parser is passed, from a package that is not read, whose name says that it may have the field."""
    for entity in _resolve_argument(context, module, argument):
        names = [entity.name] if isinstance(entity, External) else []
        if isinstance(entity, Definition) and isinstance(entity.node, ast.ClassDef):
            names = context.tracer.resolver.external_bases(entity.module, entity.node)
        for name in names:
            if any(part in name.rpartition(".")[2] for part in fields.like):
                return name
    return None


def is_about_classes(context: Context, module: Module, call: ast.Call, surfaces: Collection[str]) -> bool:
    """Whether a call creates an object of a class of one of the surfaces, or its first argument is such a class or lists one."""
    resolver, finder = context.tracer.resolver, context.tracer.finder
    given = [*resolver.resolve(module, call.func), *(_resolve_argument(context, module, call.args[0]) if call.args else ())]
    names = {one.name for one in given if isinstance(one, External)}
    for one in given:
        if isinstance(one, Definition) and isinstance(one.node, ast.ClassDef):
            names |= set(resolver.external_bases(one.module, one.node))
    return any((surface := finder.surface(name)) is not None and surface.id in surfaces for name in names)


def _resolve_argument(context: Context, module: Module, argument: ast.expr) -> list[Entity]:
    """What the parser is passed: a class, or a tuple or list of them."""
    found = list(context.tracer.resolver.resolve(module, argument))
    if any(isinstance(one, External) or (isinstance(one, Definition) and isinstance(one.node, ast.ClassDef)) for one in found):
        return found
    return [
        entity
        for source in context.tracer.evaluate(module, argument)
        if isinstance(source.module, Module) and isinstance(source.node, (ast.Tuple, ast.List))
        for part in source.node.elts
        for entity in context.tracer.resolver.resolve(source.module, part)
    ]


def _match_parser_class(context: Context, entity: Entity, fields: Fields) -> ParserClass | None:
    if isinstance(entity, External):
        field = field_of(context, entity.name, fields)
        return None if field is None else ParserClass(field)
    if not isinstance(entity, Definition) or not isinstance(entity.node, ast.ClassDef):
        return None
    bases = context.tracer.resolver.external_bases(entity.module, entity.node)
    field = next((field for base in bases if (field := field_of(context, base, fields)) is not None), None)
    return None if field is None else ParserClass(field, entity.module, entity.node)


def field_of(context: Context, name: str, fields: Fields) -> Parameter | None:
    """The field of the library's class of this qualified name; None where it is another class."""
    surface = context.tracer.finder.surface(name)
    if surface is None or surface.id not in fields.surfaces:
        return None
    return next((parameter for parameter in surface.parameters if parameter.name == fields.field), None)
