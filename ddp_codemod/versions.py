"""Which versions of a package a project runs with, and whether what holds for some versions holds for those."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from msgspec import Struct

from ddp_codemod import lazy_modules

if TYPE_CHECKING:
    from packaging.specifiers import Specifier
    from packaging.version import Version

LOCAL = re.compile(r"\+[\w.]+")  # of 2.1.2+cu118: a build of a version is that version


class Stated(Struct, frozen=True):
    """The versions of one package that a project states, as a PEP 440 specifier such as ``>=2.0,<2.6`` or ``==2.1.2``.

    ``origin`` says where: ``requirements.txt:3``, or the option that the user gave.
    """

    package: str
    specifier: str
    origin: str


@cache
def _import_specifiers() -> ModuleType:
    """The module of packaging; without one that it takes a function of for comparing specifiers, which takes twice its own time."""
    with lazy_modules.defer_function("packaging.utils", "canonicalize_version"):
        return import_module("packaging.specifiers")


def parse_stated(version: str, package: str, origin: str) -> Stated:
    """A version that somebody names. Raises ValueError where it is none."""
    from packaging.version import Version

    return Stated(package, f"=={Version(version).public}", origin)


def holds(condition: str, stated: Stated | None) -> bool | None:
    """Whether a condition (a PEP 440 specifier; "" is always true) is met by every stated version.

    False where none meets it, None where only some do or nothing is stated. Raises ValueError for what is no specifier.
    """
    if not condition:
        return True
    return None if stated is None else _has_overlap(condition, stated.specifier)


def is_satisfiable(specifier: str) -> bool:
    """Whether any version meets a specifier; False also for what is none."""
    module = _import_specifiers()
    try:
        given = module.SpecifierSet(LOCAL.sub("", specifier))
    except module.InvalidSpecifier:
        return False
    return any(given.contains(point, prereleases=True) for point in _find_points(given))


@lru_cache(maxsize=256)
def _has_overlap(condition: str, specifier: str) -> bool | None:
    """As ``holds``: between two neighbours of the versions that are named nothing changes, so one point there stands for all."""
    SpecifierSet = _import_specifiers().SpecifierSet
    wanted, given = SpecifierSet(condition), SpecifierSet(LOCAL.sub("", specifier))
    points = [point for point in _find_points((*wanted, *given)) if given.contains(point, prereleases=True)]
    met = {wanted.contains(point, prereleases=True) for point in points}
    return None if len(met) != 1 else met.pop()


def _find_points(parts: Iterable[Specifier]) -> set[Version]:
    from packaging.version import Version

    named = {Version(part.version.removesuffix(".*")) for part in parts}
    # ~=2.0.1 and ==2.0.* end where 2.1 begins, ~=2.0 where 3 does
    named |= {_next_release(Version(part.version).release[:-1]) for part in parts if part.operator == "~="}
    named |= {_next_release(Version(part.version[:-2]).release) for part in parts if part.version.endswith(".*")}
    behind = {Version(".".join(map(str, version.release)) + ".0.0.1") for version in named}
    return {Version("0"), *named, *behind}


def _next_release(release: tuple[int, ...]) -> Version:
    """The first version that does not begin with these numbers."""
    from packaging.version import Version

    return Version(".".join(map(str, (*release[:-1], release[-1] + 1))))
