"""Lays what a run recorded over what reading said: which groups it had, which it missed, and which the run never made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from ddp_codemod.kinds import Meaning
from ddp_codemod.model import Decision, Survey

UNKNOWN = "?"
AGREES = ("agrees", "inherits")


class Seen(Struct, frozen=True):
    """A place of the project where the run made a group; ``path`` is empty where no line of the project was on the way.

    ``state``: ``agrees``, ``inherits`` (nothing was chosen there), ``unseen-place`` (no site), ``unseen-value`` (reading
    left it open), ``other-value`` (reading had other values).
    """

    path: str
    line: int
    backend: str | None  # as the call passed it
    state: str
    predicted: tuple[str, ...] = ()
    site: tuple[str, int] | None = None  # the line of the site that it belongs to


def compared(survey: Survey, entries: Iterable[dict[str, Any]]) -> list[Seen]:
    """Each place and value once, in the order in which they came."""
    return list(dict.fromkeys(_seen(survey, entry) for entry in entries))


def not_reached(survey: Survey, seen: Iterable[Seen]) -> Iterator[tuple[str, int]]:
    """The sites that none of the run's groups belongs to, but those where the platform makes none."""
    reached = {one.site for one in seen}
    made = (one for one in survey.decisions if one.reason.means not in (Meaning.UNREACHABLE, Meaning.ELSEWHERE))
    yield from (place for place in dict.fromkeys(_line(survey, one) for one in made) if place not in reached)


def _seen(survey: Survey, entry: dict[str, Any]) -> Seen:
    backend = entry["backend"]
    frames = [(str(path), int(line)) for path, line in entry.get("frames", ())]
    path, line = frames[0] if frames else ("", 0)
    here = next((found for frame in frames if (found := _sites(survey, *frame))), [])
    if not here:
        return Seen(path, line, backend, "inherits" if entry["step"] == "group" and backend is None else "unseen-place")
    predicted = tuple(dict.fromkeys(value for one in here for value in one.resolves_to))
    site = _line(survey, here[0])
    left_out = backend is None and any(one.value in (None, "None") for one in here)
    if left_out or (backend or "").lower() in {value.lower() for value in predicted}:
        return Seen(path, line, backend, "agrees", predicted, site)
    open_ = not predicted or UNKNOWN in predicted
    return Seen(path, line, backend, "unseen-value" if open_ else "other-value", predicted, site)


def _sites(survey: Survey, name: str, line: int) -> list[Decision]:
    """What was decided about the backend of the call on a line."""
    source = survey.sources.get(name)
    if source is None:
        return []
    at = [one for one in survey.decisions if one.call.name == name and one.parameter != "init_method"]
    return [one for one in at if source.position(one.call.start)[0] <= line <= source.position(one.call.end)[0]]


def _line(survey: Survey, decision: Decision) -> tuple[str, int]:
    source = survey.sources.get(decision.call.name)
    return decision.call.name, source.position(decision.call.start)[0] if source else 0
