"""Process groups that are not for the platform's own devices: the call of a framework says so by a keyword (``accelerator="cpu"``)."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from ddp_codemod.catalog.objects import Beside, Objects
from ddp_codemod.dataflow.fold import UNKNOWN, Known
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.findings import Context
from ddp_codemod.sites.scopes import scope_of
from ddp_codemod.sites.surface_calls import Use

Values = Mapping[str, tuple[str, ...]]


def explain_by_keyword(context: Context, module: Module, call: ast.Call, elsewhere: Values) -> Reason | None:
    """Why the group of a call is for other devices, if a keyword says so."""
    for keyword in call.keywords:
        value = context.facts.fold(module, keyword.value) if keyword.arg in elsewhere else None
        if isinstance(value, Known) and keyword.arg and value.value in elsewhere[keyword.arg]:
            return Reason.of("keep-object-elsewhere", text=f'{keyword.arg}="{value.value}"')
    return None


def explain_by_object(context: Context, module: Module, call: ast.Call, objects: Objects) -> Reason | None:
    """The same for a call that takes an object, also where it counts no other devices than those: ``Trainer(tpu_cores=8)``."""
    passed = {keyword.arg for keyword in call.keywords}
    if None not in passed and passed.isdisjoint(objects.several):
        for keyword in (one for one in call.keywords if one.arg in objects.other_counts):
            value = context.facts.fold(module, keyword.value)
            if not isinstance(value, Known) or value.value:
                return Reason.of("keep-object-elsewhere", text=f"{keyword.arg}={module.text(keyword.value)}")
    return explain_by_keyword(context, module, call, objects.elsewhere)


def explain_by_argument(context: Context, module: Module, call: ast.Call, beside: Beside | None) -> Reason | None:
    """The same, where an object says so that the call is passed beside: ``ScalingConfig(use_gpu=False)``."""
    given = [keyword.value for keyword in call.keywords if beside is not None and keyword.arg == beside.keyword]
    if beside is None or not given:
        return None
    sources = context.tracer.evaluate(module, given[0])
    for source in sources:
        if not isinstance(source.module, Module) or not isinstance(source.node, ast.Call) or source.trace.doubt is not None:
            return None
        if not set(context.tracer.resolver.names(source.module, source.node.func)) & {*beside.names}:
            return None
        value = _find_argument(source.node, beside)
        said = value if isinstance(value, bool) else context.facts.fold(source.module, value) if value is not None else UNKNOWN
        if said not in (beside.value, Known(beside.value)):
            return None
    name = beside.names[0].rpartition(".")[2]
    return Reason.of("keep-object-elsewhere", text=f"{name}({beside.argument}={beside.value})") if sources else None


def _find_argument(call: ast.Call, beside: Beside) -> ast.expr | bool | None:
    """What the call gives for the argument, or what leaving it out means; None where something is unpacked."""
    if any(isinstance(part, ast.Starred) for part in call.args) or any(keyword.arg is None for keyword in call.keywords):
        return None
    named = [keyword.value for keyword in call.keywords if keyword.arg == beside.argument]
    at = beside.position
    placed = [call.args[at]] if at is not None and at < len(call.args) else []
    return next(iter((*named, *placed)), beside.omitted)


def explain_takers(context: Context, use: Use) -> Reason | None:
    """The same for an object that is made here: what the calls say that take it, where all of them say so."""
    takers = list(_find_takers(use.module, use.call))
    if not takers:
        return None
    parameters = [parameter for surface in context.rules.surfaces.values() for parameter in surface.parameters]
    tables = [parameter.objects.elsewhere for parameter in parameters if parameter.objects is not None]
    elsewhere = {name: values for table in tables for name, values in table.items()}
    others = [parameter.beside for parameter in parameters if parameter.beside is not None]
    said = [
        explain_by_keyword(context, use.module, call, elsewhere)
        or next((why for beside in others if (why := explain_by_argument(context, use.module, call, beside)) is not None), None)
        for call in takers
    ]
    return said[0] if all(said) else None


def _find_takers(module: Module, made: ast.Call) -> Iterator[ast.Call]:
    """The calls of the same function that an object is handed to by keyword, at once or through a variable."""
    around = module.parents.get(made)
    names = {target.id for target in around.targets if isinstance(target, ast.Name)} if isinstance(around, ast.Assign) else set()
    for keyword in module.nodes.get(ast.keyword, ()):
        assert isinstance(keyword, ast.keyword)
        call = module.parents[keyword]
        named = isinstance(keyword.value, ast.Name) and keyword.value.id in names
        if isinstance(call, ast.Call) and (keyword.value is made or (named and scope_of(module, call) is scope_of(module, made))):
            yield call
