"""Whether an attribute more on an object can be seen by what runs today: the object is printed or saved as a whole, or goes elsewhere."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ddp_codemod.parse.python import Module, last_name, walk
from ddp_codemod.single_process.api import Api
from ddp_codemod.sites.entities import Definition

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_BY_NAME = frozenset({"getattr", "hasattr", "setattr"})
Parts = Iterable[tuple[Module, ast.AST]]


def is_exposed(api: Api, holder: str, parts: Parts) -> bool:
    """Whether code does more with the object of a name than take its attributes, or give it to a function that calls it the same."""
    for module, part in parts:
        for node in walk(part):
            if not isinstance(node, ast.Name) or node.id != holder or not isinstance(node.ctx, ast.Load):
                continue
            above = module.parents.get(node)
            if isinstance(above, ast.Attribute):
                if above.attr == "__dict__":
                    return True
            elif not _is_passed_on(api, module, node, holder):
                return True
    return False


def _is_passed_on(api: Api, module: Module, node: ast.Name, holder: str) -> bool:
    above = module.parents.get(node)
    call = module.parents.get(above) if isinstance(above, ast.keyword) else above
    if not isinstance(call, ast.Call) or node is call.func:
        return False
    if last_name(call.func) in _BY_NAME:
        return node is call.args[0] and len(call.args) > 1 and isinstance(call.args[1], ast.Constant)
    found = api.resolver.resolve(module, call.func)
    return bool(found) and all(
        isinstance(one, Definition) and isinstance(one.node, _FUNCTIONS) and _find_parameter_name(one.node, call, node) == holder
        for one in found
    )


def _find_parameter_name(function: ast.FunctionDef | ast.AsyncFunctionDef, call: ast.Call, node: ast.Name) -> str:
    """What a function calls an argument; "" where that is not plain."""
    for keyword in call.keywords:
        if keyword.value is node:
            return keyword.arg or ""
    names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    at = next((number for number, one in enumerate(call.args) if one is node), len(names))
    plain = not any(isinstance(one, ast.Starred) for one in call.args) and isinstance(call.func, ast.Name)
    return names[at] if plain and at < len(names) else ""


def always_runs(module: Module, node: ast.AST, function: str) -> bool:
    """Whether code is in the body of a function that calls another one before, under no condition, loop or ``try``."""
    at = node
    for above in module.ancestors(node):
        if isinstance(above, _FUNCTIONS):
            before = above.body[: above.body.index(at)] if isinstance(at, ast.stmt) and at in above.body else []
            return any(
                isinstance(one, ast.Expr) and isinstance(one.value, ast.Call) and last_name(one.value.func) == function
                for one in before
            )
        tested = isinstance(above, (ast.If, ast.While)) and at is above.test
        if isinstance(above, (ast.BoolOp, ast.IfExp, ast.Lambda, ast.comprehension)) or (
            isinstance(above, ast.stmt) and _has_body(above)
        ):
            first = isinstance(above, ast.BoolOp) and at is above.values[0]
            if not tested and not first:
                return False
        at = above
    return False


def _has_body(statement: ast.stmt) -> bool:
    return hasattr(statement, "body")
