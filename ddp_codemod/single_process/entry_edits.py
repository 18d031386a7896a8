"""Entries as the decisions and edits that reports show: all edits of an entry are one group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ddp_codemod.catalog.fix import Fix
from ddp_codemod.kinds import Meaning
from ddp_codemod.model import Action, Applicability, Decision, Edit, Place, Reason, Step
from ddp_codemod.policy.limits import Limits, has_ignore_comment, has_ignore_comment_in_span
from ddp_codemod.single_process.entry_survey import Entry
from ddp_codemod.single_process.model import Problem, SpanEdit


class Planned(Struct, frozen=True):
    """What a rule makes of all entries: their decisions, the edits of the run with those of the entries, and how many were left alone."""

    decisions: tuple[Decision, ...]
    edits: tuple[Edit, ...]
    ignored: int


def plan_entries(entries: Iterable[Entry], fix: Fix, limits: Limits, known: Sequence[Edit]) -> Planned:
    """The entries but for those of which a line, or the project, says that it is to be left alone: half an entry would not run."""
    honored, ignored = [], 0
    for entry in entries:
        module = entry.start.module
        said = has_ignore_comment(module, module.place(entry.start.node).start, fix.id)
        touched = any(
            has_ignore_comment_in_span(span_edit.module, span_edit.start, span_edit.end, fix.id) for span_edit in entry.span_edits
        )
        if said or touched or limits.scope.ignores_in(module.name, {fix.id}):
            ignored += 1
        else:
            honored.append(entry)
    group = 1 + max((number for edit in known for number in edit.groups), default=0)
    result = sorted((*known, *entry_edits(honored, fix, group)), key=lambda edit: (edit.name, edit.start, edit.end))
    return Planned(tuple(entry_decisions(honored, fix)), tuple(result), ignored)


Key = tuple[str, int, int, str]


def entry_decisions(entries: Iterable[Entry], fix: Fix) -> Iterator[Decision]:
    """One for the call that starts each entry, and one for each line to review."""
    for entry in entries:
        action = Action.REVIEW if entry.problems else Action.EDIT if entry.span_edits else Action.KEEP
        place = entry.start.module.place(entry.start.node)
        decision = Decision(
            place, place, entry.start.name, "", entry.start.module.text(entry.start.node.func), (), (), action,
            entry_applicability(entry, fix), fix.id if action is not Action.KEEP else None, entry.reason,
            steps=tuple(_unseen_steps(entry)) if action is Action.EDIT else (),
        )  # fmt: skip
        said = {(at.name, at.start): one for one in entry.problems for at in [_place_of(one)]}
        here = said.pop((place.name, place.start), None)
        yield decision if here is None else replace(decision, reason=here.reason)
        for one in said.values():
            at = _place_of(one)
            yield replace(decision, place=at, call=at, value=None, reason=one.reason)


def _unseen_steps(entry: Entry) -> Iterator[Step]:
    """The lines of code that is not read, for which the edit is unsafe: asked about, each leads to it."""
    steps = (Step(_place_of(one), replace(one.reason, means=Meaning.PLACE)) for one in entry.unseen)
    yield from {(step.place.name, step.place.start): step for step in steps}.values()


def entry_applicability(entry: Entry, fix: Fix) -> Applicability:
    """Safe only where every use was seen."""
    if entry.problems:
        return Applicability.MANUAL
    return Applicability.UNSAFE if entry.unseen or fix.applicability != "safe" else Applicability.SAFE


def entry_edits(entries: Iterable[Entry], fix: Fix, first_group: int) -> list[Edit]:
    """The edits; one that several entries need is made once and belongs to all of them."""
    result: dict[Key, Edit] = {}
    for group, entry in enumerate((entry for entry in entries if entry.span_edits and not entry.problems), first_group):
        how = entry_applicability(entry, fix)
        for span_edit in _merge_imports(entry.span_edits):
            lead = span_edit.anchor is not None and span_edit.anchor == entry.start.module.place(entry.start.node).start
            edit = _make_edit(span_edit, fix, how, group, entry.reason if lead else span_edit.reason)
            key = (edit.name, edit.start, edit.end, edit.after or str(edit.recipe))
            known = result.get(key)
            if known is None:
                result[key] = edit
            elif group not in known.groups:
                safe = Applicability.SAFE in (known.applicability, how)
                result[key] = replace(
                    known, also=(*known.also, group), applicability=Applicability.SAFE if safe else known.applicability
                )
    return list(result.values())


def _merge_imports(span_edits: Iterable[SpanEdit]) -> list[SpanEdit]:
    """The edits, with the names that one file imports from one module on one line."""
    found: dict[object, SpanEdit] = {}
    names: dict[object, set[str]] = {}
    for span_edit in span_edits:
        head, middle, name = (span_edit.after or "").strip().partition(" import ")
        joins = span_edit.reason.means is Meaning.IMPORT and bool(middle)
        key: object = (span_edit.module.name, span_edit.start, head) if joins else id(span_edit)
        found.setdefault(key, span_edit)
        if joins:
            names.setdefault(key, set()).add(name)
    for key, wanted in names.items():
        after, one = found[key].after or "", sorted(wanted)
        old = after.strip().partition(" import ")[2]
        reason = Reason.of("edit-import", Meaning.IMPORT, name=", ".join(one))
        found[key] = replace(found[key], after=after.replace(f" import {old}", f" import {', '.join(one)}"), reason=reason)
    return list(found.values())


def _make_edit(span_edit: SpanEdit, fix: Fix, how: Applicability, group: int, reason: Reason) -> Edit:
    return Edit(
        span_edit.module.name,
        span_edit.start,
        span_edit.end,
        span_edit.after,
        fix.id,
        how,
        reason,
        group,
        span_edit.recipe,
        span_edit.anchor,
    )


def _place_of(one: Problem) -> Place:
    return one.module.place(one.node) if hasattr(one.node, "lineno") else Place(one.module.name, 0, 0)
