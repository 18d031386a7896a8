"""Matches backend parameters: whether a process group's backend is right, and what it should be."""

from __future__ import annotations

import ast

from msgspec.structs import replace

from ddp_codemod.catalog.backends import assess
from ddp_codemod.catalog.fix import Fix
from ddp_codemod.catalog.model import Parameter
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.parameters import is_forwarded
from ddp_codemod.dataflow.points_to import find_points_to_set
from ddp_codemod.dataflow.values import CurrentBackend, PlatformDefault, Value
from ddp_codemod.kinds import Meaning, OriginKind
from ddp_codemod.model import Action, Applicability, Reason
from ddp_codemod.policy.argument_sources import collect_sources
from ddp_codemod.policy.decision_reasons import (
    OMITTED,
    default_reason,
    explain_edit,
    explain_keep,
    is_default_used,
    line_of,
    open_reason,
    text_of,
)
from ddp_codemod.policy.default_argument import (
    decide_default_backend,
    describe_default_chooser,
    explain_existing_group,
    is_default_wrong,
)
from ddp_codemod.policy.device_arguments import explain_takers
from ddp_codemod.policy.device_branches import decide_device_branch, is_for_other_hardware
from ddp_codemod.policy.device_counts import Count, count_of
from ddp_codemod.policy.findings import Change, Context, Finding, NewKeyword, NewText, Splice, Translation, start, unreachable
from ddp_codemod.policy.launcher_condition import drop_unlaunched_sources, is_unconditional
from ddp_codemod.policy.related_backends import judge_backend
from ddp_codemod.policy.test_code import explain_fake, find_testing_function, is_tested
from ddp_codemod.policy.visible_groups import assess_use, is_group_invisible
from ddp_codemod.sites.entities import External
from ddp_codemod.sites.key_path_uses import imports_package
from ddp_codemod.sites.surface_calls import Use


def decide_backend(context: Context, use: Use, parameter: Parameter, fix: Fix) -> Finding | None:
    """Decide about a backend parameter; None where the call does not name it and that makes it no site."""
    platform = context.platform
    if use.handed:
        result = start(context, use, parameter, None, [], ())
        never = unreachable(context, use)
        where = {"name": describe_default_chooser(context, use), "text": " ".join(use.module.text(use.call.func).split())}
        return result.keep(never) if never is not None else result.review(fix.id, Reason.of("review-handed", **where))
    argument, sources = collect_sources(context, use, parameter)
    if parameter.ignored is not None and _is_no_group(context, use, parameter, argument, sources):
        return None
    if argument is None and parameter.omitted == "no-site" and all(source.kind in (OMITTED, "unknown") for source in sources):
        return None
    result = start(context, use, parameter, argument, sources, (text_of(context, source, parameter) for source in sources))
    uses_default = all(source.kind == OMITTED for source in sources)
    never = unreachable(context, use) or explain_fake(context, use) or (explain_takers(context, use) if uses_default else None)
    if never is not None:
        return result.keep(never)
    if uses_default and platform.fits(parameter.open_on):
        if use.overrides_init:
            return result.keep(Reason.of("keep-class-open", parameter=parameter.name, origin=line_of(sources[0])))
        return result.review(fix.id, open_reason(context, parameter))
    if parameter.ignored is not None and (before := explain_existing_group(context, use)) is not None:
        return result.keep(before)
    if parameter.ignored is not None and use.surface.shown is not None and (why := assess_use(context, use)[1]) is not None:
        return result.keep(why)
    decided = decide_site(context, result, parameter, fix)
    if decided.action is Action.REVIEW and (before := explain_existing_group(context, use)) is not None:
        return result.keep(before)  # whatever the value is
    if decided.action is Action.EDIT and uses_default:
        decided = decide_default_backend(context, parameter, decided, fix)
    elif decided.action is Action.EDIT and is_group_invisible(context, use):
        decided = replace(decided, applicability=Applicability.UNSAFE, untraced=False)
    if decided.action is Action.KEEP and parameter.needs_plugin and uses_default:
        needed = platform.required_import
        if needed is not None and not context.tracer.resolver.project.mentioning(needed):
            choice = {"value": platform.backend.default, "needed": needed}
            return decided.review(fix.id, Reason.of("review-plugin", parameter=parameter.name, **choice))
    if not use.unknown_receiver:
        return decided
    assert isinstance(use.call.func, ast.Attribute)
    held = find_points_to_set(context.tracer, use.module, use.call.func.value)
    if held and not any(isinstance(entity, External) for entity in held):
        return None  # the project's own objects and no other reach this call
    packages = {name.partition(".")[0] for name in use.surface.names}
    if parameter.ignored is not None and decided.action is Action.REVIEW and imports_package(use.module, packages):
        return decided  # no value is there that would tell the method from a namesake: the import does
    if decided.action is Action.KEEP or not decided.changes:
        # a namesake, for all that is known; what is foreign is for review in any case
        return decided if decided.at else None
    values = ", ".join(decided.resolves_to)
    return decided.review(fix.id, Reason.of("why-receiver", text=use.module.text(use.call.func), value=values))


