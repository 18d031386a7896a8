"""Names that are unpacked: ``a, b = "nccl", 2``, ``a, b = f()``."""

from __future__ import annotations

import ast

from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.dataflow.values import Trace, Value
from ddp_codemod.kinds import OriginKind
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.scopes import Binding


def trace_unpacked(tracer: Tracer, module: Module, binding: Binding, trace: Trace) -> list[Value]:
    """``a, b = "nccl", 2``: the element of what is there, or of each tuple that the expression can give."""
    assert binding.value is not None
    found = [(module, binding.value, trace)]
    for index in binding.path:
        inside: list[tuple[Module, ast.expr, Trace]] = []
        for home, at, step in found:
            if isinstance(at, (ast.Tuple, ast.List)):
                displays = [(home, at, step)]
            else:
                sources = tracer.evaluate(home, at, step)
                displays = [(*source.code, source.trace) for source in sources if isinstance(source.node, (ast.Tuple, ast.List))]  # type: ignore[misc]
                if not sources or len(displays) < len(sources):
                    return [tracer.unknown(module, binding.node, trace, "why-binding", name=binding.name)]
            for where, display, gone in displays:
                if index >= len(display.elts) or any(isinstance(part, ast.Starred) for part in display.elts[: index + 1]):
                    return [tracer.unknown(module, binding.node, trace, "why-binding", name=binding.name)]
                inside.append((where, display.elts[index], gone))
        found = inside
    reason = Reason.of("hop-assigned", name=binding.name)
    return [
        source
        for home, at, step in found
        for source in tracer.evaluate(home, at, step.step(module.place(binding.node), reason, OriginKind.ASSIGNMENT))
    ]
