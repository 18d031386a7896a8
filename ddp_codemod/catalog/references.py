"""Looks for what rule data names and no rule file describes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ddp_codemod.catalog.files import RuleError, find_line, format_nearest_hint
from ddp_codemod.catalog.machine import Conditions

if TYPE_CHECKING:
    from ddp_codemod.catalog.model import BackendChoice, Platform
    from ddp_codemod.catalog.tables import Rules

Seen = Mapping[tuple[str, str], Path]  # files by the kind and id of what is in them


def check_references(rules: Rules, seen: Seen) -> None:
    """Raise RuleError for a rule, a backend or a machine that is named and not described."""
    for platform in rules.platforms.values():
        path = seen["platform", platform.id]
        for ident in platform.rules:
            if ident not in rules.fixes:
                said = f"platform {platform.id!r} asks for the rule {ident!r}, which no file defines"
                raise _make_error(path, ident, said + format_nearest_hint(ident, rules.fixes))
        for name in _list_backends(platform):
            if name not in rules.backends:
                do = "add a [[backend]] with this name to backends.toml beside the folder platforms"
                said = f"platform {platform.id!r} names the backend {name!r}, which no backends.toml describes"
                raise _make_error(path, name, f"{said}{format_nearest_hint(name, rules.backends)}; {do}")
    for surface in rules.surfaces.values():
        if surface.variant_of and surface.variant_of not in rules.surfaces:
            said = f"surface {surface.id!r} is a variant of the surface {surface.variant_of!r}, which no file defines"
            raise _make_error(
                seen["surface", surface.id], surface.variant_of, said + format_nearest_hint(surface.variant_of, rules.surfaces)
            )
    known = {
        "system": {name for platform in rules.platforms.values() for name in platform.machine.systems},
        "accelerator": {name for platform in rules.platforms.values() for name in platform.machine.accelerators},
        "backend": set(rules.backends),
    }
    for kind, ident, conditions in _list_conditions(rules):
        for what, name in _list_machines(conditions):
            if name not in known[what]:
                of = "no backends.toml describes" if what == "backend" else "the [machine] of no platform names"
                said = f"{kind} {ident!r} asks for the {what} {name!r}, which {of}"
                raise _make_error(seen[kind, ident], name, said + format_nearest_hint(name, known[what]))


def _make_error(path: Path, word: str, said: str) -> RuleError:
    return RuleError(f"{path}:{find_line(path.read_text('utf-8'), word)}: {said}")


def _list_backends(platform: Platform) -> Iterator[str]:
    def named(choice: BackendChoice) -> Iterator[str]:
        yield from (choice.wanted, *choice.works, *choice.wanted_for.values())
        if choice.default:
            yield choice.default

    yield from named(platform.backend)
    for earlier in platform.earlier:
        yield from named(earlier.backend)


def _list_conditions(rules: Rules) -> Iterator[tuple[str, str, Conditions]]:
    """The kind and id of an entry, and the conditions that it puts on machines."""
    for surface in rules.surfaces.values():
        yield "surface", surface.id, surface.missing_on
        for parameter in surface.parameters:
            yield "surface", surface.id, (*parameter.named_on, *parameter.open_on, *parameter.ignored_on, *parameter.right_on)
    for fix in rules.fixes.values():
        for unneeded in fix.unneeded:
            yield "rule", fix.id, unneeded.on
    for advice in rules.advice.values():
        yield "advice", advice.id, advice.on


def _list_machines(conditions: Conditions) -> Iterator[tuple[str, str]]:
    for one in conditions:
        yield from (("system", name) for name in one.systems)
        yield from (("accelerator", name) for name in (*one.accelerators, *one.other_than))
        yield from (("backend", name) for name in one.wanted)
