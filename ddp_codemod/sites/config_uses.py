"""Uses of surfaces in configuration files: Hydra's ``_target_``, Lightning's ``class_path``, the ``target`` of others name what is called."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from ddp_codemod.catalog.model import Parameter, Surface
from ddp_codemod.parse.config import giving
from ddp_codemod.parse.document import Document, Entry
from ddp_codemod.sites.hydra_programs import DEFAULTS
from ddp_codemod.sites.project import Project
from ddp_codemod.sites.surface_calls import Finder
from ddp_codemod.sites.target_keys import TARGETS


class ConfiguredUse(Struct, frozen=True, eq=False):
    """One key that names a surface."""

    module: Document
    call: Entry
    surface: Surface

    named_in: str = ""  # the file whose key names the surface, where that is another: this one builds on it

    @property
    def arguments(self) -> tuple[str, ...]:
        """The path of the mapping that holds the arguments."""
        return self.call.path[:-1] if self.named_in else (*self.call.path[:-1], *TARGETS[self.call.path[-1]])

    def argument(self, parameter: Parameter) -> Entry | None:
        """The entry for a parameter."""
        beside = self.module.mapping(self.arguments, self.call.document)
        return next((entry for entry in beside if entry.path[-1] == parameter.name), None)

    @property
    def may_add(self) -> bool:
        """Whether an argument can be written on a line below the name."""
        return bool(self.named_in) or (not TARGETS[self.call.path[-1]] and self.place is not None)

    @property
    def place(self) -> Entry | None:
        """The entry below which an argument can be written on a line of its own; None where there is none."""
        if self.named_in:
            return None
        beside = [self.call] if not TARGETS[self.call.path[-1]] else self.module.mapping(self.arguments, self.call.document)
        return next((entry for entry in beside if self.module.may_add_below(entry)), None)

    @property
    def opens(self) -> str:
        """The key that arguments are under where the file has none yet, so that it comes below the name with the first of them."""
        inside = TARGETS[self.call.path[-1]]
        may_add = bool(inside) and not self.named_in and self.module.may_add_below(self.call)
        return inside[0] if may_add and self.module.lacks(self.call, inside[0]) else ""


def find_config_uses(project: Project, finder: Finder, derived: Iterable[str]) -> Iterator[ConfiguredUse]:
    """The names of surfaces in all configuration files, and those of the project's classes that derive from one."""
    own = frozenset(derived)
    last = {name.rpartition(".")[2].encode() for surface in finder.surfaces for name in surface.names}
    last |= {name.encode() for name in own}
    named = rb"\.(?:%b)(?![\w\x80-\xff])" % b"|".join(map(re.escape, sorted(last)))
    for target in TARGETS:
        for document in project.documents(target, giving(target, [named])):
            for entry in document.ending(target):
                surface = finder.surface(entry.value)
                if surface is None and entry.value.rpartition(".")[2] in own:
                    surface = finder.surface_of_class(entry.value)
                if surface is not None:
                    yield ConfiguredUse(document, entry, surface)
                    if entry.path == (target,):
                        yield from _find_including_configs(project, document, surface)


def _find_including_configs(project: Project, named: Document, surface: Surface) -> Iterator[ConfiguredUse]:
    """The files of the same folder whose list of defaults begins with this one (Hydra), and which decide about the surface's objects.

    They give one by a text, or count the devices by which the framework chooses one.
    """
    folder, _, name = named.name.rpartition("/")
    for parameter in surface.parameters:
        for document in project.documents(DEFAULTS) if parameter.objects is not None else ():
            base = {entry.value for entry in document.entries if entry.path[:1] == (DEFAULTS,) and len(entry.path) == 2}
            if document is named or document.name.rpartition("/")[0] != folder or name.rpartition(".")[0] not in base:
                continue
            given = [entry for entry in document.at((parameter.name,)) if entry.is_text]
            if not given and parameter.objects is not None and not document.mapping((parameter.name,)):
                counts = any(document.at((key,)) or document.mapping((key,)) for key in parameter.objects.several)
                given = [entry for entry in document.mapping(()) if document.may_add_below(entry)][:1] if counts else []
            yield from (ConfiguredUse(document, entry, surface, named.name) for entry in given)
