"""All rule data, as it was read."""

from __future__ import annotations

from msgspec import Struct, field

from ddp_codemod.catalog.advisory import Advice
from ddp_codemod.catalog.backend_model import Backend
from ddp_codemod.catalog.fix import Fix
from ddp_codemod.catalog.idioms import Idioms
from ddp_codemod.catalog.machine import Conditions
from ddp_codemod.catalog.model import Platform, Surface
from ddp_codemod.catalog.objects import TextObject
from ddp_codemod.catalog.packages import Machines, Package
from ddp_codemod.catalog.processes import Processes


class Rules(Struct, frozen=True):
    """All rule data, by id."""

    platforms: dict[str, Platform] = field(default_factory=dict)
    surfaces: dict[str, Surface] = field(default_factory=dict)
    frameworks: dict[str, str] = field(default_factory=dict)  # by surface
    fixes: dict[str, Fix] = field(default_factory=dict)
    backends: dict[str, Backend] = field(default_factory=dict)
    idioms: list[Idioms] = field(default_factory=list)
    objects: dict[str, list[TextObject]] = field(default_factory=dict)  # by table
    packages: dict[str, Package] = field(default_factory=dict)
    machines: list[Machines] = field(default_factory=list)
    advice: dict[str, Advice] = field(default_factory=dict)
    processes: list[Processes] = field(default_factory=list)

    def rule(self, ident: str) -> Fix | Advice | None:
        """What an edit names as its reason."""
        return self.fixes.get(ident) or self.advice.get(ident)

    @property
    def other_names(self) -> dict[str, str]:
        """The platforms by their accelerator and backend, where these are of one alone: npu and hccl are not what ascend is called."""
        named: dict[str, set[str]] = {}
        for platform in self.platforms.values():
            for name in {*platform.machine.accelerators, platform.backend.wanted} - {*self.platforms}:
                named.setdefault(name, set()).add(platform.id)
        return {name: next(iter(idents)) for name, idents in named.items() if len(idents) == 1}

    @property
    def compared(self) -> str:
        """The newest releases that the rule data was compared with: ``torch 2.15.0, lightning 2.6.6``."""
        return ", ".join(f"{package.name} {package.newest}" for package in self.packages.values() if package.newest)

    def fitting(self, conditions: Conditions) -> list[str]:
        """The platforms for which one of some conditions holds."""
        return [ident for ident, platform in sorted(self.platforms.items()) if platform.fits(conditions)]

    def missing_on(self, platform: Platform) -> frozenset[str]:
        """The qualified names that a platform's packages do not have: importing them fails there."""
        return frozenset(
            name for surface in self.surfaces.values() if platform.fits(surface.missing_on) for name in surface.names
        )
