"""Values that portable code changes where the program passes them on: those of files that can hold no condition, and of narrow lists."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from ddp_codemod.catalog.fix import Fix
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.impact.call_translations import drop_translated_changes, list_texts, make_translations
from ddp_codemod.impact.user_supplied_names import add_warnings, is_user_supplied
from ddp_codemod.model import Action, Place, Reason
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.choice_lists import find_narrow_lists
from ddp_codemod.policy.decide_environment import decide_variable_before_use
from ddp_codemod.policy.findings import Change, Context, Finding, NewText, NewVariable, Translation
from ddp_codemod.sites.surface_calls import Use


def move_to_calls(context: Context, findings: Iterable[Finding]) -> list[Finding]:
    """The findings, of which those that would change a file of settings change the call that is passed the value.

    What is found in such a file itself has nothing left to change where each call that reads it is changed.
    """
    before = list(findings)
    after = [_move_to_call(context, one) for one in before]
    moved = {place for old, new in zip(before, after, strict=True) if old is not new for place in _list_places(old)}
    return _drop_translated_starts([_keep_if_read(context, one, moved) for one in after])


def _move_to_call(context: Context, finding: Finding) -> Finding:
    moved = [change for change in finding.changes if not _can_hold(change) or _is_listed(context, finding, change)]
    if finding.action is not Action.EDIT or not isinstance(finding.use, Use) or not moved:
        return finding
    fix = context.rules.fixes.get(finding.rule or "")
    if fix is not None and fix.recipe == "init-method-query":
        return _set_variable(context, finding, finding.use, fix)
    inside = [change for change in moved if isinstance(change, NewText)]
    there = [replace(one, closed=False) for one in make_translations(context.facts, finding, list_texts(inside))]
    if not there or not inside:
        return finding
    if is_user_supplied(context, finding):
        there = [*add_warnings(context, there)]
    said = {name: value for name, value in finding.reason.args if name not in ("origin", "count")}
    kept = [change for change in finding.changes if change not in moved]
    said |= {"wanted": inside[0].text, "where": inside[0].source.place.name}
    key = "edit-at-call-listed" if _can_hold(inside[0]) else "edit-at-call-portable"
    reason = Reason.of(key, finding.reason.means, **said)
    return replace(finding, changes=(*drop_translated_changes(kept, there), *there), reason=reason, at=())


def _drop_translated_starts(findings: list[Finding]) -> list[Finding]:
    """The findings, without the changes where a value starts that every group gets translated at its call: one condition is enough.

    Where the call says so when it changes a name, it should say it of typed names only.
    """
    starts: dict[Place, list[bool]] = {}
    for finding in findings:
        for source in finding.possible if finding.action is Action.REVIEW else ():
            starts.setdefault(source.place, []).append(False)
        for change in finding.changes if finding.action is Action.EDIT else ():
            if isinstance(change, NewText):
                starts.setdefault(change.source.place, []).append(_is_translated_at_call(finding, change))
    gone = {place for place, translated in starts.items() if all(translated)}

    def keep(change: Change) -> bool:
        return not isinstance(change, NewText) or change.source.place not in gone

    return [replace(one, changes=tuple(filter(keep, one.changes))) if gone else one for one in findings]


def _is_translated_at_call(finding: Finding, change: NewText) -> bool:
    value = change.source.value
    there = [one for one in finding.changes if isinstance(one, Translation)]
    old = value.value if isinstance(value, Known) else None
    return bool(old and there) and all(old in dict(one.pairs) and not one.warning for one in there)


def _set_variable(context: Context, finding: Finding, use: Use, fix: Fix) -> Finding:
    """The variable that does what the address in a file of settings would."""
    if fix.environment is None:
        return finding
    found = decide_variable_before_use(context, use, fix, finding, None)
    return found if any(isinstance(change, NewVariable) for change in found.changes) else finding


def _can_hold(change: Change) -> bool:
    """Whether a change is made in a file that can hold a condition."""
    return isinstance(change.source.module if isinstance(change, NewText) else change.module, Module)


def _is_listed(context: Context, finding: Finding, change: Change) -> bool:
    """Whether a list of choices would have to admit the new name, on every machine."""
    if not isinstance(change, NewText):
        return False
    return any(True for _ in find_narrow_lists(finding, change.source, change.text, context.rules))


def _list_places(finding: Finding) -> list[Place]:
    return [change.source.place for change in finding.changes if isinstance(change, NewText) and not _can_hold(change)]


def _keep_if_read(context: Context, finding: Finding, moved: set[Place]) -> Finding:
    places = _list_places(finding)
    if finding.action is not Action.EDIT or isinstance(finding.use, Use) or not places or not moved.issuperset(places):
        return finding
    if len(places) < len(finding.changes):
        return finding
    return finding.keep(Reason.of("keep-portable-read", platform=context.platform.id)).without_changes()
