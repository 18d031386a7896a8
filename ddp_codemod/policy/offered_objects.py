"""Texts for objects that only a user gives: what an option lists as its choices, or takes where it lists none."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from ddp_codemod.catalog.model import Parameter
from ddp_codemod.catalog.objects import TextObject
from ddp_codemod.dataflow.declared_options import find_declarations
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.options import find_choices
from ddp_codemod.dataflow.translations import find_translation
from ddp_codemod.dataflow.values import Value
from ddp_codemod.discover.kinds import is_test
from ddp_codemod.kinds import Meaning
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.choice_lists import list_elements
from ddp_codemod.policy.device_arguments import explain_by_object
from ddp_codemod.policy.device_counts import Count, count_devices
from ddp_codemod.policy.findings import Context, unreachable
from ddp_codemod.policy.text_objects import backend_of, build_object_arguments, explain_object, resolve_text_object
from ddp_codemod.sites.surface_calls import Use

_CHANGED = frozenset({Meaning.PART, Meaning.TRANSLATED})  # what arrives is another text than the option has


Offered = dict[str, tuple[TextObject, bool]]  # by the text; whether an edit that names the object would be safe


def list_offered_objects(
    context: Context, use: Use, parameter: Parameter, argument: ast.expr | None, sources: Iterable[Value], is_named: bool = False
) -> Offered:
    """The objects for the texts that a user may give.

    Those among an option's choices; where it lists none, and the project names no object either (``is_named``), the one that
    the framework itself takes for several devices.
    """
    objects, module = parameter.objects, use.module
    assert objects is not None
    found: Offered = {}
    if (
        argument is None
        or is_test(module.name)
        or unreachable(context, use)
        or explain_by_object(context, module, use.call, objects)
    ):
        return found
    for declared in _find_options(context, sources):
        if declared is None:
            declared = [] if is_named or count_devices(context, use, objects) is Count.ONE else [objects.automatic]
        for text in declared:
            if (known := resolve_text_object(context, module.name, parameter, Known(text))) is not None:
                wanted, sure = known
                found[text] = wanted, sure and backend_of(context, wanted).add_applicability == "safe"
    return found


def explain_offered_objects(context: Context, parameter: Parameter, left: dict[str, TextObject]) -> Reason | None:
    """That a user may give texts whose objects an edit would not surely make right; None where there are none."""
    if not left:
        return None
    first = next(iter(left.values()))
    texts = ", ".join(f'"{text}"' for text in left)
    arguments = build_object_arguments(context, parameter, first)
    return Reason.of("review-object-offered", texts=texts, value=context.platform.backend.default, **arguments)


def explain_nothing_given(context: Context, parameter: Parameter, wanted: TextObject) -> Reason:
    """That the framework picks one of them where a user names none and asks for several devices."""
    return Reason("review-object-open", explain_object(context, parameter, wanted).args)


def explain_objects_left(context: Context, use: Use, parameter: Parameter, argument: ast.expr | None) -> Reason | None:
    """The same for an argument that passes objects for other texts already."""
    made = find_translation(argument) if argument is not None else None
    choice = context.platform.backend
    if made is None or choice.default in choice.works:
        return None
    sources = [*context.tracer.evaluate(use.module, made.given)]
    offered = list_offered_objects(context, use, parameter, argument, sources)
    translated = {text.lower() for text in made.texts if text is not None}
    left = {text: wanted for text, (wanted, _) in offered.items() if text.lower() not in translated}
    found, objects = explain_offered_objects(context, parameter, left), parameter.objects
    if found is None and objects is not None and objects.namespace is not None and None not in made.texts:
        automatic = resolve_text_object(context, use.module.name, parameter, Known(objects.automatic))
        named = all(isinstance(source.value, Known) and source.value.value is not None for source in sources)
        return explain_nothing_given(context, parameter, automatic[0]) if automatic is not None and not named else None
    return found


def _find_options(context: Context, sources: Iterable[Value]) -> Iterator[Sequence[str] | None]:
    """The choices of each option that a user gives the value by, None where it lists none."""
    seen = set()
    for source in sources:
        if any(step.reason.means in _CHANGED for step in source.trace.passed) or source.trace.doubt is not None:
            continue
        for step in source.trace.passed:
            name = dict(step.reason.args).get("name", "")
            if (step.place, name) in seen:
                continue
            seen.add((step.place, name))
            for module, call, flag in find_declarations(context.tracer, name).get(step.place.name, ()):
                if module.place(call) == step.place:
                    yield _list_choices(module, find_choices(call, flag))


def _list_choices(module: Module, listed: ast.expr | None) -> Sequence[str] | None:
    if listed is None:
        return None
    values = [part.value for part in list_elements(module, listed) if isinstance(part, ast.Constant)]
    return [value for value in values if isinstance(value, str)]
