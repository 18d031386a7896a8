"""What the formats for other tools share: each unit with its sites, and the lines that it replaces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from msgspec import Struct

from ddp_codemod.edits.blocks import Block, build_blocks, has_too_many_edits
from ddp_codemod.edits.lines import AROUND, LONGEST, MARK
from ddp_codemod.edits.splice import SpliceError
from ddp_codemod.edits.units import Unit, build_units
from ddp_codemod.model import Decision, Edit, Place, Source, Survey
from ddp_codemod.report.edit_sites import sites_of_edits


class Proposal(Struct, frozen=True):
    """A unit, the sites that it is made for, and its blocks; no blocks where it cannot be made by a program."""

    unit: Unit
    sites: tuple[Decision, ...]
    blocks: tuple[Block, ...]
    place: Place  # what it is about: the value or call that its lead changes


class Replacement(Struct, frozen=True):
    """A stretch of a file (offsets of the file) and its new text, without what stays at either end."""

    start: int
    end: int
    text: str


def make_proposals(survey: Survey, failed: Iterable[Edit] = ()) -> list[Proposal]:
    """The units of a survey; ``failed`` are edits that could not be rendered. A notebook with too many of them gets no fixes here."""
    broken = {id(edit) for edit in failed}
    counts = Counter(edit.name for edit in survey.edits)
    crowded = {name for name, count in counts.items() if has_too_many_edits(survey.sources[name], count)}
    return [
        _make_proposal(survey, unit, any(id(edit) in broken or edit.name in crowded for edit in unit.edits))
        for unit in build_units(survey)
    ]


def _make_proposal(survey: Survey, unit: Unit, broken: bool) -> Proposal:
    sites = tuple(sites_of_edits((unit.lead, *unit.edits), survey))
    result: list[Block] = []
    if not broken and unit.applicability.value != "manual":
        try:
            for name in unit.names:
                result += build_blocks(survey.sources[name], (edit for edit in unit.edits if edit.name == name))
        except SpliceError:
            result = []
    return Proposal(unit, sites, tuple(result), _find_place(unit.lead, sites))


def shrink_replacement(block: Block) -> Replacement:
    """The part of a block that changes when all of its edits are made."""
    old, new = block.old, block.new(block.edits)
    head, tail = _count_shared(old, new)
    return Replacement(block.start + head, block.end - tail, new[head : len(new) - tail])


def shorten_block(block: Block) -> tuple[str, str]:
    """The lines of a block before and after; of lines that are too long, what is around the change."""
    old, new = block.old, block.new(block.edits)
    head, tail = _count_shared(old, new)
    if head + tail <= LONGEST:
        return old, new
    left, right = max(head - AROUND, 0), max(tail - AROUND, 0)
    before, behind = MARK * (left > 0), MARK * (right > 0)
    return before + old[left : len(old) - right] + behind, before + new[left : len(new) - right] + behind


def _count_shared(old: str, new: str) -> tuple[int, int]:
    """How many characters two texts share at the start, and at the end beside those."""
    most = min(len(old), len(new))
    head = _find_largest(most, lambda n: old.startswith(new[:n]))
    return head, _find_largest(most - head, lambda n: not n or old.endswith(new[-n:]))


def _find_largest(most: int, holds: Callable[[int], bool]) -> int:
    """The largest number for which something holds that holds for all smaller ones: a long line is not gone through by steps."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low


def position_of(source: Source, offset: int) -> tuple[int, int]:
    """(line, column) in the file, both from 1; columns are code points."""
    line, column = source.position(offset)
    return line, column + 1


def _find_place(lead: Edit, sites: tuple[Decision, ...]) -> Place:
    if lead.end > lead.start:
        return Place(lead.name, lead.start, lead.end)
    for site in sites:
        for place in (site.place, *(origin.place for origin in site.origins)):
            if place.name == lead.name:
                return place
    return Place(lead.name, lead.start, lead.start)
