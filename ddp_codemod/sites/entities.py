"""What a name can stand for: something from outside, or a function, class, object, module or variable of the project."""

from __future__ import annotations

import ast
from typing import Union

from msgspec import Struct

from ddp_codemod.parse.python import Module


class External(Struct, frozen=True):
    """Something that no file of the project defines, by its qualified name."""

    name: str


class Definition(Struct, frozen=True):
    """A function or class of the project."""

    module: Module
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Instance(Struct, frozen=True):
    """An object of a class of the project."""

    module: Module
    node: ast.ClassDef


class ModuleRef(Struct, frozen=True):
    """A module of the project."""

    module: Module


class Variable(Struct, frozen=True):
    """A name of a scope that holds a value."""

    module: Module
    scope: ast.AST
    name: str


Entity = Union[External, Definition, Instance, ModuleRef, Variable]
