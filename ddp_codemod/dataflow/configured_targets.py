"""Functions and classes of the project that configuration files name, with their arguments beside: Hydra's ``_target_``."""

from __future__ import annotations

import ast

from ddp_codemod.dataflow.calls import find_default
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.parse.config import giving
from ddp_codemod.parse.document import Document
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.target_keys import TARGETS

_CONSTRUCTOR = "__init__"
_DOT = rb"\w\.\w"  # in a name that is meant
Place = tuple[Document, tuple[str, ...]]


def find_key_paths(tracer: Tracer, module: Module, parameter: ast.AST) -> list[tuple[str, ...]]:
    """The paths of keys at which configuration files give a parameter of a function or class that they name."""
    if not isinstance(parameter, ast.arg):
        return []
    function = module.parents.get(module.parents[parameter])
    return list(dict.fromkeys((*path, parameter.arg) for _, path in find_config_places(tracer, module, function)))


def find_config_places(tracer: Tracer, module: Module, function: ast.AST | None) -> list[Place]:
    """The files that name a function, or the class that it constructs, and where its arguments are in them."""
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return []
    around = module.parents.get(function)
    named = around if isinstance(around, ast.ClassDef) and function.name == _CONSTRUCTOR else function
    if module.parents.get(named) is not module.tree:
        return []
    return _index_places(tracer).get(f"{_to_dotted_name(module.name)}.{named.name}", [])


def find_defaulted_parameter(module: Module, default: ast.AST) -> ast.arg | None:
    """The parameter that an expression is the default of."""
    around = module.parents.get(default)
    function = module.parents.get(around) if isinstance(around, ast.arguments) else None
    if not isinstance(around, ast.arguments) or not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    every = (*around.posonlyargs, *around.args, *around.kwonlyargs)
    return next((argument for argument in every if find_default(function, argument.arg) is default), None)


def _index_places(tracer: Tracer) -> dict[str, list[Place]]:
    """Where arguments are, by the dotted name of what they are for, as the project's folders spell it."""
    if "places of targets" not in tracer.memory:
        project = tracer.resolver.project
        homes: dict[str, list[str]] = {}
        for name in project.names:
            homes.setdefault(_to_dotted_name(name).rpartition(".")[2], []).append(_to_dotted_name(name))
        table: dict[str, list[Place]] = {}
        for key, inside in TARGETS.items():
            for document, entry in (
                (one, entry) for one in project.documents(key, giving(key, [_DOT])) for entry in one.ending(key)
            ):
                package, _, last = entry.value.rpartition(".") if entry.is_text else ("", "", "")
                for home in homes.get(package.rpartition(".")[2], ()) if package else ():
                    if f".{home}".endswith(f".{package}"):
                        table.setdefault(f"{home}.{last}", []).append((document, (*entry.path[:-1], *inside)))
        tracer.memory["places of targets"] = table
    return tracer.memory["places of targets"]  # type: ignore[no-any-return]


def _to_dotted_name(name: str) -> str:
    return name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
