"""The objects that stand for texts, such as Lightning's DDPStrategy for "ddp", and what is reported of them."""

from __future__ import annotations

from ddp_codemod.catalog.model import Parameter
from ddp_codemod.catalog.objects import TextObject
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.model import Reason
from ddp_codemod.policy.findings import Context


def resolve_text_object(context: Context, file: str, parameter: Parameter, value: object) -> tuple[TextObject, bool] | None:
    """The object that a text stands for at the project's versions, and whether those are sure."""
    assert parameter.objects is not None
    if not isinstance(value, Known) or not isinstance(value.value, str):
        return None
    for entry in context.rules.objects.get(parameter.objects.table, ()):
        if entry.text == value.value.lower() and (holds := context.versions.holds(entry.when, file)) is not False:
            return entry, holds is True
    return None


def backend_of(context: Context, wanted: TextObject) -> Parameter:
    """The parameter of the object's class that takes the backend."""
    return next(parameter for parameter in context.rules.surfaces[wanted.surface].parameters if parameter.role == "backend")


def class_name(context: Context, wanted: TextObject) -> str:
    """The name of the object's class, as it is imported."""
    return context.rules.surfaces[wanted.surface].names[0].rpartition(".")[2]


def explain_manual_object(context: Context, parameter: Parameter, wanted: TextObject) -> Reason:
    """That a user has to put the object where the text is."""
    return Reason.of("review-object", text=wanted.text, **build_object_arguments(context, parameter, wanted))


def explain_object(context: Context, parameter: Parameter, wanted: TextObject) -> Reason:
    """Why the object takes the text's place."""
    return Reason.of(
        "edit-object",
        text=wanted.text,
        value=context.platform.backend.default,
        **build_object_arguments(context, parameter, wanted),
    )


def build_object_arguments(context: Context, parameter: Parameter, wanted: TextObject) -> dict[str, str]:
    """What the reasons of either kind name."""
    platform = context.platform
    assert parameter.objects is not None
    return {
        "parameter": parameter.name, "name": f"{parameter.objects.module}.{class_name(context, wanted)}",
        "keyword": backend_of(context, wanted).name, "wanted": platform.backend.wanted,
        "platform": platform.id, "why": platform.why, "why_zh": platform.why_zh,
    }  # fmt: skip
