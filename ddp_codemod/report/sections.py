"""What a report lists: findings of one kind under one heading."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from ddp_codemod.edits.units import is_companion
from ddp_codemod.model import Action, Advisory, Applicability, Decision, Edit, Reason, Skipped, Uncovered
from ddp_codemod.report.change_summary import kind_of
from ddp_codemod.report.edit_sites import leading_edits, sites_of_edit
from ddp_codemod.report.finding_groups import Finding
from ddp_codemod.report.fixes import lead_fixes
from ddp_codemod.report.outcome import Outcome
from ddp_codemod.report.stale_comments import find_stale_comments, makes_branches_equal
from ddp_codemod.report.view import View, shorten_text

_SITES = 3  # sites that are named below an edit which is made for several
_GLANCE = 100  # characters of code that are read at a glance
_ENDLESS = "..."  # what a note ends its further places with where they are only the first


class Section(Struct, frozen=True):
    """Findings under a heading; ``beside`` are edits that go along with them."""

    heading: str  # the message, which takes the number
    count: int
    found: tuple[Finding, ...]
    beside: tuple[Finding, ...] = ()
    styles: tuple[str, ...] = ()
    acts: int = 0  # notes that somebody has to act on

    def title(self, view: View) -> str:
        """The heading with its numbers."""
        return title_of_section(view, self.heading, self.count, self.acts)


def title_of_section(view: View, heading: str, n: int, acts: int = 0) -> str:
    """A heading with its numbers."""
    key = heading if not acts else f"{heading}-open" if acts < n else f"{heading}-all-open"
    return view.say(key, n=n, acts=acts)


def list_sections(view: View, outcome: Outcome) -> list[Section]:
    """What was left, in the order in which it is listed."""
    survey = view.survey
    return [
        reviews_section(view, view.for_a_person()),
        uncovered_section(view, survey.uncovered),
        unsafe_section(view, outcome.left),
        manual_section(view, outcome.left),
        skipped_section(view, (*survey.skipped, *outcome.failed)),
        advisories_section(view, survey.advisories),
    ]


def changes_section(view: View, edits: Sequence[Edit], sure: bool) -> Section:
    """Edits: those made for a site first, then what goes along with them; with ``sure`` each says how sure it is."""
    leads = [edit for edit in leading_edits(edits, view.survey) if not is_companion(edit)]
    chosen = {id(edit) for edit in leads}
    beside = tuple(_make_edit_finding(view, edit, sure) for edit in edits if id(edit) not in chosen)
    found = tuple(_make_edit_finding(view, edit, sure) for edit in leads)
    return Section("left-changed", len(lead_fixes(edits, view.survey)), found or beside, beside if found else ())


def kept_section(view: View, decisions: Sequence[Decision]) -> Section:
    """Sites that stay."""
    return Section("left-kept", len(decisions), tuple(_find_decided(view, decisions)))


def reviews_section(view: View, decisions: Sequence[Decision]) -> Section:
    """Sites that need review."""
    return Section("left-review", len(decisions), tuple(_find_decided(view, decisions)), styles=("yellow",))


def uncovered_section(view: View, found: Sequence[Uncovered]) -> Section:
    """Names that nothing else speaks of."""
    named = tuple(Finding("", one.reason, one.place.name, view.position(one.place)[0]) for one in found)
    return Section("left-uncovered", len(found), named, styles=("yellow",))


def unsafe_section(view: View, left: Sequence[Edit]) -> Section:
    """Edits that were not made because other behavior may change."""
    return _make_section(view, "left-unsafe", left, Applicability.UNSAFE)


def manual_section(view: View, left: Sequence[Edit]) -> Section:
    """Edits that only a user can make."""
    return _make_section(view, "left-manual", left, Applicability.MANUAL)


def skipped_section(view: View, files: Sequence[Skipped]) -> Section:
    """Files that could not be handled, each with the reason."""
    return Section("left-skipped", len(files), tuple(Finding("", one.reason, one.name, 0) for one in files), styles=("red",))


def advisories_section(view: View, found: Sequence[Advisory]) -> Section:
    """Notes that no edit cures. One about the whole project has no place."""
    if not found:  # then the module is not needed
        return Section("left-advisories", 0, ())
    from ddp_codemod.impact.advice_text import split_places

    found = sorted(found, key=lambda one: not one.open)  # those to act on first
    notes = dict.fromkeys((one.name if one.line else "", one.line, one.rule, one.message, one.open) for one in found)

    def noted(name: str, line: int, rule: str, message: Reason, urgent: bool) -> Finding:
        said, lines = split_places(message)
        if not lines:
            return Finding(rule, said, name, line, urgent=urgent)
        words = [word.rpartition(":") for word in lines.split(", ") if word != _ENDLESS]
        also = tuple((file or name, int(number)) for file, _, number in words)
        return Finding(rule, said, name, line, (view.say("advice-also", lines=lines),), also, _ENDLESS in lines, urgent)

    acts = sum(note[-1] for note in notes)
    return Section("left-advisories", len(notes), tuple(noted(*note) for note in notes), (), ("yellow",), acts)


def _make_section(view: View, key: str, left: Sequence[Edit], sure: Applicability) -> Section:
    found = [one for one in leading_edits(left, view.survey) if one.applicability is sure]
    listed = changes_section(view, found, sure=True)
    return Section(key, listed.count, listed.found, listed.beside, ("yellow",))


def _find_decided(view: View, decisions: Sequence[Decision]) -> Iterator[Finding]:
    for one in decisions:
        urgent = one.action is Action.REVIEW and one.rule in view.first
        yield Finding(view.site(one), one.reason, one.place.name, view.position(one.place)[0], urgent=urgent)


def _make_edit_finding(view: View, edit: Edit, sure: bool) -> Finding:
    """An edit with the rule, how sure it is, what it does to the text, and the sites elsewhere that it is made for."""
    head = f"{edit.rule} ({view.say(f'applicability-{edit.applicability.value}')})" if sure else edit.rule
    here = [change] if (change := _format_change(view, edit)) else []
    here += [
        view.say("edit-stale-comment", name=name, text=shorten_text(said))
        for name, said in find_stale_comments(edit, view.survey)
    ]
    if makes_branches_equal(edit, view.survey):
        here.append(view.say("edit-same-twice"))
    line = view.edit_line(edit)
    sites = [site for site in sites_of_edit(edit, view.survey) if not _is_visible_with(view, edit, site)]
    here += _format_users(view, sites[:_SITES])
    if len(sites) > _SITES:
        here.append(view.say("edit-for-more", n=len(sites) - _SITES))
    return Finding(head, edit.reason, edit.name, line, tuple(here), kind=_name_kind(view, edit, sure))


def _name_kind(view: View, edit: Edit, sure: bool) -> str:
    kind = kind_of(view, edit)
    return view.say("screen-unsafe", kind=kind) if sure and edit.applicability is Applicability.UNSAFE else kind


def _is_visible_with(view: View, edit: Edit, site: Decision) -> bool:
    """Whether a reader who looks at an edit sees the site too: it is on the same line, or around it."""
    places = [place for place in (site.place, site.call) if place.name == edit.name]
    line = view.edit_line(edit)
    return any(place.start <= edit.start < place.end or view.position(place)[0] == line for place in places)


def _format_users(view: View, sites: Iterable[Decision]) -> list[str]:
    """The sites that take a value: a line a file, with its lines."""
    users: dict[tuple[str, str], list[int]] = {}
    for one in sites:
        users.setdefault((view.site(one), one.call.name), []).append(view.position(one.call)[0])
    return [
        view.say("edit-for", site=site, where=", ".join([view.at(name, first), *map(str, others)]))
        for (site, name), lines in users.items()
        for first, *others in [dict.fromkeys(lines)]
    ]


def _format_change(view: View, edit: Edit) -> str:
    """The old text and the new one, where both are short enough to be read at a glance; "" elsewhere."""
    source = view.survey.sources.get(edit.name)
    old, new = source.text[edit.start : edit.end] if source else "", edit.after or ""
    old = " ".join(old.split())
    if edit.recipe is not None or not old or not new.strip() or "\n" in new or len(old) + len(new) > _GLANCE:
        return ""
    if old.count("(") != old.count(")") or new.count("(") != new.count(")"):
        return ""  # a part of a call says nothing by itself
    return f"{old} → {new}"
