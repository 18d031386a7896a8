"""The packages whose releases rule data speaks of, and for whose machines a project states them (rules/versions.toml)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from ddp_codemod.catalog.entry import Name, RuleEntry
from ddp_codemod.catalog.machine import MachineFacts, is_possible


class Package(RuleEntry, frozen=True, kw_only=True):
    """A package that conditions name."""

    name: Name
    names: tuple[Name, ...]  # as requirements and environments call it, in lower case
    asked: bool = False  # the option --torch-version speaks of it
    newest: str = ""  # the newest release that the rule data was compared with (make releases)
    source: tuple[Name, ...]


class Machines(RuleEntry, frozen=True, kw_only=True):
    """Words in the name of a requirements file or an extra that show its machines: requirements/npu.txt."""

    words: tuple[Name, ...]  # in lower case; "rocm*" is rocm6 too
    systems: tuple[Name, ...] = ()  # those that have one of these, or of these accelerators; with neither: none that is known
    accelerators: tuple[Name, ...] = ()


class PackageFile(RuleEntry, frozen=True, kw_only=True):
    """rules/versions.toml"""

    package: tuple[Package, ...] = ()
    machines: tuple[Machines, ...] = ()


def may_concern(machines: Iterable[Machines], own: Sequence[MachineFacts], name: str, target: MachineFacts) -> bool:
    """Whether what is called so can be for machines of a kind: true where its name says nothing about machines.

    ``own`` is what all platforms say about their machines, which includes words of their own.
    """
    words = re.split(r"[^a-z0-9]+", name.lower())

    def matches_word(patterns: Iterable[str]) -> bool:
        return any(fnmatchcase(word, pattern) for word in words for pattern in patterns)

    shared = [one for one in machines if matches_word(one.words)]
    system = [is_possible(target.systems, one.systems) for one in shared if one.systems]
    device = [bool(one.accelerators) and is_possible(target.accelerators, one.accelerators) for one in shared if not one.systems]
    if any(matches_word(one.words) for one in own):
        device.append(matches_word(target.words))
    return all(not answers or any(answers) for answers in (system, device))
