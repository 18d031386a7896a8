"""Lays a run over the survey of its project: which groups reading had, which it did not have, and which the run never made."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from ddp_codemod.catalog.backends import assess
from ddp_codemod.catalog.load import Rules, load
from ddp_codemod.catalog.model import Platform
from ddp_codemod.discover.scope import Scope
from ddp_codemod.health import FIRST, Frame, GroupComparison, Overlay, RecordedGroup
from ddp_codemod.kinds import GroupMatch, Meaning, OriginKind
from ddp_codemod.machine.site_index import SiteIndex
from ddp_codemod.model import Decision, Survey

UNKNOWN = "?"
TORCH = "torch"
# whoever starts a program may give another value than the one that is there
AT_START = frozenset(
    {
        OriginKind.OPTION_DEFAULT,
        OriginKind.ENVIRONMENT_DEFAULT,
        OriginKind.FIELD_DEFAULT,
        OriginKind.PARAMETER_DEFAULT,
        OriginKind.KEY_DEFAULT,
        OriginKind.CONFIG_KEY,
        OriginKind.COMMAND_LINE,
        OriginKind.LAUNCH,
        OriginKind.LAUNCH_VARIABLE,
    }
)
# nothing is named there: torch picks, or the group that exists decides
UNNAMED = frozenset({OriginKind.OMITTED, OriginKind.PLATFORM_DEFAULT, OriginKind.CURRENT})


def find_groups(entries: Iterable[Mapping[str, Any]]) -> tuple[RecordedGroup, ...]:
    """What the recorder told of, once for all ranks that did the same."""
    found: dict[RecordedGroup, list[str]] = defaultdict(list)
    for entry in entries:
        group = RecordedGroup(
            entry["call"],
            entry["backend"],
            tuple(Frame(str(path), int(line)) for path, line in entry["frames"]),
            tuple(map(str, entry["through"])),
            bool(entry["typed"]),
            span=tuple(entry["span"]) if entry["span"] else None,
            passed=(entry["passed"][0], tuple(entry["passed"][1])),
            taken=tuple((name, at) for name, at in entry["taken"]),
            text_line=entry["text_line"],
        )
        found[group].append(str(entry["rank"]))
    return tuple(replace(group, ranks=tuple(dict.fromkeys(ranks))) for group, ranks in found.items())


def compare_run(groups: Iterable[RecordedGroup], survey: Survey, rules: Rules, platform: Platform, scope: Scope) -> Overlay:
    """Hold each group against the survey, and list the sites that none of them reached."""
    sites = SiteIndex(survey, rules, scope)
    held = tuple(_compare_group(one, sites, rules, platform) for one in groups)
    reached = {_key_of(one.site) for one in held if one.site is not None}
    reached |= {_key_of(site) for one in held for frame in one.made.stack for site in sites.at(frame)}
    left = (one for one in sites.every if _key_of(one) not in reached)
    not_reached = tuple({_key_of(one): one for one in left if _may_run(one)}.values())
    return Overlay(platform.id, held, not_reached, _public() if any(one.bug for one in held) else frozenset())


def _public() -> frozenset[str]:
    """The words of the shipped rule data, none of a project's own: names of backends, platforms, facts and surfaces."""
    rules = load()
    names = [*rules.backends, *rules.platforms, *(fact for platform in rules.platforms.values() for fact in platform.facts)]
    for surface in rules.surfaces.values():
        names += [surface.id, *surface.called, *(parameter.name for parameter in surface.parameters)]
    return frozenset(word for name in names for word in re.findall(r"\w+", name))


def _may_run(site: Decision) -> bool:
    return site.reason.means not in (Meaning.UNREACHABLE, Meaning.ELSEWHERE)


def _key_of(site: Decision) -> tuple[str, int, str]:
    return site.call.name, site.call.start, site.surface


