"""The packages whose releases rule data speaks of, and for whose machines a project states them (rules/versions.toml)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Literal

from ddp_codemod.rules.entry import Name, RuleEntry


class Package(RuleEntry, frozen=True, kw_only=True):
    """A package whose releases conditions speak of."""

    name: Name
    names: tuple[Name, ...]  # as requirements and environments call it, in lower case
    asked: bool = False  # the option --torch-version speaks of it
    newest: str = ""  # the newest release that the rule data was compared with (make releases)
    source: tuple[Name, ...]


class Machines(RuleEntry, frozen=True, kw_only=True):
    """Words in the name of a requirements file, or of an extra, that say for which machines it is: requirements/npu.txt."""

    words: tuple[Name, ...]  # in lower case; "rocm*" is rocm6 too
    of: Literal["system", "device"]
    platforms: tuple[Name, ...]  # those that it can be for; empty: none that is known


class PackageFile(RuleEntry, frozen=True, kw_only=True):
    """rules/versions.toml"""

    package: tuple[Package, ...] = ()
    machines: tuple[Machines, ...] = ()


def concerns(machines: Iterable[Machines], name: str, platform: str) -> bool:
    """Whether what is called so can be for a platform: true where its name says nothing about machines."""
    words = re.split(r"[^a-z0-9]+", name.lower())
    said = [one for one in machines if any(fnmatchcase(word, pattern) for word in words for pattern in one.words)]
    return all(any(platform in one.platforms for one in said if one.of == of) for of in {one.of for one in said})
