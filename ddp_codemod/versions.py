"""Which versions of a package a project runs with, and whether what holds for some versions holds for those."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

LOCAL = re.compile(r"\+[\w.]+")  # of 2.1.2+cu118: a build of a version is that version


@dataclass(frozen=True, slots=True)
class Stated:
    """The versions of one package that a project states, as a PEP 440 specifier such as ``>=2.0,<2.6`` or ``==2.1.2``.

    ``origin`` says where: ``requirements.txt:3``, or the option that the user gave.
    """

    package: str
    specifier: str
    origin: str


def holds(condition: str, stated: Stated | None) -> bool | None:
    """Whether a condition (a PEP 440 specifier; "" is always true) is met by every stated version.

    False where none meets it, None where only some do or nothing is stated. Raises ValueError for what is no specifier.
    """
    if not condition:
        return True
    return None if stated is None else _overlap(condition, stated.specifier)


@lru_cache(maxsize=256)
def _overlap(condition: str, specifier: str) -> bool | None:
    """As ``holds``: between two neighbours of the versions that are named nothing changes, so one point there stands for all."""
    from packaging.specifiers import SpecifierSet  # most runs ask nothing
    from packaging.version import Version

    wanted, given = SpecifierSet(condition), SpecifierSet(LOCAL.sub("", specifier))
    named = {Version(part.version.removesuffix(".*")) for part in (*wanted, *given)}
    behind = {Version(".".join(map(str, version.release)) + ".0.0.1") for version in named}
    points = [point for point in {Version("0"), *named, *behind} if given.contains(point, prereleases=True)]
    met = {wanted.contains(point, prereleases=True) for point in points}
    return None if len(met) != 1 else met.pop()
