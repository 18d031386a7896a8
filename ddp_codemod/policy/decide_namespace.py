"""Matches calls that take what names their object from the options of a command line, such as Lightning's ``Trainer.from_argparse_args(args)``."""

from __future__ import annotations

import ast

from ddp_codemod.catalog.fix import Fix
from ddp_codemod.catalog.model import Parameter
from ddp_codemod.dataflow.allocation_sites import AllocationKind, find_origins
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.options import trace_field_option
from ddp_codemod.dataflow.values import Trace, Value
from ddp_codemod.kinds import OriginKind
from ddp_codemod.model import Action
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.decide_backend_variable import decide_backend_variable, is_for_old_versions
from ddp_codemod.policy.findings import Context, Finding, NewObject, ObjectChoice
from ddp_codemod.policy.offered_objects import Offered, explain_nothing_given, explain_offered_objects, list_offered_objects
from ddp_codemod.policy.text_objects import backend_of, explain_object, make_object, resolve_text_object
from ddp_codemod.sites.surface_calls import Use

_AT_LAUNCH = frozenset({OriginKind.COMMAND_LINE, OriginKind.LAUNCH, OriginKind.LAUNCH_VARIABLE})  # another start may give nothing


def decide_namespace(context: Context, use: Use, parameter: Parameter, fix: Fix) -> Finding | None:
    """Decide about a call that passes an attribute of the options on: an object takes the place of the texts that may be it.

    What Lightning picks where the options name none depends on how many devices they ask for, which stays for review.
    """
    whole = decide_backend_variable(context, use, parameter, fix)
    held = _find_options(context, use, parameter)
    chosen = parameter.objects.chosen if parameter.objects is not None else None
    if whole is None or whole.action is not Action.REVIEW or held is None or chosen is None:
        return whole
    if is_for_old_versions(context, use, chosen) or context.versions.holds(chosen.when, use.module.name, asks=False) is True:
        return whole
    sources, offered = _list_texts(context, use, parameter, held)
    declared = any({source.kind, source.trace.kind}.isdisjoint(_AT_LAUNCH) for source in sources)
    stated = context.versions.holds(chosen.when, use.module.name, asks=False) is False
    if not offered or not (stated or sources):
        return whole  # older releases, which have no such object, are as likely
    safe = {text: found for text, found in offered.items() if found[1]} or offered
    objects: tuple[tuple[str | None, NewObject], ...] = tuple(
        (text, make_object(context, use, parameter, wanted)) for text, (wanted, _) in safe.items()
    )
    rest = explain_offered_objects(context, parameter, {text: found[0] for text, found in offered.items() if text not in safe})
    known = declared and all(isinstance(source.value, Known) and source.value.value is not None for source in sources)
    first, doubted = next(iter(safe.values()))[0], any(source.trace.doubt is not None for source in sources)
    nothing = () if known else (explain_nothing_given(context, parameter, first),)
    left = (*nothing, *([rest] if rest is not None else []))
    change = ObjectChoice(use.module, held, objects, left=left, attribute=parameter.name, perhaps=not declared or doubted)
    sure = fix.applicability == "safe" and use.is_exact and not doubted and all(is_sure for _, is_sure in safe.values())
    return whole.edit(fix.id, sure, explain_object(context, parameter, first), [change])


def _find_options(context: Context, use: Use, parameter: Parameter) -> ast.expr | None:
    """The name of the object that holds the options; None where it may be another kind of object, or comes with keywords unseen."""
    at = parameter.objects.namespace if parameter.objects is not None else None
    if (
        at is None
        or at >= len(use.call.args)
        or use.spread
        or not isinstance(held := use.call.args[at], (ast.Name, ast.Attribute))
    ):
        return None
    made = find_origins(context.tracer, use.module, held, Trace()).made
    return held if made and all(one.maker is AllocationKind.OPTIONS and not one.path for one in made) else None


def _list_texts(context: Context, use: Use, parameter: Parameter, held: ast.expr) -> tuple[list[Value], Offered]:
    """What the project gives the attribute, and the objects for that and for what a user may give."""
    node = _read_attribute(use.module, use.call, held, parameter.name)
    sources = [source for source in context.tracer.evaluate(use.module, node) if not source.is_lost]
    offered: Offered = {}
    if not sources:  # an option that the framework itself declares
        sources = trace_field_option(
            context.tracer, parameter.name, find_origins(context.tracer, use.module, held, Trace()).homes, Trace()
        )
    for source in sources:
        text = source.value.value if isinstance(source.value, Known) else None
        found = resolve_text_object(context, use.module.name, parameter, source.value)
        if found is not None and isinstance(text, str):
            offered[text] = found[0], found[1] and backend_of(context, found[0]).add_applicability == "safe"
    offered |= {
        text: found
        for text, found in list_offered_objects(context, use, parameter, node, sources, is_named=bool(offered)).items()
        if text not in offered
    }
    if not sources and parameter.objects is not None:
        automatic = resolve_text_object(context, use.module.name, parameter, Known(parameter.objects.automatic))
        offered = {parameter.objects.automatic: automatic} if automatic is not None else {}
    return sources, offered


def _read_attribute(module: Module, call: ast.Call, held: ast.expr, name: str) -> ast.Attribute:
    """``args.strategy``, as if the call passed it."""
    kept = module.cache.setdefault(f"attribute-passed-on {name}", {})
    assert isinstance(kept, dict)
    if call not in kept:
        node = ast.copy_location(ast.Attribute(held, name, ast.Load()), held)
        module.parents[node] = call
        kept[call] = node
    result = kept[call]
    assert isinstance(result, ast.Attribute)
    return result
