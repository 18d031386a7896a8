"""Uses of surfaces in configuration files: Hydra's ``_target_`` names what is called with the keys beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ddp_codemod.parse.document import Document, Entry
from ddp_codemod.rules.model import Parameter, Surface
from ddp_codemod.sites.find import Finder
from ddp_codemod.sites.project import Project

TARGET = "_target_"


@dataclass(frozen=True, slots=True, eq=False)
class ConfiguredUse:
    """One ``_target_`` that names a surface."""

    module: Document
    call: Entry
    surface: Surface

    def argument(self, parameter: Parameter) -> Entry | None:
        """The entry beside the target for a parameter."""
        beside = self.module.mapping(self.call.path[:-1], self.call.document)
        return next((entry for entry in beside if entry.path[-1] == parameter.name), None)


def configured_uses(project: Project, finder: Finder) -> Iterator[ConfiguredUse]:
    """The targets of all configuration files that name a surface."""
    for document in project.documents(TARGET):
        for entry in document.entries:
            if entry.path[-1] == TARGET and (surface := finder.surface(entry.value)):
                yield ConfiguredUse(document, entry, surface)
