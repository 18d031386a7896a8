"""Sections of a configuration parser, read as tables."""

from __future__ import annotations

import ast

from ddp_codemod.dataflow.allocation_sites import find_origins
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.dataflow.values import Trace
from ddp_codemod.parse.python import Module, last_name


def convert_section_get(tracer: Tracer, module: Module, node: ast.Call, trace: Trace) -> ast.Call | None:
    """``parser["dist"].get("backend", "gloo")`` for ``parser.get("dist", "backend", fallback="gloo")``."""
    assert isinstance(node.func, ast.Attribute)
    if len(node.args) != 2:
        return None
    origin = find_origins(tracer, module, node.func.value, trace)
    whole = [one.call for one in origin.made if one.call is not None and not one.path] if origin.at is node.func.value else []
    readers = {name for idioms in tracer.idioms for name in idioms.section_readers}
    if not any(last_name(call.func) in readers for call in whole):
        return None  # a section has the ``get`` of a table
    section = ast.Subscript(node.func.value, node.args[0], ast.Load())
    fallback = [keyword.value for keyword in node.keywords if keyword.arg == "fallback"]
    same = ast.Call(ast.Attribute(section, node.func.attr, ast.Load()), [node.args[1], *fallback], [])
    for part, around in ((section, same.func), (same.func, same), (same, module.parents[node])):
        module.parents[ast.copy_location(part, node)] = around
    return same