def decide_site(context: Context, finding: Finding, parameter: Parameter, fix: Fix) -> Finding:
    """What becomes of a site whose sources are known."""
    platform, surface = context.platform, finding.use.surface
    if len(left := drop_unlaunched_sources(context.facts, parameter, finding.possible)) < len(finding.possible):
        texts = (text_of(context, source, parameter) for source in left)
        finding = start(context, finding.use, parameter, finding.argument, left, texts)
    if (ignored := decide_if_ignored(context, finding, parameter, fix)) is not None:
        return ignored
    changes, blocked = _plan_changes(context, parameter, list(finding.possible))
    if parameter.foreign is not None and (changes or blocked):
        why_zh = parameter.foreign_zh or parameter.foreign
        reason = Reason.of("review-foreign", Meaning.FOREIGN, why=parameter.foreign, why_zh=why_zh)
        at = tuple(change.source for change in changes if isinstance(change, NewText))
        return replace(finding.review(fix.id, reason), at=at)
    untraced = False
    if changes:
        safe = fix.applicability == "safe" and surface.edit_applicability == "safe"
        left_to_torch = parameter.omitted == "platform-default" and is_default_wrong(context, parameter)
        if any(isinstance(change, NewKeyword) for change in changes):
            safe = safe and parameter.add_applicability == "safe" and not any(map(may_clash, changes))
        reason = explain_edit(context, finding, parameter, changes[0], len(changes))
        asked = any(isinstance(change, NewText) and isinstance(change.source.value, PlatformDefault) for change in changes)
        if asked and not {*platform.device_types} <= {*context.rules.backends[platform.backend.wanted].devices}:
            safe = False  # torch is asked about a device, and may be about one for which the name is none
        if platform.fits(parameter.named_on) and any(map(is_default_used, changes)):
            safe = False  # what the framework would pick by itself is not known
        if any(is_unconditional(parameter, finding, change) for change in changes):
            safe = False  # a process that no launcher started ends there
        names = (find_testing_function(context, change.source) for change in changes if isinstance(change, NewText))
        if (name := next(filter(None, names), None)) is not None:
            safe, reason = False, Reason("edit-about", (*reason.args, ("function", name)))
        elif finding.possible.why is not None and finding.possible.why.is_lost:  # the edits cure only a part
            untraced = safe
            safe, reason = False, Reason("edit-partly", reason.args)
        elif left_to_torch and any(map(_is_default, _find_unmended_sources(finding, changes))):
            default = {"default": platform.backend.default}
            untraced = safe  # a change at the call takes what torch would pick along
            safe, reason = False, Reason("edit-beside-default", (*reason.args, *default.items()))
        return replace(finding.edit(fix.id, safe, reason, changes), untraced=untraced)
    if blocked is not None:
        safe = fix.applicability == "safe" and surface.edit_applicability == "safe"
        unknown = any(source.kind in (OriginKind.UNKNOWN, OriginKind.LOOP, OriginKind.OBJECT) for source in finding.possible)
        unknown = unknown or (not platform.fits(parameter.named_on) and any(map(_is_default, finding.possible)))
        return replace(finding.review(fix.id, blocked), untraced=safe and unknown)
    if (branch := decide_device_branch(context, finding, fix)) is not None:
        return branch
    return finding.keep(explain_keep(context, finding, parameter))


def decide_if_ignored(context: Context, finding: Finding, parameter: Parameter, fix: Fix) -> Finding | None:
    """What becomes of a site whose surface does not honor the parameter: kept, or for review with what does decide; None for others."""
    platform = context.platform
    if parameter.ignored is None or not (not parameter.ignored_on or platform.fits(parameter.ignored_on)):
        return None
    why = {"why": parameter.ignored, "why_zh": parameter.ignored_zh or parameter.ignored}
    if not parameter.instead or platform.fits(parameter.right_on):
        return finding.keep(Reason.of("keep-ignored", **why))
    instead = {"instead": parameter.instead, "instead_zh": parameter.instead_zh, "wanted": platform.backend.wanted}
    return finding.review(fix.id, Reason.of("review-instead", platform=platform.id, **why, **instead))


def _is_no_group(context: Context, use: Use, parameter: Parameter, argument: ast.expr | None, sources: list[Value]) -> bool:
    """Whether what the call is passed shows that it makes no group: it is switched off, for one device, or another argument decides."""
    off = bool(sources) and all(isinstance(source.value, Known) and source.value.value is False for source in sources)
    spared = any(keyword.arg in parameter.spared_by for keyword in use.call.keywords)
    counts = parameter.of_several and argument is not None
    return off or spared or (counts and argument is not None and count_of(context, use.module, argument) is not Count.SEVERAL)


