"""The result of a choice on the platform: a ternary, an ``or``, an ``and``."""

from __future__ import annotations

import ast

from msgspec.structs import replace

from ddp_codemod.dataflow.fold import Known, truth
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.dataflow.values import Trace, Value
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module


def trace_conditional(tracer: Tracer, module: Module, node: ast.IfExp | ast.BoolOp, trace: Trace) -> list[Value]:
    """The parts of a ternary, or of an ``or``, that can be what it gives on the platform."""
    parts: list[ast.expr] = []
    if isinstance(node, ast.IfExp):
        known = tracer.facts.truth(module, node.test, trace.frame)
        trace = trace.step(module.place(node.test), explain_condition(module, node.test, known))
        parts = [node.body, node.orelse] if known is None else [node.body] if known else [node.orelse]
    else:
        ends = isinstance(node.op, ast.Or)
        for part in node.values[:-1]:
            known = tracer.facts.truth(module, part, trace.frame)
            if known is not (not ends):
                parts.append(part)
            if known is ends:
                break
        else:
            parts.append(node.values[-1])
    found: list[Value] = []
    for part in parts:
        for source in tracer.evaluate(module, part, trace):
            falsy = isinstance(source.value, Known) and truth(source.value) is False
            if isinstance(node, ast.BoolOp) and part is not node.values[-1]:
                if falsy and isinstance(node.op, ast.Or):
                    continue  # None or "" in front of an ``or`` is never the result
                if isinstance(node.op, ast.And) and not (isinstance(source.value, Known) and source.value.value is None):
                    continue  # in front of an ``and`` nothing else is, but for None
            inside = source.module is module and (source.node is part or source.outer is part)
            if inside and isinstance(node, ast.IfExp):
                source = replace(source, outer=node, decided=source.decided and len(parts) == 1)
            found.append(source)
    return found


def explain_condition(module: Module, test: ast.expr, known: bool | None) -> Reason:
    """What a condition comes to on the platform, as a step of a path."""
    key = "hop-condition-open" if known is None else "hop-condition-true" if known else "hop-condition-false"
    return Reason.of(key, text=module.short_text(test))
