"""The objects that stand for texts, such as Lightning's DDPStrategy for "ddp", and what is reported of them."""

from __future__ import annotations

import ast

from ddp_codemod.catalog.model import Parameter
from ddp_codemod.catalog.objects import TextObject
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.values import Value
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.findings import Context, NewObject
from ddp_codemod.sites.surface_calls import Use


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


def make_object(context: Context, use: Use, parameter: Parameter, wanted: TextObject, source: Value | None = None) -> NewObject:
    """The object that stands for a text, with the backend."""
    return NewObject(
        use.module, use.call, parameter.name, source, _find_module(context, use.module, parameter, wanted), class_name(context, wanted),
        tuple(wanted.arguments.items()), backend_of(context, wanted).name, context.platform.backend.wanted,
    )  # fmt: skip


def _find_module(context: Context, module: Module, parameter: Parameter, wanted: TextObject) -> str:
    """The module that the class comes from: the one that the file imports it from already, else where the framework offers it."""
    assert parameter.objects is not None
    name = class_name(context, wanted)
    for node in module.tree.body:
        if (
            isinstance(node, ast.ImportFrom)
            and not node.level
            and any(alias.name == name and not alias.asname for alias in node.names)
        ):
            known = context.tracer.finder.surface(f"{node.module}.{name}")
            if known is not None and known.id == wanted.surface:
                return str(node.module)
    return parameter.objects.module