def _plan_changes(context: Context, parameter: Parameter, sources: list[Value]) -> tuple[list[Change], Reason | None]:
    """What has to change, and the first thing to review instead."""
    changes: list[Change] = []
    blocked: Reason | None = None
    choice = context.platform.backend
    default_open = context.platform.fits(parameter.named_on)
    default_wrong = default_open or is_default_wrong(context, parameter)
    for source in sources:
        value = source.value
        if isinstance(value, Known) and isinstance(value.value, str):
            stands = judge_backend(context, source, value.value)
            verdict = assess(value.value, stands.choice, context.rules.backends, stands.packages)
            if verdict.wanted is not None and (is_for_other_hardware(context, source, sources) or is_tested(context, source)):
                continue
            if (objection := stands.explain_objection(context, value.value, verdict.wanted)) is not None:
                blocked = blocked or objection
            elif verdict.wanted is not None and _is_looped_with_wanted(sources, source, verdict.wanted):
                blocked = blocked or Reason.of("why-loop", value=value.value, platform=context.platform.id)
            elif verdict.wanted is not None:
                changes.append(_make_change(parameter, source, verdict.wanted))
            elif not verdict.known:
                blocked = blocked or Reason.of("review-strange", value=value.value)
        elif source.kind == OMITTED or (isinstance(value, Known) and value.value is None):
            if parameter.omitted != "platform-default" or not default_wrong:
                continue
            if (source.kind == OMITTED and parameter.add == "keyword") or _is_written_none(source):
                changes.append(_make_change(parameter, source, choice.wanted))  # written out, None is the same as omitted
            else:
                blocked = blocked or (open_reason(context, parameter) if default_open else default_reason(context, parameter))
        elif isinstance(value, PlatformDefault):
            if default_wrong and isinstance(source.node, ast.Call) and parameter.omitted == "platform-default":
                changes.append(_make_change(parameter, source, choice.wanted))  # a call asks torch: the name can stand for it
            else:
                blocked = blocked or (default_reason(context, parameter) if default_wrong else None)
        elif not isinstance(value, CurrentBackend) and source.kind not in (
            OriginKind.PARAMETER,
            OriginKind.CLASS,
            OriginKind.PARTIAL,
            OriginKind.HANDED_ON,
        ):
            blocked = blocked or source.why or Reason.of("why-expression", text=source.text)
    return changes, blocked


def _is_looped_with_wanted(sources: list[Value], source: Value, wanted: str) -> bool:
    """Whether a loop runs with a value, and with the wanted one besides: a user drops the value there."""
    others = [other for other in sources if other.kind == OriginKind.LOOP] if source.kind == OriginKind.LOOP else []
    return any(isinstance(other.value, Known) and other.value.value == wanted for other in others)


def _is_default(source: Value) -> bool:
    """Whether a source leaves the choice to torch: it asks for it, or gives None."""
    return isinstance(source.value, PlatformDefault) or (isinstance(source.value, Known) and source.value.value is None)


# where code writes a value, at the call or before it
_WRITTEN = frozenset(
    {OriginKind.LITERAL, OriginKind.ASSIGNMENT, OriginKind.ARGUMENT, OriginKind.PARAMETER_DEFAULT, OriginKind.FIELD_DEFAULT}
)


def _is_written_none(source: Value) -> bool:
    """Whether code writes None as the value, for which the name can be written."""
    return source.kind in _WRITTEN and isinstance(source.node, ast.Constant) and source.node.value is None


def _find_unmended_sources(finding: Finding, changes: list[Change]) -> list[Value]:
    """The sources that no change fixes."""
    changed = {id(change.source) for change in changes if isinstance(change, NewText)}
    return [source for source in finding.possible if source.kind != OMITTED and id(source) not in changed]


def _make_change(parameter: Parameter, source: Value, wanted: str) -> Change:
    if source.kind != OMITTED:
        return NewText(source, wanted)
    value, name = f'"{wanted}"', parameter.inside or parameter.name
    if parameter.inside and isinstance(source.node, ast.Call):
        value, name = f'{{"{parameter.inside}": "{wanted}"}}', parameter.name
    if (added := add_omitted(source, name, value)) is not None:
        return added
    module, node = source.code
    assert isinstance(node, ast.expr)
    return Translation(module, node, ((None, wanted),), key=name, fills=True)


def add_omitted(source: Value, name: str, value: str) -> NewKeyword | Splice | None:
    """What adds a value, source text, where a call or the display of a mapping omits it; None elsewhere."""
    module, node = source.code
    if isinstance(node, ast.Call):
        return NewKeyword(module, node, name, value)
    if isinstance(node, ast.Dict):
        text = f'"{name}": {value}' + (", " if node.keys else "")
        return Splice(module, module.place(node).start + 1, text)
    return None


def may_clash(change: Change) -> bool:
    """Whether a keyword is added beside ``**kwargs`` that the function takes in, in which a caller from outside may hand it too."""
    spread = [keyword.value for keyword in change.call.keywords if keyword.arg is None] if isinstance(change, NewKeyword) else []
    return any(isinstance(change, NewKeyword) and is_forwarded(change.module, part) for part in spread)
