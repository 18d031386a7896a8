"""Texts that are filled from tables: ``"{backend}".format(**options)``, ``"%(backend)s" % options``."""

from __future__ import annotations

import ast

from ddp_codemod.parse.python import Module


def find_filled(module: Module, node: ast.Constant, word: str) -> ast.expr | None:
    """What fills the field of this name that a text has: ``"{backend}".format(**options)``, ``"%(backend)s" % options``."""
    around, text = module.parents.get(node), str(node.value)
    if f"%({word})" in text:
        return around if isinstance(around, ast.BinOp) else None
    if f"{{{word}" not in text or not isinstance(around, ast.Attribute) or not around.attr.startswith("format"):
        return None
    call = module.parents.get(around)
    tabled = isinstance(call, ast.Call) and (around.attr == "format_map" or any(part.arg is None for part in call.keywords))
    return call if tabled and isinstance(call, ast.Call) else None


def leaves_out(filled: ast.BinOp | ast.Call, key: object) -> bool:
    """Whether the text that is filled is written out, and has no field of this name."""
    if isinstance(filled, ast.BinOp):
        text, field, some = filled.left, f"%({key})", "%("
    else:
        text, field, some = filled.func.value if isinstance(filled.func, ast.Attribute) else filled.func, f"{{{key}", "{"
    if not isinstance(key, str) or key == "*" or not isinstance(text, ast.Constant) or not isinstance(text.value, str):
        return False
    return some in text.value and field not in text.value
