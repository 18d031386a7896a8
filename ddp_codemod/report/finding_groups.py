"""Findings as a reader takes them in: each reason once, and below it its places with what only they have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from ddp_codemod.messages import one_line
from ddp_codemod.model import Reason
from ddp_codemod.report.view import View

SHOWN = 5  # lines of places below one reason, where not all are asked for
_CLAUSE = re.compile(r"(?<=[;；，])|(?<=[,.] )")
_LONG = 24  # characters that a clause must have to be worth saying once
_TELLING = 60  # characters that sentences must share where they begin differently: a half sentence alone tells little
_GAP = "… "


class Finding(Struct, frozen=True):
    """One place and why it is named. ``head`` is what kind it is; ``here`` is reported at this place alone."""

    head: str
    reason: Reason
    name: str
    line: int
    here: tuple[str, ...] = ()
    also: tuple[tuple[str, int], ...] = ()  # further places that it is about ...
    endless: bool = False  # ... which are only the first of them
    urgent: bool = False  # a program fails, or trains wrong, until somebody acts on it
    kind: str = ""  # what a list that has no room for reasons calls it; the head, where there is no other word


class Listed(Struct, frozen=True):
    """Lines, and how many places are not named in them."""

    lines: list[str]
    left: int = 0
    cut: bool = False  # something else was omitted, too


class _Block(Struct):
    said: str
    places: list[tuple[Finding, tuple[str, ...]]]  # each with what is reported of it alone


def format_findings(view: View, found: Iterable[Finding], shown: int = SHOWN) -> list[str]:
    """A paragraph a reason, and its places under it; ``shown`` limits their lines, 0 shows all, as -v does."""
    return list_findings(view, found, shown).lines


def list_findings(view: View, found: Iterable[Finding], shown: int = SHOWN, spare: int = 1, rest: str = "list-rest") -> Listed:
    """The same, with the number of places that are not named. So many lines more are shown where they are all; ``rest`` says that there are more."""
    lines: list[str] = []
    told: list[str] = []
    left = 0
    for block in _build_blocks(view, found):
        block.said = _format_reason_once(view, block, told)
        if len(block.places) == 1:
            one, here = block.places[0]
            lines += view.folded(": ".join(filter(None, (view.at(one.name, one.line), block.said))), 2, 4)
            lines += [line for said in here for line in view.folded(said, 6, 8)]
        else:
            lines += view.folded(block.said, 2, 4)
            alike, places = _split_common_lines(block.places)
            lines += [line for said in alike for line in view.folded(said, 6, 8)]
            under = _format_places(view, places, 0 if view.verbose else shown, spare, rest)
            lines += under.lines
            left += under.left
    return Listed(lines, left)


def _build_blocks(view: View, found: Iterable[Finding]) -> list[_Block]:
    kinds: dict[tuple[str, str], list[Finding]] = {}
    for one in found:
        kinds.setdefault((one.head, one.reason.key), []).append(one)
    result: list[_Block] = []
    for (head, _), alike in kinds.items():
        same: dict[str, list[Finding]] = {}
        for one in alike:
            same.setdefault(view.reason(one.reason), []).append(one)
        single = [text for text, found in same.items() if len(found) == 1]
        common = _find_common_clauses(single)
        merged = _Block("", [])
        for text, found in same.items():
            if common is None or len(found) > 1:
                result.append(_Block(_add_heading(head, text), [(one, one.here) for one in found]))
                continue
            if not merged.places:
                merged.said = _add_heading(head, _join_common_clauses(_CLAUSE.split(text), common))
                result.append(merged)
            merged.places.append((found[0], (*_find_own_clauses(_CLAUSE.split(text), common), *found[0].here)))
    return result


def _format_reason_once(view: View, block: _Block, told: list[str]) -> str:
    """What a block says, without the platform's own reason where a block above says it; ``told`` are those that were reported."""
    said = block.said
    args = dict(block.places[0][0].reason.args)
    why = one_line(args.get(f"why_{view.lang}") or args.get("why", ""))
    if len(why) < _LONG or why not in said:
        return said
    before = max((one for one in told if why.startswith(one)), key=len, default="")
    if any(why in one for one in told):
        before = why
    told.append(why)
    return said.replace(before, view.say("list-above"), 1) if before else said


def _split_common_lines(places: list[tuple[Finding, tuple[str, ...]]]) -> tuple[list[str], list[tuple[Finding, tuple[str, ...]]]]:
    """The lines that all places have, and the places without them; a change alone stays beside its place."""
    if all(len(here) < 2 for _, here in places):
        return [], places
    alike = [line for line in places[0][1] if all(line in here for _, here in places)]
    return alike, [(one, tuple(line for line in here if line not in alike)) for one, here in places]


def _add_heading(head: str, text: str) -> str:
    return f"{head}: {text}" if head else text


def _find_common_clauses(texts: Sequence[str]) -> frozenset[int] | None:
    """Which clauses all of these sentences share; None where there is but one, or they have too little in common."""
    if len(texts) < 2:
        return None
    clauses = [_CLAUSE.split(text) for text in texts]
    if len({len(parts) for parts in clauses}) > 1:
        return None
    shared = frozenset(at for at, parts in enumerate(zip(*clauses, strict=True)) if len(set(parts)) == 1)
    alike = [len(clauses[0][at]) for at in shared]
    return shared if any(length >= _LONG for length in alike) and (0 in shared or sum(alike) >= _TELLING) else None


def _join_common_clauses(parts: Sequence[str], common: frozenset[int]) -> str:
    text = "".join(part if at in common else _GAP for at, part in enumerate(parts))
    return re.sub(f"({_GAP.strip()} ?)+", _GAP, text).replace("… ，", "…，").strip()


def _find_own_clauses(parts: Sequence[str], common: frozenset[int]) -> tuple[str, ...]:
    own = "".join(part for at, part in enumerate(parts) if at not in common).strip(" ,.;；，")
    return (own,) if own else ()


def _format_places(view: View, places: Sequence[tuple[Finding, tuple[str, ...]]], shown: int, spare: int, rest: str) -> Listed:
    """A line a file with its lines, or a line a place where something is reported of it alone."""
    files: dict[tuple[str, int | None], list[int]] = {}
    own: dict[tuple[str, int | None], tuple[str, ...]] = {}
    for number, (one, here) in enumerate(places):
        key = (one.name, number if here else None)
        files.setdefault(key, []).append(one.line)
        own[key] = here
    keys = list(files)
    if not shown or len(keys) <= shown + spare:
        shown = len(keys)
    lines: list[str] = []
    if shown < len(keys):
        counts = {"n": sum(len(set(lines)) for lines in files.values()), "files": len({one.name for one, _ in places})}
        lines.append("    " + view.say("list-places", **counts))
    for key in keys[:shown]:
        first, *others = dict.fromkeys(files[key])  # two places of one line are one to look at
        where = ", ".join([view.at(key[0], first), *map(str, others)])
        lines += _format_place(view, where, own[key])
    left = sum(len(set(files[key])) for key in keys[shown:])
    if left:
        lines.append("    " + view.say(rest, n=left))
    return Listed(lines, left)


def _format_place(view: View, where: str, here: Sequence[str]) -> list[str]:
    """A place, and what is reported of it: beside it where that fits on the line, below it elsewhere."""
    beside = view.folded("  ".join((where, *here[:1])), 4, 8)
    if len(beside) == 1:
        here = here[1:]
    else:
        beside = view.folded(where, 4, 8)
    return [*beside, *(line for said in here for line in view.folded(said, 8, 10))]
