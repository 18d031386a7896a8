"""What is reported of a decision about a backend: why it is edited, kept, or for review."""

from __future__ import annotations

from ddp_codemod.catalog.model import Parameter
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.values import CurrentBackend, PlatformDefault, Value
from ddp_codemod.kinds import OriginKind
from ddp_codemod.model import Reason
from ddp_codemod.policy.default_argument import describe_default_chooser, pick_default_backend
from ddp_codemod.policy.findings import Change, Context, Finding, NewKeyword, NewText
from ddp_codemod.policy.launcher_condition import explain_wanted_backend, find_launcher_condition
from ddp_codemod.policy.related_backends import explain_limited_versions, explain_missing_name

OMITTED = OriginKind.OMITTED


def is_value_omitted(change: Change) -> bool:
    """Whether a change gives a value that nobody gave; None, written out, is none."""
    if isinstance(change, NewText):
        return isinstance(change.leaf.value, Known) and change.leaf.value.value is None
    return isinstance(change, NewKeyword)


def open_reason(context: Context, parameter: Parameter) -> Reason:
    """Why a review is needed of a value that is omitted: it is not known what that gives on the platform."""
    platform = context.platform
    return Reason.of("review-open", parameter=parameter.name, platform=platform.id, wanted=platform.backend.wanted)


def default_reason(context: Context) -> Reason:
    """Why a review is needed of a value that asks torch."""
    platform = context.platform
    default, wanted = platform.backend.default, platform.backend.wanted
    return Reason.of(
        "review-default", value=default, wanted=wanted, platform=platform.id, why=platform.why, why_zh=platform.why_zh
    )


def text_of(context: Context, leaf: Value, parameter: Parameter) -> str:
    """What a leaf gives on the platform, for the reader; "?" where that is not known."""
    if isinstance(leaf.value, Known) and leaf.value.value is not None:
        return str(leaf.value.value)
    if isinstance(leaf.value, (PlatformDefault, Known)) or leaf.kind == OMITTED:
        return pick_default_backend(context, parameter) if parameter.omitted == "platform-default" else parameter.omitted
    return "get_backend()" if isinstance(leaf.value, CurrentBackend) else "?"


def explain_edit(context: Context, made: Finding, parameter: Parameter, first: Change, count: int) -> Reason:
    """Why the changes are made; ``first`` is the first of ``count``."""
    platform = context.platform
    common = {
        "platform": platform.id,
        **explain_wanted_backend(platform, find_launcher_condition(made, first)),
        "who": describe_default_chooser(context, made.use),
    }
    named = platform.fits(parameter.named_on) and is_value_omitted(first)
    if named and not (isinstance(first, NewKeyword) and first.call is not made.use.call):
        return Reason.of("edit-named", parameter=parameter.name, wanted=platform.backend.wanted, platform=platform.id)
    if isinstance(first, NewText):
        value = text_of(context, first.leaf, parameter)
        common |= {"value": value, "wanted": first.text, **explain_missing_name(context, first.leaf, value)}
        if first.leaf.node is made.argument or first.leaf.outer is made.argument:
            return Reason.of("edit-backend", **common)
        return Reason.of("edit-origin", origin=line_of(first.leaf), count=count, **common)
    common |= {"parameter": parameter.name, "value": pick_default_backend(context, parameter), "wanted": platform.backend.wanted}
    if isinstance(first, NewKeyword) and first.call is not made.use.call:
        line = first.module.line(first.call)
        return Reason.of("edit-named-base" if named else "edit-omitted-base", origin=f"{first.module.name}:{line}", **common)
    return Reason.of("edit-omitted", **common)


def line_of(leaf: Value) -> str:
    """Where a leaf is, FILE:LINE."""
    return f"{leaf.module.name}:{leaf.module.source.position(leaf.place.start)[0]}"


def explain_keep(context: Context, made: Finding, parameter: Parameter) -> Reason:
    """Why nothing is to be changed."""
    kinds = {leaf.kind for leaf in made.possible}
    if kinds == {OMITTED}:
        return Reason.of("keep-inherits" if parameter.omitted == "inherits" else "keep-omitted", parameter=parameter.name)
    if kinds == {OriginKind.PARTIAL}:
        return Reason.of("keep-partial")
    if kinds == {OriginKind.CLASS}:
        return Reason.of("keep-class")
    if kinds == {OriginKind.PARAMETER}:
        return Reason("keep-parameter", next(leaf.why.args for leaf in made.possible if leaf.why))
    if any(isinstance(leaf.value, CurrentBackend) for leaf in made.possible):
        return Reason.of("keep-current")
    if (given := next((leaf for leaf in made.possible if leaf.kind == OriginKind.HANDED_ON), None)) is not None:
        return Reason.of("keep-handed-on", text=given.text)
    named = ((leaf, leaf.value.value) for leaf in made.possible if isinstance(leaf.value, Known))
    later = (explain_limited_versions(context, leaf, text) for leaf, text in named if isinstance(text, str))
    return next(filter(None, later), made.reason)


def explain_variable_set(variable: str, value: object) -> Reason:
    """That a variable is set before a call, and to what where that is known."""
    if isinstance(value, Known):
        return Reason.of("keep-environment-set", variable=variable, value=value.value)
    return Reason.of("keep-environment-set-open", variable=variable)
