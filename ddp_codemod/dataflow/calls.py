"""What calls pass: arguments by name or position, defaults."""

from __future__ import annotations

import ast
from typing import Union

from msgspec import Struct

from ddp_codemod.parse.python import Module, last_name

CALL = "__call__"  # the method that calling an object runs
Def = Union[ast.FunctionDef, ast.AsyncFunctionDef]


class CallArguments(Struct, frozen=True, eq=False):
    """The arguments that one place hands to a function; ``skip`` of its parameters are filled by someone else."""

    module: Module
    call: ast.Call
    positional: tuple[ast.expr, ...]
    keywords: tuple[ast.keyword, ...]
    skip: int = 0


def find_default(function: Def, name: str) -> ast.expr | None:
    """The default expression of a parameter."""
    arguments = function.args
    plain = [*arguments.posonlyargs, *arguments.args]
    for argument, default in zip(reversed(plain), reversed(arguments.defaults), strict=False):
        if argument.arg == name:
            return default
    for argument, keyword_default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if argument.arg == name:
            return keyword_default
    return None


def is_bound_method(module: Module, function: ast.AST) -> bool:
    """Whether callers leave the first parameter out (methods, class methods)."""
    if not isinstance(module.parents.get(function), ast.ClassDef):
        return False
    decorators = getattr(function, "decorator_list", [])
    return not any(isinstance(part, ast.Name) and part.id == "staticmethod" for part in decorators)


def find_position(function: Def, name: str, method: bool) -> int:
    """The place of a parameter among those that a call fills in order; -1 where it is passed by keyword only."""
    plain = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)][1 if method else 0 :]
    return plain.index(name) if name in plain else -1


def find_passed_argument(given: CallArguments, function: Def, name: str, method: bool) -> ast.expr | None:
    """What a call passes for a parameter; None where it leaves it out or that cannot be told."""
    for keyword in given.keywords:
        if keyword.arg == name:
            return keyword.value
    plain = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)][1 if method else 0 :][given.skip :]
    if name in plain:
        index = plain.index(name)
        if index < len(given.positional) and not any(isinstance(part, ast.Starred) for part in given.positional[: index + 1]):
            return given.positional[index]
    return None


def find_argument(call: ast.Call, name: str, position: int | None) -> ast.expr | None:
    """An argument of a call by its parameter's name or position (None or -1: keyword only)."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    if position is None or position < 0 or position >= len(call.args):
        return None
    before = call.args[: position + 1]
    return None if any(isinstance(part, ast.Starred) for part in before) else call.args[position]


def index_calls(module: Module) -> dict[str, list[ast.Call]]:
    """The calls of a file by the last name of what they call."""
    if "calls" not in module.own:
        table: dict[str, list[ast.Call]] = {}
        for node in module.nodes.get(ast.Call, ()):
            assert isinstance(node, ast.Call)
            if (last := last_name(node.func)) in table:
                table[last].append(node)
            elif last:
                table[last] = [node]  # mostly the only one: a list that grows takes room for four
        module.own["calls"] = table
    return module.own["calls"]  # type: ignore[return-value]


def find_names(module: Module, name: str) -> tuple[ast.Name, ...]:
    """Where a file reads or writes a name; few of its names are ever asked for."""
    key = ("names", name)
    if key not in module.own:
        module.own[key] = tuple(node for node in module.nodes.get(ast.Name, ()) if node.id == name)  # type: ignore[attr-defined]
    return module.own[key]  # type: ignore[return-value]


def is_value(module: Module, node: ast.expr) -> bool:
    """Whether an expression is passed on: not called, looked into, annotated with or derived from."""
    around = module.parents.get(node)
    if isinstance(around, ast.Call):
        return node is not around.func
    if isinstance(around, (ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.Return)):
        return around.value is node
    if isinstance(around, ast.arguments):
        return True
    if isinstance(around, ast.Attribute):
        return around.attr == CALL
    return isinstance(around, (ast.keyword, ast.IfExp, ast.BoolOp, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.Lambda, ast.Yield))


def find_parameter(function: Def, keyword: str | None, position: int | None, skip: int) -> str | None:
    """The parameter that an argument fills; None where that cannot be told."""
    arguments = function.args
    plain = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    if keyword is not None:
        return keyword if keyword in (*plain, *(argument.arg for argument in arguments.kwonlyargs)) else None
    at = (position or 0) + skip
    return plain[at] if at < len(plain) else None


def is_read(module: Module, node: ast.Name) -> bool:
    """Whether a name is read; ``x |= y`` reads and writes it."""
    return isinstance(node.ctx, ast.Load) or isinstance(module.parents.get(node), ast.AugAssign)
