"""Which sites an edit is made for: those whose value, call or origin it overlaps; and which edits stand for their groups.

Asked for each edit of a run, so the places of all sites are put into order once: thousands of calls may be in one file.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from ddp_codemod.model import Decision, Edit, Place, Survey

TOLD = 10  # sites of a change, and starts of a value and steps from there, that are told where thousands come together


class _Places:
    """The places of one file that sites of one rule have, by where they start, with how far any of a stretch of them reaches."""

    def __init__(self, found: list[tuple[Place, int]]) -> None:
        self.found = sorted(found, key=lambda one: one[0].start)
        self.starts = [place.start for place, _ in self.found]
        self.size = 1 << (len(found) - 1).bit_length()
        self.reach = [-1] * (2 * self.size)
        for at, (place, _) in enumerate(self.found):
            self.reach[self.size + at] = max(place.end, place.start + 1)
        for at in reversed(range(1, self.size)):
            self.reach[at] = max(self.reach[2 * at], self.reach[2 * at + 1])

    def near(self, low: int, high: int) -> Iterator[tuple[Place, int]]:
        """Those that start before ``high`` and reach beyond ``low``."""
        last = bisect_left(self.starts, high)
        todo = [(1, 0, self.size)]
        while todo:
            node, first, width = todo.pop()
            if first >= last or self.reach[node] <= low:
                continue
            if width == 1:
                yield self.found[first]
            else:
                todo += [(2 * node + 1, first + width // 2, width // 2), (2 * node, first, width // 2)]


class _Index(Struct):
    decisions: tuple[Decision, ...]
    places: dict[tuple[str | None, str], _Places]  # by rule and file


_last: list[_Index] = []  # of the survey that was asked about last: a report asks about one


def sites_of_edit(edit: Edit, survey: Survey) -> list[Decision]:
    """The sites that an edit is made for: those whose value, call or origin it overlaps."""
    index = _build_index(survey)
    places = index.places.get((edit.rule, edit.name))
    if places is None:
        return []
    at = edit.start if edit.anchor is None else edit.anchor
    near = places.near(min(edit.start, at), max(edit.end, at + 1))
    return [index.decisions[number] for number in sorted({number for place, number in near if _has_overlap(edit, place)})]


def sites_of_edits(edits: Iterable[Edit], survey: Survey) -> list[Decision]:
    """The sites that several edits are made for, each once, in the order of the edits."""
    # by identity: to compare two sites takes all that is known of them, which may be thousands of origins
    return list({id(site): site for edit in edits for site in sites_of_edit(edit, survey)}.values())


def leading_edits(edits: Sequence[Edit], survey: Survey) -> list[Edit]:
    """The edits that stand for their groups: those made for a site, without the imports and the like that go along."""
    made_for_sites = [edit for edit in edits if sites_of_edit(edit, survey)]
    known = {id(edit) for edit in made_for_sites}
    groups = {edit.group for edit in made_for_sites}
    return [edit for edit in edits if id(edit) in known or edit.group not in groups]


def _build_index(survey: Survey) -> _Index:
    if _last and _last[0].decisions is survey.decisions:
        return _last[0]
    found: dict[tuple[str | None, str], list[tuple[Place, int]]] = {}
    for number, site in enumerate(survey.decisions):
        for place in dict.fromkeys((site.place, *(origin.place for origin in site.origins))):
            found.setdefault((site.rule, place.name), []).append((place, number))
    _last[:] = [_Index(survey.decisions, {key: _Places(places) for key, places in found.items()})]
    return _last[0]


def _has_overlap(edit: Edit, place: Place) -> bool:
    at = edit.start if edit.anchor is None else edit.anchor
    return (edit.start < place.end and place.start < edit.end) or place.start <= at < max(place.end, place.start + 1)
