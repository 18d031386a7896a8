"""The classes that a parser is given whose options are their fields."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec import Struct

from ddp_codemod.catalog.model import Parameter
from ddp_codemod.catalog.objects import Fields
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.findings import Context
from ddp_codemod.sites.resolve import Definition, External


class Taken(Struct, frozen=True, eq=False):
    """One of the classes that a parser is given; ``module`` and ``node`` are those of a class of the project.

    ``parameter`` is the field as the library's class has it, which that of the project derives from.
    """

    parameter: Parameter
    module: Module | None = None
    node: ast.ClassDef | None = None


def taken_classes(context: Context, module: Module, argument: ast.expr, fields: Fields) -> Iterator[Taken]:
    """The classes that have the field, of those that the parser is given: one, or a tuple or list of them."""
    found = list(_of(context, module, argument, fields))
    for leaf in [] if found else context.tracer.trace(module, argument):
        if isinstance(leaf.module, Module) and isinstance(leaf.node, (ast.Tuple, ast.List)):
            for part in leaf.node.elts:
                found += _of(context, leaf.module, part, fields)
    yield from found


def _of(context: Context, module: Module, node: ast.expr, fields: Fields) -> Iterator[Taken]:
    for entity in context.tracer.resolver.resolve(module, node):
        if isinstance(entity, External) and (field := field_of(context, entity.name, fields)) is not None:
            yield Taken(field)
        elif isinstance(entity, Definition) and isinstance(entity.node, ast.ClassDef):
            bases = context.tracer.resolver.external_bases(entity.module, entity.node)
            field = next((field for base in bases if (field := field_of(context, base, fields)) is not None), None)
            if field is not None:
                yield Taken(field, entity.module, entity.node)


def field_of(context: Context, name: str, fields: Fields) -> Parameter | None:
    """The field of the library's class of this qualified name; None where it is another class."""
    surface = context.tracer.finder.surface(name)
    if surface is None or surface.id not in fields.surfaces:
        return None
    return next((parameter for parameter in surface.parameters if parameter.name == fields.field), None)
