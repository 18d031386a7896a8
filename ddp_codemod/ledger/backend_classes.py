"""Classes that are a backend themselves and that code keeps as a value: ``return dist.ProcessGroupNCCL``. Who calls them is not seen."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

from ddp_codemod.catalog.backends import assess
from ddp_codemod.catalog.model import Surface
from ddp_codemod.dataflow.outside_calls import may_call
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.discover.kinds import is_test
from ddp_codemod.model import Reason, Uncovered
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.policy.findings import Context
from ddp_codemod.sites.entities import Definition

_KEPT = (ast.Assign, ast.AnnAssign, ast.Dict, ast.IfExp, ast.Return, ast.List, ast.Tuple, ast.Lambda, ast.keyword, ast.Call)


def find_backend_classes(context: Context, admits: Callable[[str], bool]) -> Iterator[Uncovered]:
    """Each place that keeps or passes on such a class, of those that the platform lacks."""
    names = {
        name: wanted
        for surface in context.rules.surfaces.values()
        if (wanted := _find_wrong_backend(context, surface))
        for name in surface.names
    }
    tracer, project = context.tracer, context.tracer.resolver.project
    words = {name.rpartition(".")[2] for name in names}
    for name in sorted({file for word in words for file in project.mentioning(word) if admits(file) and not is_test(file)}):
        for module in project.programs(name):
            for node in _find_kept(tracer, module, words):
                found = next((known for known in tracer.resolver.names(module, node) if known in names), None)
                if found is not None:
                    place = module.place(node)
                    reason = Reason.of("uncovered-class", text=last_name(node), name=names[found])
                    yield Uncovered(place, module.source.position(place.start)[0], last_name(node), reason)


def _find_wrong_backend(context: Context, surface: Surface) -> str | None:
    """The backend that all objects of a class have, where it does not work on the platform."""
    for parameter in surface.parameters:
        if parameter.role == "backend" and parameter.add == "never" and parameter.position is None:
            text = parameter.omitted_value
            if text is not None and assess(text, context.platform.backend, context.rules.backends).wanted is not None:
                return text if surface.names[0].rpartition(".")[2][:1].isupper() else None
    return None


def _find_kept(tracer: Tracer, module: Module, words: Iterable[str]) -> Iterator[ast.expr]:
    """The expressions that end in one of the words and whose value goes on, in code that runs on the platform."""
    wanted = set(words)
    for kind in (ast.Attribute, ast.Name):
        for node in module.nodes.get(kind, ()):
            if not isinstance(node, ast.expr) or last_name(node) not in wanted:
                continue
            around = module.parents.get(node)
            if not isinstance(around, _KEPT) or _is_asked_or_called(tracer, module, node, around):
                continue
            if tracer.facts.unset.unreachable(module, node) is None:
                yield node


def _is_asked_or_called(tracer: Tracer, module: Module, node: ast.expr, around: ast.AST) -> bool:
    """Whether a call makes an object of the class, which is a site of its own, or only asks about it; or it is a type."""
    if isinstance(around, ast.AnnAssign):
        return node is not around.value
    if isinstance(around, (ast.Assign, ast.IfExp, ast.Return, ast.Lambda)):
        return isinstance(around, ast.IfExp) and node is around.test
    if isinstance(around, ast.Dict):
        return node not in around.values
    for call in module.ancestors(node):
        if isinstance(call, ast.stmt):
            return False
        if isinstance(call, ast.Subscript):
            return True  # a type: ``tuple[ProcessGroupNCCL, ...]``
        if isinstance(call, ast.Call):
            own = any(isinstance(one, Definition) for one in tracer.resolver.resolve(module, call.func))
            return call.func is node or not (own or may_call(tracer, module, call))
    return False