def _compare_group(group: RecordedGroup, sites: SiteIndex, rules: Rules, platform: Platform) -> GroupComparison:
    fails = _is_failing(group, rules, platform)
    if not group.stack:
        return GroupComparison(group, GroupMatch.OUTSIDE, fails=fails)
    here = _find_sites(group, sites)
    if group.call != FIRST and group.backend is None and _is_library(group) and here:
        return GroupComparison(group, GroupMatch.LEFT_TO_TORCH, here[0])  # like the first, whatever the site says of that
    found = _compare_with_sites(group, here, sites) if here else None
    if (found is None or found.seen is GroupMatch.UNDECIDED) and (read := _settings(group, sites)):
        return GroupComparison(group, GroupMatch.AGREES, read[0], read[0].resolves_to, fails=fails, settings=read)
    if found is not None:
        return replace(found, fails=fails)
    if sites.is_ignored(group.stack[0]):
        return GroupComparison(group, GroupMatch.IGNORED)
    if group.backend is None and _is_library(group) and not fails:
        return GroupComparison(group, GroupMatch.LEFT_TO_TORCH)
    return GroupComparison(group, GroupMatch.PLACE, fails=fails)


def _is_library(group: RecordedGroup) -> bool:
    return group.caller is not None and not group.caller.startswith("<")


def _settings(group: RecordedGroup, sites: SiteIndex) -> tuple[Decision, ...]:
    """The keys of settings that a library may have its value from."""
    packages = {*group.through} - {TORCH} if group.backend is not None else set[str]()
    return tuple(one for one in sites.in_settings(packages) if _may_give(one, group.backend))


def _is_failing(group: RecordedGroup, rules: Rules, platform: Platform) -> bool:
    """Whether what the call passed does not work on the platform; where it passed none, what torch picks there."""
    if group.backend is None and group.call != FIRST:
        return False  # a further group is like the first
    passed = platform.backend.default if group.backend is None else group.backend
    return assess(passed, platform.backend, rules.backends).wanted is not None


def _find_sites(group: RecordedGroup, sites: SiteIndex) -> list[Decision]:
    """The sites that a group can belong to: on the line of the call, or on one through which a library came to make it."""
    if group.caller is None:
        return sites.at(group.stack[0]) or sites.bound(group.call, group.backend)
    if group.caller.startswith("<"):
        return []  # code in a text is at no line of its own
    through = (found for frame in group.stack if (found := sites.at(frame)))
    return next(through, []) or sites.of_packages({*group.through} - {TORCH})


def _compare_with_sites(group: RecordedGroup, here: list[Decision], sites: SiteIndex) -> GroupComparison:
    """Compare the value with those that were found for the sites."""
    predicted = tuple(dict.fromkeys(value for site in here for value in site.resolves_to))
    fitting = next((site for site in here if _may_give(site, group.backend)), None)
    never = next((site for site in here if site.reason.means is Meaning.UNREACHABLE), None)
    if never is not None and len(here) == 1:
        return GroupComparison(group, GroupMatch.VALUE, never, predicted, bug=True)
    if fitting is not None:
        return GroupComparison(group, GroupMatch.AGREES, fitting, predicted)
    decided = all(sites.decides(site) and site.reason.means is not Meaning.ELSEWHERE for site in here)
    if not predicted or not decided:
        return GroupComparison(group, GroupMatch.UNDECIDED, here[0], predicted)
    unknown = UNKNOWN in predicted
    if group.typed and (unknown or any(origin.kind in AT_START for site in here for origin in site.origins)):
        return GroupComparison(group, GroupMatch.TYPED, here[0], predicted)
    return GroupComparison(group, GroupMatch.OPEN if unknown else GroupMatch.VALUE, here[0], predicted, bug=not unknown)


def _may_give(site: Decision, backend: str | None) -> bool:
    if backend is None:
        return any(origin.kind in UNNAMED or (origin.known and origin.value is None) for origin in site.origins)
    return backend.lower() in {value.lower() for value in site.resolves_to}


def for_other_machine(found: Overlay, machine: str) -> Overlay:
    """The same where this machine is of another platform than the one read for: values that differ say nothing about reading."""

    def told(one: GroupComparison) -> GroupComparison:
        return replace(one, seen=GroupMatch.OTHER_MACHINE, bug=False, machine=machine) if one.bug else one

    return replace(found, held=tuple(map(told, found.held)))


def find_missed_groups(found: Overlay) -> Iterator[GroupComparison]:
    """The groups for which a run is a finding: not seen by reading, or with a value that fails on the platform."""
    yield from (one for one in found.held if one.seen in (GroupMatch.PLACE, GroupMatch.OPEN, GroupMatch.VALUE) or one.fails)
