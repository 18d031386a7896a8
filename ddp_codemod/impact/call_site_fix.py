"""Where an edit is: where the value starts, or at the call, where nothing but the group gets another name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from ddp_codemod.catalog.backends import assess
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.joined_texts import list_text_fragments
from ddp_codemod.dataflow.monkey_patches import find_monkey_patch, is_call_of_original
from ddp_codemod.dataflow.translations import is_translated
from ddp_codemod.dataflow.values import Value
from ddp_codemod.discover.kinds import is_test
from ddp_codemod.impact.call_translations import (
    drop_translated_changes,
    is_name_argument,
    list_texts,
    make_translations,
    merge_omissions,
)
from ddp_codemod.impact.unfollowed_writes import find_written_elsewhere
from ddp_codemod.impact.user_supplied_names import (
    add_warnings,
    can_be_user_supplied,
    has_wrong_name_left,
    is_overwritten,
    is_set_by_name,
    is_user_supplied,
)
from ddp_codemod.impact.wrong_names import find_composite_names, find_wrong_names, is_text, list_exchanges, may_be_none
from ddp_codemod.kinds import OriginKind
from ddp_codemod.model import Action, Applicability, Reason, Uncovered
from ddp_codemod.policy.bound_arguments import find_calls_of_bound, find_reader_of_bound
from ddp_codemod.policy.choice_lists import find_other_list_reader
from ddp_codemod.policy.default_argument import mark_unsafe
from ddp_codemod.policy.findings import Change, Context, Finding, NewKeyword, NewText, ObjectChoice, Translation
from ddp_codemod.policy.other_uses import OtherUse, OtherUses
from ddp_codemod.sites.surface_calls import Use

_SEVERAL = re.compile(r"\w+:\w+(?:,\w+:\w+)*")
_PUT_TOGETHER = (ast.JoinedStr, ast.BinOp)


def place_edits(context: Context, findings: Iterable[Finding], ids: Sequence[str]) -> list[Finding]:
    """The findings, each with its edits where nothing else uses what they change; ``ids`` are the rules that change backends."""
    findings = list(findings)
    if not ids:
        return findings
    uses = OtherUses(context, findings)
    findings = [_keep_other_texts(context, one) for one in findings]
    found = (_place_edit(context, uses, one) if one.rule in ids or _is_backend_finding(one) else one for one in findings)
    return [_mark_unsafe_if_replaced(context, one) for one in found]


def fix_for_unseen_callers(context: Context, findings: Sequence[Finding], left: Sequence[Uncovered], rule: str) -> list[Finding]:
    """The findings, of which those that unseen callers decide take no name that the project writes where nothing is seen to read it.

    Nor do those that have their value under the word that such a name is written under.
    """
    names, choice = context.rules.backends, context.platform.backend
    texts = {one.text: wanted for one in left if (wanted := assess(one.text, choice, names).wanted) is not None}
    result: list[Finding] = []
    for one in findings:
        written = texts if is_chosen_by_caller(one) else find_written_elsewhere(context, one, left)
        some = {text: texts[text] for text in written if text in texts}
        result.append(_translate_for_callers(context, one, some, rule) if some else one)
    return result


def is_chosen_by_caller(finding: Finding) -> bool:
    """Whether nobody in the project is seen to call the function that hands the value on."""
    found = finding.possible
    return finding.action is Action.KEEP and bool(found) and all(source.kind == OriginKind.PARAMETER for source in found)


def _translate_for_callers(context: Context, finding: Finding, texts: Mapping[str, str], rule: str) -> Finding:
    result = [*make_translations(context.facts, finding, texts.items())]
    if not result or is_test(finding.use.module.name):
        return finding
    changed = replace(finding, action=Action.EDIT, rule=rule, reason=_explain_untraced(context, result[0]))
    return replace(changed, changes=tuple(replace(one, closed=False) for one in result))


def _is_backend_finding(finding: Finding) -> bool:
    return isinstance(finding.use, Use) and any(
        one.role == "backend" and one.name == finding.parameter for one in finding.use.surface.parameters
    )


def _mark_unsafe_if_replaced(context: Context, finding: Finding) -> Finding:
    """The finding; its edit is unsafe where the project's own function is what the call runs, which may look at the name too."""
    at = find_monkey_patch(context.tracer, finding.use.surface) if finding.action is Action.EDIT else None
    if at is None or finding.applicability is not Applicability.SAFE:
        return finding
    use = finding.use
    if (
        isinstance(use, Use)
        and isinstance(use.call, ast.Call)
        and is_call_of_original(context.tracer, use.module, use.call, use.surface)
    ):
        return finding
    source = context.tracer.resolver.project.source(at.name)
    line = source.position(at.start)[0] if source is not None else 1
    return mark_unsafe(replace(finding, reason=Reason.of("edit-replaced", where=f"{at.name}:{line}")))


