"""What class statements hand over beside their bases: ``class Gpu(Launcher, backend="nccl")``."""

from __future__ import annotations

import ast

from ddp_codemod.dataflow.calls import Def
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.dataflow.values import Trace, Value
from ddp_codemod.kinds import Meaning, OriginKind
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module


def trace_class_keyword(tracer: Tracer, module: Module, function: Def, name: str, trace: Trace) -> list[Value]:
    """What the classes that derive from one hand over to a parameter of its ``__init_subclass__``."""
    around = module.parents.get(function)
    if function.name != "__init_subclass__" or not isinstance(around, ast.ClassDef):
        return []
    found: list[Value] = []
    for other, node in tracer.resolver.subclasses(around):
        for keyword in (one for one in node.keywords if one.arg == name):
            reason = Reason.of("hop-argument", Meaning.ARGUMENT, name=name, function=function.name)
            step = trace.step(other.place(keyword), reason, OriginKind.ARGUMENT)
            found += tracer.evaluate(other, keyword.value, step.inside(None))
    return found
