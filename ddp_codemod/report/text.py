"""Lines for people: sites, edits and what was left, each with its reason."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ddp_codemod.edits.units import goes_along
from ddp_codemod.model import Action, Advisory, Applicability, Decision, Edit, Reason, Skipped, Unaccounted
from ddp_codemod.report.comments import same_either_way, stale
from ddp_codemod.report.grouped import SHOWN, Finding, blocks
from ddp_codemod.report.touching import leading, touching
from ddp_codemod.report.view import View, shorten

_SITES = 3  # sites that are named below an edit which is made for several
_GLANCE = 100  # characters of code that are read at a glance
_COLOURS = {Action.EDIT: "green", Action.KEEP: "dim", Action.REVIEW: "yellow"}


def site(view: View, decision: Decision) -> list[str]:
    """A site for ``scan``: where it is, what it gives, where that starts, and what happens to it."""
    line, column = view.position(decision.place)
    value = view.say("value-omitted") if decision.value is None else view.source_text(decision.place)
    gives = view.gives(decision)
    action = view.ink(view.say(f"action-{decision.action.value}"), _COLOURS[decision.action])
    if decision.action is Action.EDIT:
        action += f" ({view.say(f'applicability-{decision.applicability.value}')}, {decision.rule})"
    head = f"{view.ink(f'{view.path(decision.place.name)}:{line}:{column + 1}', 'bold')}: {view.site(decision)}  {action}"
    block = [head, *view.folded(view.say("site-gives", value=value, gives=gives) if gives else value, 4, 8)]
    for origin in decision.origins:
        if origin.place != decision.place:
            block += view.folded(view.say("site-starts", origin=view.origin(origin)), 4, 8)
    return [*block, *view.folded(view.reason(decision.reason), 4, 4)]


def edits(view: View, made: Sequence[Edit], shown: int = SHOWN, sure: bool = False) -> list[str]:
    """Edits under their reasons: those made for a site first, then what goes along with them."""
    leads = [edit for edit in leading(made, view.survey) if not goes_along(edit)]
    chosen = {id(edit) for edit in leads}
    beside = [edit for edit in made if id(edit) not in chosen]
    lines = blocks(view, (_edited(view, edit, sure) for edit in leads), shown)
    if beside:
        found = blocks(view, (_edited(view, edit, sure) for edit in beside), shown)
        lines += [view.ink("  " + view.say("edits-beside"), "bold"), *("  " + line for line in found)] if leads else found
    return lines


def changed(view: View, made: Sequence[Edit]) -> list[str]:
    """The changes by their reasons, above their diffs; how sure each is, where some are not."""
    sure = any(edit.applicability is not Applicability.SAFE for edit in made)
    return _listed(view, "left-changed", edits(view, made, sure=sure), len(made))


def _edited(view: View, edit: Edit, sure: bool) -> Finding:
    """An edit with the rule, how sure it is, what it does to the text, and the sites elsewhere that it is made for."""
    head = f"{edit.rule} ({view.say(f'applicability-{edit.applicability.value}')})" if sure else edit.rule
    here = [change] if (change := _change(view, edit)) else []
    here += [view.say("edit-stale-comment", name=name, text=shorten(said)) for name, said in stale(edit, view.survey)]
    if same_either_way(edit, view.survey):
        here.append(view.say("edit-same-twice"))
    line = view.edit_line(edit)
    sites = [site for site in touching(edit, view.survey) if not _seen_with(view, edit, site)]
    here += _users(view, sites[:_SITES])
    if len(sites) > _SITES:
        here.append(view.say("edit-for-more", n=len(sites) - _SITES))
    return Finding(head, edit.reason, edit.name, line, tuple(here))


def _seen_with(view: View, edit: Edit, site: Decision) -> bool:
    """Whether a reader who looks at an edit sees the site too: it stands on the same line, or around it."""
    places = [place for place in (site.place, site.call) if place.name == edit.name]
    line = view.edit_line(edit)
    return any(place.start <= edit.start < place.end or view.position(place)[0] == line for place in places)


def _users(view: View, sites: Sequence[Decision]) -> list[str]:
    """The sites that take a value: a line a file, with its lines."""
    users: dict[tuple[str, str], list[int]] = {}
    for one in sites:
        users.setdefault((view.site(one), one.call.name), []).append(view.position(one.call)[0])
    return [
        view.say("edit-for", site=site, where=", ".join([view.at(name, first), *map(str, others)]))
        for (site, name), lines in users.items()
        for first, *others in [dict.fromkeys(lines)]
    ]


def _change(view: View, edit: Edit) -> str:
    """The old text and the new one, where both are short enough to be read at a glance; "" elsewhere."""
    source = view.survey.sources.get(edit.name)
    old, new = source.text[edit.start : edit.end] if source else "", edit.after or ""
    old = " ".join(old.split())
    if edit.recipe is not None or not old or not new.strip() or "\n" in new or len(old) + len(new) > _GLANCE:
        return ""
    if old.count("(") != old.count(")") or new.count("(") != new.count(")"):
        return ""  # a part of a call says nothing by itself
    return f"{old} → {new}"


def kept(view: View, decisions: Sequence[Decision]) -> list[str]:
    """Sites that stay."""
    return _listed(view, "left-kept", blocks(view, _decided(view, decisions)), len(decisions))


def reviews(view: View, decisions: Sequence[Decision]) -> list[str]:
    """Sites that a person has to look at."""
    return _listed(view, "left-review", blocks(view, _decided(view, decisions)), len(decisions), "yellow")


def unaccounted(view: View, found: Sequence[Unaccounted]) -> list[str]:
    """Names that nothing else speaks of."""
    listed = (Finding("", one.reason, one.place.name, view.position(one.place)[0]) for one in found)
    return _listed(view, "left-unaccounted", blocks(view, listed), len(found), "yellow")


def unsafe(view: View, left: Sequence[Edit]) -> list[str]:
    """Edits that were not made because other behaviour may change."""
    return _left(view, "left-unsafe", left, Applicability.UNSAFE)


def manual(view: View, left: Sequence[Edit]) -> list[str]:
    """Edits that only a person can make."""
    return _left(view, "left-manual", left, Applicability.MANUAL)


def _left(view: View, key: str, left: Sequence[Edit], sure: Applicability) -> list[str]:
    found = [one for one in leading(left, view.survey) if one.applicability is sure]
    return _listed(view, key, edits(view, found, sure=True), len(found), "yellow")


def advisories(view: View, found: Sequence[Advisory]) -> list[str]:
    """Notes that no edit cures. One about the whole project has no place."""
    notes = dict.fromkeys((one.name if one.line else "", one.line, one.rule, one.message) for one in found)
    lines: list[str] = []
    for _, line, rule, message in notes:
        if not line:
            lines += view.folded(f"{rule}: {view.reason(message)}", 2, 4)
    placed = (_noted(view, *note) for note in notes if note[1])
    return _listed(view, "left-advisories", lines + blocks(view, placed), len(notes), "yellow")


def _noted(view: View, name: str, line: int, rule: str, message: Reason) -> Finding:
    """A note under what it says; the further places are its own."""
    from ddp_codemod.impact.advisories import parted  # there is one: not before

    said, lines = parted(message)
    return Finding(rule, said, name, line, (view.say("advice-also", lines=lines),) if lines else ())


def skipped(view: View, files: Sequence[Skipped]) -> list[str]:
    """Files that could not be handled, each with the reason."""
    return _listed(view, "left-skipped", blocks(view, (Finding("", one.reason, one.name, 0) for one in files)), len(files), "red")


def _decided(view: View, decisions: Sequence[Decision]) -> Iterable[Finding]:
    for one in decisions:
        yield Finding(view.site(one), one.reason, one.place.name, view.position(one.place)[0])


def _listed(view: View, key: str, lines: list[str], count: int, *styles: str) -> list[str]:
    if not lines:
        return []
    return ["", *(view.ink(line, "bold", *styles) for line in view.folded(view.say(key, n=count), 0, 2)), *lines]
