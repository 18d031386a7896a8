"""Variables that only a launcher sets: a program that is started without one takes what they say of one process."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module, last_name, walk
from ddp_codemod.single_process.api import Api
from ddp_codemod.single_process.enclosing_tests import enclosing_tests
from ddp_codemod.single_process.fstrings import fstring_of
from ddp_codemod.single_process.model import SpanEdit


def default_launcher_variables(api: Api, parts: Iterable[tuple[Module, ast.AST]]) -> Iterator[SpanEdit]:
    """``os.environ["LOCAL_RANK"]`` becomes ``os.environ.get("LOCAL_RANK", "0")``, but where the code expects that it may fail."""
    for module, part in parts:
        for node in walk(part):
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
                name = _constant_text(node.slice)
                if (
                    name in api.environment
                    and "os.environ" in api.resolver.names(module, node.value)
                    and not _is_expected_missing(module, node, name)
                ):
                    place = module.place(node)
                    after = f"{module.text(node.value)}.get({module.text(node.slice)}, {_quote_like(module, node.slice, api.environment[name])})"
                    yield SpanEdit(
                        module,
                        place.start,
                        place.end,
                        after,
                        Reason.of("single-variable", name=name, value=api.environment[name]),
                    )
            elif isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
                name = _constant_text(node.args[0])
                if name in api.environment and set(api.resolver.names(module, node.func)) & {"os.getenv", "os.environ.get"}:
                    outer = module.parents.get(node)
                    number = isinstance(outer, ast.Call) and last_name(outer.func) == "int" and outer.func is not node
                    if number and not _is_expected_missing(module, node, name) and fstring_of(module, node) is None:
                        end = module.place(node.args[0]).end
                        after = f", {_quote_like(module, node.args[0], api.environment[name])}"
                        yield SpanEdit(
                            module, end, end, after, Reason.of("single-variable", name=name, value=api.environment[name])
                        )


def _constant_text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _quote_like(module: Module, like: ast.expr, text: str) -> str:
    quote = module.text(like)[-1]
    return f"{quote}{text}{quote}"


def _is_expected_missing(module: Module, node: ast.AST, name: str) -> bool:
    """Whether the code asks for the variable first, or catches that it is missing."""
    if fstring_of(module, node) is not None:
        return True
    for test in enclosing_tests(module, node):
        if any(
            isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value.isupper()
            for part in ast.walk(test.expression)
        ):
            return True
    child = node
    for around in module.ancestors(node):
        if isinstance(around, ast.Try) and child in around.body and around.handlers:
            return True
        if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return False
        child = around
    return False
