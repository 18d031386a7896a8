"""Whether a program asks for an address by its whole text, so that a query behind it would change what the program does."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from ddp_codemod.parse.python import Module
from ddp_codemod.policy.findings import Change, Context, NewText
from ddp_codemod.sites.surface_calls import Use

_QUOTED, _UNQUOTED = re.compile(rb"(?<=[\"'])"), re.compile(rb"[\"']")
_WHOLE = (ast.Eq, ast.NotEq, ast.In, ast.NotIn)  # ``startswith`` does not mind what follows


def find_url_comparison(context: Context, use: Use, changes: Iterable[Change]) -> str | None:
    """Where a program that runs with a use compares an address that is to be changed with its text now: "file:line", or None.

    An address that is in the call itself goes nowhere else.
    """
    texts = {
        str(change.source.value.value)  # type: ignore[union-attr]
        for change in changes
        if isinstance(change, NewText) and change.source.trace.steps
    }
    return next((at for text in sorted(texts) for at in _find_comparisons(context, use.module, text)), None)


def _find_comparisons(context: Context, module: Module, text: str) -> Iterator[str]:
    tracer = context.tracer
    project = tracer.resolver.project
    together: set[str] | None = None
    for name in project.holding(text, _QUOTED, _UNQUOTED):
        for other in project.programs(name):
            for node in other.nodes.get(ast.Compare, ()):
                if isinstance(node, ast.Compare) and _is_compared_with(node, text):
                    together = together or tracer.imports.together([module.name])
                    if name in together:
                        yield f"{other.name}:{other.line(node)}"


def _is_compared_with(node: ast.Compare, text: str) -> bool:
    sides = (node.left, *node.comparators)
    parts = [part for side in sides for part in (side.elts if isinstance(side, (ast.Tuple, ast.List, ast.Set)) else (side,))]
    said = any(isinstance(part, ast.Constant) and part.value == text for part in parts)
    return said and all(isinstance(operator, _WHOLE) for operator in node.ops)
