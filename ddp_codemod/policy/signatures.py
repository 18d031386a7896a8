"""The signature that a call has in the version of its framework that a project states."""

from __future__ import annotations

from msgspec.structs import replace

from ddp_codemod.catalog.model import Surface
from ddp_codemod.catalog.tables import Rules
from ddp_codemod.policy.versions import Versions
from ddp_codemod.sites.surface_calls import Use


class Signatures:
    """The surfaces that stand for others in some versions, by those that they stand for."""

    def __init__(self, rules: Rules, versions: Versions) -> None:
        self.versions = versions
        self._others: dict[str, list[Surface]] = {}
        for surface in rules.surfaces.values():
            if surface.variant_of:
                self._others.setdefault(surface.variant_of, []).append(surface)

    def of(self, use: Use) -> Use:
        """The use with the surface that holds for the version stated for its file; the same where none is, or it is open."""
        for other in self._others.get(use.surface.id, ()):
            if self.versions.holds(other.when, use.module.name):
                return replace(use, surface=other)
        return use