def _keep_other_texts(context: Context, finding: Finding) -> Finding:
    """The finding, whose objects replace only the texts that they are for, where code or a user may give another one."""
    if not any(isinstance(one, ObjectChoice) and one.closed for one in finding.changes):
        return finding
    if not is_user_supplied(context, finding) and not is_set_by_name(context, finding):
        return finding
    changes = (replace(one, closed=False) if isinstance(one, ObjectChoice) else one for one in finding.changes)
    return replace(finding, changes=tuple(changes))


def _place_edit(context: Context, uses: OtherUses, finding: Finding) -> Finding:
    if finding.untraced and (made := _translate_at_call(context, uses, finding)) is not None:
        return made
    if finding.action is Action.KEEP and (can_be_user_supplied(context, finding) or is_overwritten(context, finding)):
        return _translate_at_call(context, uses, finding) or finding
    if finding.action is not Action.EDIT or finding.applicability is not Applicability.SAFE:
        return finding  # of an unsafe edit nobody was promised that nothing else changes
    kept, moved, met = _split_changes(context, uses, finding)
    bound = [
        (one, read)
        for one in finding.changes
        if isinstance(one, NewText) and (read := find_reader_of_bound(uses, finding, one.source, one.text))
    ]
    if bound:
        moved, met = [one for one, _ in bound], [read for _, read in bound]
    if not moved:
        typed = is_user_supplied(context, finding)
        added = [*add_warnings(context, make_translations(context.facts, finding, list_texts(finding.changes)))] if typed else []
        added = [replace(one, closed=False) for one in added]  # what is typed may be any other name
        return replace(finding, changes=(*drop_translated_changes(finding.changes, added), *added))
    there = [*make_translations(context.facts, finding, list_texts(moved))]
    if is_user_supplied(context, finding) or is_set_by_name(context, finding):
        there = [replace(one, closed=False) for one in there]
    said = {name: value for name, value in finding.reason.args if name not in ("origin", "count")}
    said |= {"wanted": moved[0].text, "use": met[0].text, "where": f"{met[0].name}:{met[0].line}"}
    if bound and (named := _name_at_calls(context, finding, moved, met[0], said)) is not None:
        return named
    if not there or bound:
        return mark_unsafe(replace(finding, reason=Reason.of("edit-used-elsewhere", finding.reason.means, **said)))
    kept, there = merge_omissions(drop_translated_changes(kept, there), there)
    return replace(
        finding,
        changes=(*kept, *there),
        reason=Reason.of("edit-at-call" if met[0].sure else "edit-at-call-perhaps", finding.reason.means, **said),
    )


def _name_at_calls(
    context: Context, finding: Finding, moved: Sequence[NewText], met: OtherUse, said: Mapping[str, Any]
) -> Finding | None:
    """The finding of what ``partial`` binds, with the name in each call of its object instead; None where not each of them is seen.

    Nothing but one text may be bound: what a call passes takes the place of whatever is.
    """
    calls = find_calls_of_bound(context, finding)
    bound = {source.value.value if isinstance(source.value, Known) else None for source in finding.possible}
    texts = {change.text for change in moved}
    if not calls or len(texts) != 1 or len(bound) != 1 or None in bound or not finding.possible.closed:
        return None
    value, instead_of = f'"{texts.pop()}"', f'"{bound.pop()}"'
    left = [(home, call) for home, call in calls if all(keyword.arg != finding.parameter for keyword in call.keywords)]
    if not left:
        return finding.keep(Reason.of("keep-bound", parameter=finding.parameter)).without_changes()
    changes = tuple(NewKeyword(home, call, finding.parameter, value, instead_of) for home, call in left)
    reason = Reason.of("edit-at-call" if met.sure else "edit-at-call-perhaps", finding.reason.means, **said)
    return replace(finding, changes=changes, reason=reason)


def _split_changes(context: Context, uses: OtherUses, finding: Finding) -> tuple[list[Change], list[NewText], list[OtherUse]]:
    """The changes that stay where they are, those that cannot, and what uses the values of these."""
    kept, moved, met = list[Change](), list[NewText](), list[OtherUse]()
    for change in finding.changes:
        other = _find_other_use(context, uses, finding, change) if isinstance(change, NewText) else None
        if other is None or not isinstance(change, NewText):
            kept.append(change)
        else:
            moved.append(change)
            met.append(other)
    if moved:  # a name in place of None would keep the code from giving the name that stays
        given = [one for one in kept if isinstance(one, NewText) and one.source.value == Known(None)]
        kept, moved = [one for one in kept if one not in given], [*moved, *given]
    return kept, moved, met


