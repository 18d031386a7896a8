"""What a reviewer decides about: the edits that are taken or left together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ddp_codemod.kinds import Meaning
from ddp_codemod.model import Applicability, Edit, Survey

_SURER = (Applicability.SAFE, Applicability.UNSAFE, Applicability.MANUAL)


class Unit(Struct, frozen=True):
    """One decision. ``lead`` is the edit that the reader is shown first; ``number`` counts from 1 in reading order."""

    number: int
    edits: tuple[Edit, ...]
    lead: Edit

    @property
    def applicability(self) -> Applicability:
        """That of the least sure of its edits."""
        return max((edit.applicability for edit in self.edits), key=_SURER.index)

    @property
    def names(self) -> tuple[str, ...]:
        """The files that it changes, that of the lead first."""
        return tuple(dict.fromkeys((self.lead.name, *(edit.name for edit in self.edits))))


def build_units(survey: Survey) -> tuple[Unit, ...]:
    """The units of a survey, by file and line of their leads."""
    groups: dict[int, list[Edit]] = {}
    for edit in survey.edits:
        for number in edit.groups:
            groups.setdefault(number, []).append(edit)
    found = [(_find_lead(edits), tuple(edits)) for edits in groups.values()]
    found.sort(key=lambda unit: (unit[0].name, _get_anchor(unit[0]), unit[0].group))
    return tuple(Unit(number, edits, lead) for number, (lead, edits) in enumerate(found, 1))


def select_units(survey: Survey, taken: Iterable[Unit]) -> Survey:
    """The survey with the edits of these units and no others."""
    numbers = {id(edit) for unit in taken for edit in unit.edits}
    return replace(survey, edits=tuple(edit for edit in survey.edits if id(edit) in numbers))


def _find_lead(edits: Sequence[Edit]) -> Edit:
    """The edit that the others go along with: neither an import nor an addition that it calls for."""
    return min(edits, key=lambda edit: (is_companion(edit), edit.name, _get_anchor(edit)))


def is_companion(edit: Edit) -> bool:
    """Whether an edit is made for another one: an import, or an addition that it calls for."""
    return edit.reason.means in (Meaning.IMPORT, Meaning.UNUSED, Meaning.CHOICES, Meaning.WARNING)


def _get_anchor(edit: Edit) -> int:
    return edit.start if edit.anchor is None else edit.anchor
