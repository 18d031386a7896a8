"""What CI installs is pinned: requirements-ci.txt names a release of everything that pyproject.toml asks for."""

from __future__ import annotations

import sys
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TOP = Path(__file__).parents[1]
OTHERWISE = {"torch"}  # chosen by the Makefile


def asked() -> list[Requirement]:
    said = tomllib.loads((TOP / "pyproject.toml").read_text("utf-8"))
    groups = [*said["project"]["optional-dependencies"].values(), *said["dependency-groups"].values()]
    lines = [*said["project"]["dependencies"], *(line for group in groups for line in group)]
    return [Requirement(line) for line in lines]


def test_every_dependency_has_a_pin_that_it_admits() -> None:
    pins: dict[str, Version] = {}
    for line in (TOP / "requirements-ci.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            name, _, version = line.partition("==")
            pins[canonicalize_name(name)] = Version(version)
    for need in asked():
        if canonicalize_name(need.name) not in OTHERWISE and (
            need.marker is None or need.marker.evaluate({"python_version": "3.11"})
        ):
            assert need.specifier.contains(pins[canonicalize_name(need.name)]), need