def _translate_at_call(context: Context, uses: OtherUses, finding: Finding) -> Finding | None:
    """The finding with a change at the call, where not every start of the value is known; None where the call is not the project's own."""
    if not is_name_argument(finding) or not _is_backend_finding(finding):  # an address of the group that is changed too
        return None
    if not isinstance(finding.use, Use):
        return None
    if _is_joined(finding.argument) or any(map(_is_composed, finding.possible)):
        return _exchange_parts(context, finding)
    if not all(map(_SEVERAL.fullmatch, find_composite_names(context))):
        return None
    guarded = not finding.use.is_exact
    kept = [] if guarded else _split_changes(context, uses, finding)[0]
    sure = [change for change in kept if not (isinstance(change, NewText) and change.source.trace.doubt is not None)]
    texts: dict[str | None, str] = dict([*list_texts(finding.changes), *find_wrong_names(context, finding)])
    if texts and may_be_none(context, finding) and not all(map(is_text, finding.possible)):
        texts = {None: context.platform.backend.wanted, **texts}
    result = [*make_translations(context.facts, finding, texts.items())]
    if not result or (len(result) > 1 and any(set(dict(one.pairs)) != set(texts) for one in result)):
        return None  # where the name is omitted, several mappings cannot give one
    if not guarded and is_user_supplied(context, finding) and not has_wrong_name_left(finding, texts, sure):
        result = [*add_warnings(context, result)]
    sure, result = merge_omissions(drop_translated_changes(sure, result), result)
    return _edit_at_call(context, finding, result[0], (*sure, *(replace(one, closed=False) for one in result)))


def _edit_at_call(context: Context, finding: Finding, made: Translation, changes: Iterable[Change]) -> Finding:
    """The finding with safe changes, of which one is at the call and says why."""
    rule = finding.rule or next(fix.id for fix in context.rules.fixes.values() if fix.recipe == "replace-backend")
    edited = replace(finding, action=Action.EDIT, applicability=Applicability.SAFE, rule=rule, at=(), untraced=False)
    return replace(edited, reason=_explain_untraced(context, made), changes=tuple(changes))


def _exchange_parts(context: Context, finding: Finding) -> Finding | None:
    """The finding with the names exchanged inside of what arrives, where that is a text which is put together, whatever else it is."""
    argument, use = finding.argument, finding.use
    known = (isinstance(source.value, Known) and isinstance(source.value.value, str) for source in finding.possible)
    texts = _is_joined(argument) or all(
        is_text or _is_composed(one) for is_text, one in zip(known, finding.possible, strict=True)
    )
    if not isinstance(argument, ast.expr) or not isinstance(use, Use) or not texts or not use.is_exact:
        return None
    pairs = tuple(list_exchanges(context))
    own = (name.rpartition(".")[2] for idioms in context.rules.idioms for name in idioms.backend_makers)
    if (
        not pairs
        or any(map(context.tracer.resolver.project.mentioning, own))
        or is_translated(context.facts, use.module, argument)
    ):
        return None
    made = Translation(use.module, argument, pairs, inside=True)
    return _edit_at_call(context, finding, made, (made,))


def _is_composed(source: Value) -> bool:
    """Whether a text is put together of parts that are not all known: it may hold a wrong name beside others."""
    return source.kind == OriginKind.UNKNOWN and _is_joined(source.node)


def _is_joined(node: object) -> bool:
    if not isinstance(node, ast.Call):
        return isinstance(node, _PUT_TOGETHER)
    by = node.func.value if isinstance(node.func, ast.Attribute) and node.func.attr == "join" else None
    several = isinstance(by, ast.Constant) and any(
        sign in str(by.value) for sign in ",:"
    )  # ``",".join(...)``: of several devices
    return several or list_text_fragments(node) is not None


def _explain_untraced(context: Context, translation: Translation) -> Reason:
    value, wanted = next(pair for pair in translation.pairs if pair[0] is not None)
    platform = context.platform
    arguments = {"value": value, "wanted": wanted, "platform": platform.id, "why": platform.why, "why_zh": platform.why_zh}
    if translation.when:
        return Reason.of("edit-guarded", test=translation.when, **arguments)
    return Reason.of("edit-untraced", text=translation.module.short_text(translation.argument), **arguments)


def _find_other_use(context: Context, uses: OtherUses, finding: Finding, change: NewText) -> OtherUse | None:
    source = change.source
    if source.node is finding.argument or source.kind == OriginKind.AT_CALL:
        return None
    if source.kind == OriginKind.MEMBER:  # of an enumeration, whose name says the text that it holds
        return OtherUse(source.module.name, source.module.source.position(source.place.start)[0], source.text)
    return uses.of(source, change.text) or _find_other_list_use(context, finding, change)


def _find_other_list_use(context: Context, finding: Finding, change: NewText) -> OtherUse | None:
    """Another use of a list of choices that would have to admit the new name."""
    found = find_other_list_reader(finding, change.source, change.text, context.rules)
    if found is None:
        return None
    module, node = found
    return OtherUse(module.name, module.line(node), module.short_text(module.parents.get(node) or node))
