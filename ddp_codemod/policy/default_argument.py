"""Values that are omitted: what the framework then picks, and whether naming one would do anything."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from ddp_codemod.catalog.fix import Fix
from ddp_codemod.catalog.model import Parameter
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.messages import text
from ddp_codemod.model import Action, Applicability, Reason
from ddp_codemod.policy.dominating_init import find_dominating_init
from ddp_codemod.policy.findings import AnyUse, Context, Finding
from ddp_codemod.policy.ignored_arguments import describe_effective_argument, init_before_call, redirect_ignored_argument
from ddp_codemod.policy.launcher_condition import explain_wanted_backend
from ddp_codemod.policy.versions import format_versions
from ddp_codemod.policy.visible_groups import Visibility, assess_use
from ddp_codemod.sites.surface_calls import Use


def pick_default_backend(context: Context, parameter: Parameter) -> str:
    """The backend that results on the platform where a parameter is omitted; "" where that is not known."""
    for pick in parameter.picks:
        if all(context.platform.facts.get(name) == value for name, value in pick.facts.items()):
            return pick.value
    return context.platform.backend.default


def describe_default_chooser(context: Context, use: AnyUse) -> str:
    """Who picks the backend where it is omitted, for the reader."""
    return context.rules.frameworks[use.surface.id]


def is_default_wrong(context: Context, parameter: Parameter) -> bool:
    """Whether that is a backend which does not work on the platform."""
    choice = pick_default_backend(context, parameter)
    return bool(choice) and choice not in context.platform.backend.works


def build_default_arguments(context: Context, parameter: Parameter, name: str = "") -> dict[str, str]:
    """What the reasons for a value that is omitted say; ``name`` is what the reader knows the parameter by."""
    platform = context.platform
    return {
        "parameter": name or parameter.name, "value": pick_default_backend(context, parameter), "wanted": platform.backend.wanted,
        "platform": platform.id, **explain_wanted_backend(platform, parameter.launched),
    }  # fmt: skip


def decide_default_backend(context: Context, parameter: Parameter, finding: Finding, fix: Fix) -> Finding:
    """The finding for a value that is omitted and would be wrong: ``finding`` where naming one helps, unsafe where that is not sure.

    Otherwise it is kept, because no group is made there or one exists by then, or listed for review with what does help.
    """
    use = finding.use
    if not isinstance(use, Use):
        return finding
    sure, why = assess_use(context, use)
    if why is not None:
        return finding.keep(why)
    for keyword in use.call.keywords:
        value = context.facts.fold(use.module, keyword.value) if keyword.arg in use.surface.given else None
        if isinstance(value, Known) and keyword.arg and value.value is use.surface.given[keyword.arg]:
            return finding.keep(Reason.of("keep-given", text=use.module.text(keyword.value)))
    if (before := explain_existing_group(context, use)) is not None:
        return finding.keep(before)
    ruled = replace(finding if sure is Visibility.YES else mark_unsafe(finding), rule=fix.id)
    if (instead := explain_old_versions(context, use.module.name, parameter)) is not None:
        needed = format_versions(parameter.since)
        return init_before_call(context, parameter, ruled, "edit-finding-first-old", versions=needed) or finding.review(
            fix.id, instead
        )
    if (other := redirect_ignored_argument(context, use, parameter, ruled)) is not None:
        return other
    if sure is Visibility.YES:
        return mark_unsure_of_versions(context, parameter, use.module.name, finding)
    return mark_unsafe(name_needed_versions(context, parameter, use.module.name, finding))


def explain_existing_group(context: Context, use: Use) -> Reason | None:
    """Why a call's backend decides nothing: the group surely exists by then, and the call takes it; None for others."""
    maker = find_dominating_init(context, use) if use.surface.finds_group else None
    if maker is None or not maker.sure:
        return None
    return Reason.of("keep-made-before", origin=f"{maker.module.name}:{maker.module.line(maker.node)}")


def mark_unsure_of_versions(context: Context, parameter: Parameter, name: str, finding: Finding) -> Finding:
    """The same; its edit is unsafe where what the project says of its versions is at odds, and under a part of it nobody knows the parameter.

    So it is where nothing is reported of them, and older versions are common.
    """
    if finding.action is not Action.EDIT:
        return finding
    arguments = build_default_arguments(context, parameter, describe_effective_argument(context, parameter)["parameter"])
    if (stated := context.versions.find_conflict(parameter.since, name)) is None:
        by = _find_older_keyword(parameter, finding)
        if not (parameter.since_stated or by) or context.versions.holds(parameter.since, name, asks=False):
            return name_needed_versions(context, parameter, name, finding)
        key = "edit-older-call" if by else "edit-unstated"
        return mark_unsafe(replace(finding, reason=Reason.of(key, versions=format_versions(parameter.since), by=by, **arguments)))
    reason = Reason.of(
        "edit-too-old", versions=format_versions(parameter.since), origin=stated.origin, stated=stated.specifier, **arguments
    )
    return mark_unsafe(replace(finding, reason=reason))


def name_needed_versions(context: Context, parameter: Parameter, name: str, finding: Finding) -> Finding:
    """The same; where the project states none of the versions that know the parameter, its reason names them."""
    if not parameter.since or context.versions.holds(parameter.since, name, asks=False):
        return finding
    args, versions = dict(finding.reason.args), format_versions(parameter.since)
    if "why" not in args or versions in args["why"]:  # a class and its field are decided one after the other
        return finding
    told = {
        "why": text("why-needs-versions", why=args["why"], versions=versions),
        "why_zh": text("why-needs-versions", "zh", why=args.get("why_zh") or args["why"], versions=versions),
    }
    return replace(finding, reason=replace(finding.reason, args=tuple({**args, **told}.items())))


def _find_older_keyword(parameter: Parameter, finding: Finding) -> str:
    """A keyword of the call that only older releases take; "" where there is none."""
    keywords = finding.use.call.keywords if isinstance(finding.use, Use) and parameter.older_with else []
    return next((keyword.arg for keyword in keywords if keyword.arg in parameter.older_with), None) or ""


def mark_unsafe(finding: Finding) -> Finding:
    """The same; its edit is made only where unsafe ones are asked for."""
    return replace(finding, applicability=Applicability.UNSAFE, untraced=False) if finding.action is Action.EDIT else finding


def inherit_unsafe(context: Context, finding: Finding, backends: Iterable[Finding | None]) -> Finding:
    """The same; unsafe where it does nothing unless unsafe edits give the group a backend that works: both are made, or neither is."""
    found = [backend for backend in backends if backend is not None]
    works = {*context.platform.backend.works, "?"}
    edits = [one for one in found if one.action is Action.EDIT and works.isdisjoint(text.lower() for text in one.resolves_to)]
    vain = bool(edits) and edits == found and all(one.applicability is Applicability.UNSAFE for one in edits)
    return mark_unsafe(finding) if vain else finding


def explain_old_versions(context: Context, name: str, parameter: Parameter) -> Reason | None:
    """That the versions which a file is for do not know the parameter, with what helps there."""
    if not parameter.since or context.versions.holds(parameter.since, name, asks=False) is not False:
        return None
    return Reason.of(
        "review-too-old", versions=format_versions(parameter.since), **describe_effective_argument(context, parameter)
    )
