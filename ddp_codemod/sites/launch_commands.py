"""Which launch files start a file of the project, itself or through what it is imported by."""

from __future__ import annotations

from ddp_codemod.parse.python import Module
from ddp_codemod.parse.shell import Launch, Script
from ddp_codemod.sites.imports import Imports
from ddp_codemod.sites.project import Project


class LaunchCommands:
    """The launch files of one project, by what they start."""

    def __init__(self, project: Project, imports: Imports) -> None:
        self.project = project
        self._imports = imports
        self._all: list[tuple[Script, Launch, list[str]]] | None = None

    def of(self, module: Module) -> list[tuple[Script, Launch]]:
        """The commands that start a file, or one that imports it."""
        above = self._imports.above([module.name])
        return [(script, launch) for script, launch, started in self._find_launches() if above & set(started)]

    def _find_launches(self) -> list[tuple[Script, Launch, list[str]]]:
        if self._all is None:
            every = ((script, launch) for script in self.project.scripts("") for launch in script.launches)
            self._all = [(script, launch, self.project.started(launch.program)) for script, launch in every]
        return self._all
