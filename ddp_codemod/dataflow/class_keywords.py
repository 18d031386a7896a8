"""What class statements hand over beside their bases: ``class Gpu(Launcher, backend="nccl")``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ddp_codemod.dataflow.calls import Def
from ddp_codemod.dataflow.leaves import Leaf, Way
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.kinds import Meaning, OriginKind
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module

TAKES_KEYWORDS = "__init_subclass__"


def handed_over(tracer: Tracer, module: Module, function: Def, name: str, way: Way) -> list[Leaf]:
    """What the classes that derive from one hand over to a parameter of its ``__init_subclass__``."""
    found: list[Leaf] = []
    for other, keyword in keywords(tracer, module, function, name):
        reason = Reason.of("hop-argument", Meaning.ARGUMENT, name=name, function=function.name)
        step = way.hop(other.place(keyword), reason, OriginKind.ARGUMENT)
        found += tracer.evaluate(other, keyword.value, step.inside(None))
    return found


def keywords(tracer: Tracer, module: Module, function: Def, name: str) -> Iterator[tuple[Module, ast.keyword]]:
    """The keywords of class statements that a parameter takes."""
    around = module.parents.get(function)
    if function.name != TAKES_KEYWORDS or not isinstance(around, ast.ClassDef):
        return
    for other, node in tracer.resolver.subclasses(around):
        yield from ((other, keyword) for keyword in node.keywords if keyword.arg == name)
