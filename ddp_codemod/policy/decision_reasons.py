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


def is_default_used(change: Change) -> bool:
    """Whether a change gives a value that nobody gave; None, written out, is none."""
    if isinstance(change, NewText):
        return isinstance(change.source.value, Known) and change.source.value.value is None
    return isinstance(change, NewKeyword)


def open_reason(context: Context, parameter: Parameter) -> Reason:
    """Why a review is needed of a value that is omitted: it is not known what that gives on the platform."""
    platform = context.platform
    return Reason.of("review-open", parameter=parameter.name, platform=platform.id, wanted=platform.backend.wanted)


def default_reason(context: Context, parameter: Parameter) -> Reason:
    """Why a review is needed of a value that asks torch."""
    platform = context.platform
    said = {"value": platform.backend.default, "wanted": platform.backend.wanted, "platform": platform.id}
    said |= {"why": platform.why, "why_zh": platform.why_zh}
    if parameter.add == "never" and parameter.instead:
        return Reason.of("review-no-group", instead=parameter.instead, instead_zh=parameter.instead_zh, **said)
    return Reason.of("review-default", **said)


def text_of(context: Context, source: Value, parameter: Parameter) -> str:
    """What a source gives on the platform, for the reader; "?" where that is not known."""
    if isinstance(source.value, Known) and source.value.value is not None:
        return str(source.value.value)
    if isinstance(source.value, (PlatformDefault, Known)) or source.kind == OMITTED:
        return pick_default_backend(context, parameter) if parameter.omitted == "platform-default" else parameter.omitted
    return "get_backend()" if isinstance(source.value, CurrentBackend) else "?"


def explain_edit(context: Context, finding: Finding, parameter: Parameter, first: Change, count: int) -> Reason:
    """Why the changes are made; ``first`` is the first of ``count``."""
    platform = context.platform
    common = {
        "platform": platform.id,
        **explain_wanted_backend(platform, find_launcher_condition(finding, first)),
        "who": describe_default_chooser(context, finding.use),
    }
    named = platform.fits(parameter.named_on) and is_default_used(first)
    if named and not (isinstance(first, NewKeyword) and first.call is not finding.use.call):
        return Reason.of("edit-named", parameter=parameter.name, wanted=platform.backend.wanted, platform=platform.id)
    if isinstance(first, NewText):
        value = text_of(context, first.source, parameter)
        common |= {"value": value, "wanted": first.text, **explain_missing_name(context, first.source, value)}
        if first.source.node is finding.argument or first.source.outer is finding.argument:
            return Reason.of("edit-backend", **common)
        return Reason.of("edit-origin", origin=line_of(first.source), count=count, **common)
    common |= {"parameter": parameter.name, "value": pick_default_backend(context, parameter), "wanted": platform.backend.wanted}
    if isinstance(first, NewKeyword) and first.call is not finding.use.call:
        line = first.module.line(first.call)
        return Reason.of("edit-named-base" if named else "edit-omitted-base", origin=f"{first.module.name}:{line}", **common)
    return Reason.of("edit-omitted", **common)


def line_of(source: Value) -> str:
    """Where a source is, FILE:LINE."""
    return f"{source.module.name}:{source.module.source.position(source.place.start)[0]}"


def explain_keep(context: Context, finding: Finding, parameter: Parameter) -> Reason:
    """Why nothing is to be changed."""
    kinds = {source.kind for source in finding.possible}
    if kinds == {OMITTED}:
        return Reason.of("keep-inherits" if parameter.omitted == "inherits" else "keep-omitted", parameter=parameter.name)
    if kinds == {OriginKind.PARTIAL}:
        return Reason.of("keep-partial")
    if kinds == {OriginKind.CLASS}:
        return Reason.of("keep-class")
    if kinds == {OriginKind.PARAMETER}:
        return Reason("keep-parameter", next(source.why.args for source in finding.possible if source.why))
    if any(isinstance(source.value, CurrentBackend) for source in finding.possible):
        return Reason.of("keep-current")
    if (given := next((source for source in finding.possible if source.kind == OriginKind.HANDED_ON), None)) is not None:
        return Reason.of("keep-handed-on", text=given.text)
    named = ((source, source.value.value) for source in finding.possible if isinstance(source.value, Known))
    later = (explain_limited_versions(context, source, text) for source, text in named if isinstance(text, str))
    return next(filter(None, later), finding.reason)


def explain_variable_set(variable: str, value: object) -> Reason:
    """That a variable is set before a call, and to what where that is known."""
    if isinstance(value, Known):
        return Reason.of("keep-environment-set", variable=variable, value=value.value)
    return Reason.of("keep-environment-set-open", variable=variable)
