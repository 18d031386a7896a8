"""Where a query goes in an address that is put together: at the end of its last text, or behind the port."""

from __future__ import annotations

import ast
import re

from ddp_codemod.catalog.objects import Query
from ddp_codemod.dataflow.facts import Facts
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.joined_texts import find_literal_prefix, list_text_fragments
from ddp_codemod.dataflow.values import Value
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.findings import Splice
from ddp_codemod.policy.other_uses import OPEN_END
from ddp_codemod.sites.scopes import bindings, scope_of

_CLOSING = re.compile(r"(\"\"\"|'''|\"|')\Z")
_OPERANDS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant, ast.JoinedStr, ast.BinOp)


def head_of(source: Value) -> str | None:
    """The scheme that a built text starts with, where its first piece is written out."""
    scheme, separator, _ = _find_start(source).partition("://")
    return scheme if separator else None


def is_query_off(facts: Facts, source: Value, query: Query) -> bool:
    """Whether what is written out of a built text, or follows from the machine, turns the query parameter off already."""
    built, module = _find_last_part(source), source.module
    if built is None or not isinstance(module, Module):
        return False
    texts = "{}".join(_fold_part(facts, module, part) for part in list_text_fragments(built) or [])
    found = re.search(rf"[?&]{re.escape(query.key)}=([^&{{]+)", texts)
    return found is not None and found[1] not in query.on


def _fold_part(facts: Facts, module: Module, part: str | ast.expr) -> str:
    value = facts.fold(module, part) if isinstance(part, ast.IfExp) else Known(part)
    return value.value if isinstance(value, Known) and isinstance(value.value, str) else ""


def lengthen_text(source: Value, query: Query) -> tuple[str, str]:
    """What is known of a built text, and of the one with the query at its end, which begins as it does."""
    start = _find_start(source) + OPEN_END
    return start, f"{start}?{query.key}={query.value}"


def append_query(source: Value, query: Query) -> Splice | None:
    """The query at the end of a text whose last piece is written out, or is the port; None where the end is not known."""
    node = _find_last_part(source)
    if head_of(source) not in query.schemes or not isinstance(source.module, Module) or node is None:
        return None
    module = source.module
    joined = [part for part in list_text_fragments(node) or [] if part != ""]
    texts = [part for part in joined if isinstance(part, str)]
    whole = "".join(texts)
    ends_in_port = len(joined) > 1 and not isinstance(joined[-1], str) and str(joined[-2]).endswith(":") and "?" not in whole
    if not joined or query.key in whole or not (isinstance(joined[-1], str) or ends_in_port):
        return None
    added = f"{'&' if '?' in whole else '?'}{query.key}={query.value}"
    last: ast.expr = node
    while isinstance(last, ast.BinOp) and isinstance(last.op, ast.Add):
        last = last.right
    summed = last is not node
    if isinstance(last, ast.Call) and isinstance(last.func, ast.Attribute) and isinstance(last.func.value, ast.Constant):
        last = last.func.value  # "...".format(port)
    elif isinstance(last, ast.BinOp):  # "..." % port
        last = last.left
    closing = _CLOSING.search(module.text(last))
    if closing is not None and isinstance(last, (ast.Constant, ast.JoinedStr)):
        return Splice(module, module.place(last).end - len(closing.group()), added, lengthens=(node, added))
    if summed and isinstance(last, _OPERANDS):  # "tcp://" + host + ":" + port
        return Splice(module, module.place(node).end, f' + "{added}"', lengthens=(node, added))
    return None


def _find_last_part(source: Value) -> ast.expr | None:
    """The expression that ends the text."""
    if isinstance(source.node, ast.AugAssign) and isinstance(source.node.op, ast.Add):
        return source.node.value
    return source.node if isinstance(source.node, ast.expr) else None


def _find_start(source: Value) -> str:
    """The text that the whole starts with; what ``url += rest`` adds to is what the name was assigned before, if that is one text."""
    if not isinstance(source.node, ast.AugAssign):
        return find_literal_prefix(source.node)
    module, target = source.module, source.node.target
    if not isinstance(module, Module) or not isinstance(target, ast.Name):
        return ""
    result = bindings(module, scope_of(module, source.node)).get(target.id, ())
    heads = {find_literal_prefix(one.value) for one in result if one.value is not None}
    added = [one for one in result if one.value is None]
    return heads.pop() if len(heads) == 1 and added[-1:] and added[-1].node is source.node else ""
