"""A section in few lines: what a screen has room for."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from ddp_codemod.report import text
from ddp_codemod.report.finding_groups import Finding, Listed
from ddp_codemod.report.sections import Section
from ddp_codemod.report.table import cut_to_width as fitting
from ddp_codemod.report.view import NAMED, View

# What a section gives up step by step: first all but three places of a reason, then the reasons in full and the kinds after the
# fourth, then the reasons, then the places, and at last all: how many there are is reported above.
WHOLE, REASONS, KINDS, COUNT, GONE = range(5)
CHANGED = "left-changed"  # the section that is below the sentence which counts its findings
_KINDS = {REASONS: 4, KINDS: 3}
_LINES = 2  # of a reason that is cut
_SOURCES = re.compile(r"[ ]?[(（](?:https?://[^\s()]+(?:, )?)+[)）]\.?$")


def condense_section(view: View, section: Section, level: int) -> Listed:
    """A section at one of these levels, under its heading."""
    if level == GONE or not section.found:
        return Listed([], len(_find_places(section.found)))
    if level == WHOLE:
        section = replace(section, found=tuple(_shorten_places(view, one) for one in section.found))
        listing = text.format_body(view, section, NAMED, 0, "screen-rest")
        left = listing.left + sum(max(len(one.also) - NAMED, 0) for one in section.found)
        return Listed(text.format_titled(view, section, listing.lines), left)
    kinds = _group_by_kind(section.found, level)
    if level == COUNT:
        return _condense_to_counts(view, section, kinds)
    lines: list[str] = []
    left = 0
    shown = len(kinds) if len(kinds) == _KINDS[level] + 1 else _KINDS[level]
    for found in kinds[:shown]:
        listing = _format_kind(view, found, len(kinds) > 1, level)
        lines += listing.lines
        left += listing.left
    if rest := kinds[shown:]:
        lines += view.folded(_format_others(view, rest), 2, 4)
        left += sum(len(_find_places(found)) for found in rest)
    return Listed(text.format_titled(view, section, lines), left, True)


def _condense_to_counts(view: View, section: Section, kinds: list[list[Finding]]) -> Listed:
    """The kinds with their numbers and the first place, or the first places where there are no kinds to tell apart."""
    if section.heading == CHANGED:
        named = _name_places(view, "screen-changed", section.found, 2, 1)
        return Listed(named.lines, named.left, True)
    heading = section.title(view)
    if len(kinds) > 1:
        shown = len(kinds) if len(kinds) == NAMED + 1 else NAMED
        told = [view.say("screen-number", kind=_label_of(found[0]), n=len(found)) for found in kinds[:shown]]
        told += [_format_others(view, rest)] if (rest := kinds[shown:]) else []
        first = view.at(*_find_places(kinds[0])[0]) if _find_places(kinds[0]) else ""
        message = view.say("screen-counted", heading=heading, kinds=view.say("list-comma").join(told), place=first)
        named = Listed(view.folded(message, 0, 2), len(_find_places(section.found)) - bool(first))
    else:
        named = _name_places(view, "screen-heading", section.found, 0, 1, heading=heading)
    return Listed([view.ink(line, *section.styles) for line in named.lines], named.left, True)


def _format_others(view: View, rest: list[list[Finding]]) -> str:
    return view.say("screen-kinds", n=sum(map(len, rest)), kinds=len(rest))


def list_places(view: View, where: Sequence[tuple[str, int]], endless: bool = False, most: int = NAMED) -> Listed:
    """A line that names the first places, those of one file together, with the number of the others."""
    files: dict[str, list[int]] = {}
    for name, line in where[:most]:
        files.setdefault(name, []).append(line)
    named = ", ".join(
        ", ".join([view.at(name, first), *map(str, others)]) if first else view.path(name)
        for name, (first, *others) in files.items()
    )
    left = max(len(where) - most, 0)
    if left:
        key = "screen-more" if any(line for _, line in where) else "screen-more-files"
        named = view.say("screen-more-than" if endless else key, places=named, n=left)
    return Listed([named] if named else [], left)


def _name_places(view: View, key: str, found: Sequence[Finding], indent: int, limit: int = _LINES, **words: object) -> Listed:
    """A sentence with the first places of findings: as many as are on so many lines, one in any case."""
    where, endless = _find_places(found), any(one.endless for one in found)
    for most in range(min(NAMED, max(len(where), 1)), 0, -1):
        named = list_places(view, where, endless, most)
        said = view.say(key, places="".join(named.lines), n=len(found), **words).rstrip(" :：")
        lines = view.folded(said, indent, indent + 2)
        if len(lines) <= limit:
            break
    return Listed(lines, named.left)


def _find_places(found: Sequence[Finding]) -> list[tuple[str, int]]:
    """The places of findings: two of one line are one to look at."""
    return list(dict.fromkeys(place for one in found for place in ((one.name, one.line), *one.also) if place[0]))


def _shorten_places(view: View, one: Finding) -> Finding:
    """A finding whose further places are named as far as there is room."""
    if len(one.also) <= NAMED:
        return one
    named = list_places(view, one.also, one.endless).lines
    return replace(one, here=tuple(view.say("advice-also", lines=line) for line in named))


def _group_by_kind(found: Sequence[Finding], level: int) -> list[list[Finding]]:
    """The findings by what they are, and where reasons are shown by those: what cannot wait first, then what is frequent."""
    kinds: dict[tuple[str, str], list[Finding]] = {}
    for one in found:
        kinds.setdefault((_label_of(one), one.reason.key if level == REASONS else ""), []).append(one)
    return sorted(kinds.values(), key=lambda alike: (not any(one.urgent for one in alike), -len(_find_places(alike))))


def _label_of(one: Finding) -> str:
    return one.kind or one.head


def _format_kind(view: View, found: list[Finding], several: bool, level: int) -> Listed:
    """One kind: what it is called, its first places, and its reason where there is room."""
    label = _label_of(found[0])
    said = _SOURCES.sub("", view.reason(found[0].reason)) if level == REASONS else ""
    if label and not _find_places(found):  # about the whole project
        return Listed([*view.folded(label, 2, 4), *cut_lines(view, said, 6).lines])
    one = len(found) == 1 and len(_find_places(found)) > 1  # a note that names all its lines
    if label:
        named = _name_places(view, "screen-kind" if several and not one else "screen-places", found, 2, kind=label)
        return Listed([*named.lines, *cut_lines(view, said, 6).lines], named.left)
    named = _name_places(view, "screen-bare", found, 4 if said else 2)
    return Listed([*cut_lines(view, said, 2).lines, *named.lines], named.left)  # the reason is all that there is to call it


def cut_lines(view: View, paragraph: str, indent: int, most: int = _LINES) -> Listed:
    """The first lines of a paragraph."""
    lines = view.folded(paragraph, indent, indent) if paragraph else []
    if len(lines) <= most:
        return Listed(lines)
    last = fitting(lines[most - 1], max(view.width - 4, 36))
    if last != lines[most - 1] and " " in last.strip():
        last = last.rpartition(" ")[0]  # no half word
    return Listed([*lines[: most - 1], f"{last.rstrip(' ,;:，；：')} …"], cut=True)
