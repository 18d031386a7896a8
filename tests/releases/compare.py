"""Where the rule data and what was read of a release differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ddp_codemod.catalog.load import Rules
from ddp_codemod.versions import Stated, holds


def wanted(rules: Rules) -> set[str]:
    """The qualified names that the rule data speaks of with a parameter."""
    return {name for name, _ in _asked(rules)}


def differences(rules: Rules, facts: Mapping[str, Any]) -> Iterator[str]:
    """Sentences that start with the release; those about one surface speak of all its names together."""
    release = f"{facts['package']} {facts['version']}"
    yield from (f"{release}: {said}" for said in (*_parameters(rules, facts), *_backends(rules, facts)))


def _asked(rules: Rules) -> Iterator[tuple[str, tuple[str, str, int | None, str | None, Mapping[str, str]]]]:
    """Name by name: the entry, its parameter, its position, what leaving it out gives, and the versions that have it."""
    for surface in rules.surfaces.values():
        for name in surface.names:
            for one in surface.parameters:
                if one.handler is not None:
                    yield from (
                        (own, (f"{surface.id} handler", one.handler.keyword, None, None, one.since)) for own in one.handler.names
                    )
                # what the surface does not have is in the rule data to say what comes out without it
                own = one.add in ("keyword", "object", "fields") and (one.ignored is None or bool(one.ignored_on))
                yield name, (surface.id, one.name if own else "", one.position, one.omitted_value, one.since)
    for advice in rules.advice.values():
        if (pattern := advice.pattern) is not None and pattern.argument is not None:
            for name in pattern.names:
                yield name, (f"advice {advice.id}", pattern.argument, pattern.position, None, {})


def _parameters(rules: Rules, facts: Mapping[str, Any]) -> Iterator[str]:
    top = _tops(facts)
    stated = _stated(facts)
    entries: dict[tuple[str, str], list[tuple[str, int | None, str | None]]] = {}
    for name, (entry, parameter, position, omitted, since) in _asked(rules):
        if name.partition(".")[0] in top and all(holds(text, stated.get(package)) for package, text in since.items()):
            entries.setdefault((entry, parameter), []).append((name, position, omitted))
    for (entry, parameter), asked in entries.items():
        made = [(one, position, omitted) for name, position, omitted in asked for one in facts["names"].get(name, ())]
        if not made:
            yield f"{entry}: none of {', '.join(name for name, _, _ in asked)} is there"
        elif parameter:
            said = [_says(parameter, one, position, omitted) for one, position, omitted in made]
            if None not in said:
                yield f"{entry}: {said[0]}"


def _says(parameter: str, made: Mapping[str, Any], position: int | None, omitted: str | None) -> str | None:
    """What differs for a parameter of one definition, if anything does."""
    names = [name for name, _ in made["position"]]
    if parameter in made["keyword"] or (parameter not in names and made["open"]):
        return None if position is None or parameter not in made["keyword"] else f"{parameter} is no longer taken by position"
    if parameter not in names:
        return f"there is no {parameter}"
    if position is not None and names.index(parameter) != position:
        return f"{parameter} stands at {names.index(parameter)}, not at {position}"
    default = dict(made["position"])[parameter]
    if omitted is not None and default not in (None, repr(omitted)) and str(default).rpartition(".")[2].lower() != omitted:
        return f"{parameter} is {default} where it is left out, not {omitted!r}"
    return None


def _backends(rules: Rules, facts: Mapping[str, Any]) -> Iterator[str]:
    """Names that a release of torch has and the rule data lacks, or that it lacks and the rule data gives it."""
    if not facts["backends"]:
        return
    stated = _stated(facts)
    for name in facts["backends"]:
        if name not in rules.backends:
            yield f"the backend {name} is not in the rule data"
    for key, one in rules.backends.items():
        if one.since and ":" not in key:
            known = all(holds(text, stated.get(package)) for package, text in one.since.items())
            if known != (key in facts["backends"]):
                yield f"the backend {key} is {'not ' if known else ''}there"
    for device, name in facts["devices"].items():
        platforms = [one for one in rules.platforms.values() if one.device_types[:1] == (device,) and one.backend.default]
        for platform in platforms:
            if platform.backend.default != name and not platform.earlier:
                yield f"{device} gives {name}, not {platform.backend.default} as for {platform.id}"


def _tops(facts: Mapping[str, Any]) -> set[str]:
    return set(facts["tops"])


def _stated(facts: Mapping[str, Any]) -> dict[str, Stated]:
    """The release as a statement of versions, under each name that conditions know it by."""
    names = {facts["known_as"], facts["package"]}
    return {name: Stated(name, f"=={facts['version']}", "release") for name in names}
