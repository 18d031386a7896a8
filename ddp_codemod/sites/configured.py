"""Uses of surfaces in configuration files: Hydra's ``_target_`` and Lightning's ``class_path`` name what is called with which keys."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from ddp_codemod.parse.document import Document, Entry
from ddp_codemod.rules.model import Parameter, Surface
from ddp_codemod.sites.find import Finder
from ddp_codemod.sites.project import Project

TARGETS: dict[str, tuple[str, ...]] = {"_target_": (), "class_path": ("init_args",)}  # and where, beside it, the arguments stand


class ConfiguredUse(Struct, frozen=True, eq=False):
    """One key that names a surface."""

    module: Document
    call: Entry
    surface: Surface

    @property
    def arguments(self) -> tuple[str, ...]:
        """The path of the mapping that holds the arguments."""
        return (*self.call.path[:-1], *TARGETS[self.call.path[-1]])

    def argument(self, parameter: Parameter) -> Entry | None:
        """The entry for a parameter."""
        beside = self.module.mapping(self.arguments, self.call.document)
        return next((entry for entry in beside if entry.path[-1] == parameter.name), None)

    @property
    def may_add(self) -> bool:
        """Whether an argument can be written on a line below the name."""
        return not TARGETS[self.call.path[-1]] and self.module.may_add_below(self.call)


def configured_uses(project: Project, finder: Finder) -> Iterator[ConfiguredUse]:
    """The names of surfaces in all configuration files."""
    for target in TARGETS:
        for document in project.documents(target):
            for entry in document.ending(target):
                if surface := finder.surface(entry.value):
                    yield ConfiguredUse(document, entry, surface)
