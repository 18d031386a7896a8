"""Uses of surfaces in launch files: commands that start a framework's own programs, such as ``fairseq-train``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from ddp_codemod.catalog.model import Parameter, Surface
from ddp_codemod.parse.shell import Option, Program, Script
from ddp_codemod.sites.project import Project


class CommandedUse(Struct, frozen=True, eq=False):
    """One command that starts a program of a framework."""

    module: Script
    call: Program
    surface: Surface

    def given(self, parameter: Parameter) -> list[Option]:
        """What the command gives for a parameter."""
        name, override = parameter.option.strip("-="), parameter.option.endswith("=")
        return [option for option in self.overrides if _is_same_option(option.name, name, override)]

    @property
    def overrides(self) -> list[Option]:
        """The options of the command, in source order."""
        return [option for option in self.module.options if option.used == self.call.used]


def find_command_uses(project: Project, surfaces: Iterable[Surface]) -> Iterator[CommandedUse]:
    """The commands of launch files, notebooks and manifests that start the programs; not those of the project's own copy."""
    for surface in surfaces:
        if not surface.commands:
            continue
        own = {home for command in surface.commands for home in _find_framework_folders(project, command)}
        for script in (*project.scripts(*surface.commands), *project.manifests(*surface.commands)):
            places = {program.start: program for program in script.programs if starts_surface_program(surface, program.name)}
            if not script.name.startswith(tuple(own)):
                yield from (CommandedUse(script, program, surface) for program in places.values())


def starts_surface_program(surface: Surface, program: str) -> bool:
    """Whether a command starts one of the surface's programs: by its name, as a module or by the path of its file."""
    return any(program == command or f"/{program}".endswith(f"/{command}") for command in surface.commands)


def _is_same_option(option: str, name: str, override: bool) -> bool:
    return option == name if override else option.replace("_", "-") == name.replace("_", "-")


def _find_framework_folders(project: Project, command: str) -> Iterator[str]:
    """The folders, with their slashes, in which copies of the framework lie: they hold the program of a command, or its package."""
    path = command if command.endswith(".py") else f"{command.replace('.', '/')}.py"
    package = f"{path.partition('/')[0]}/__init__.py"
    for part in (path, package) if "/" in path else ():
        yield from (file.removesuffix(part) for file in project.started(part) if f"/{file}".endswith(f"/{part}"))
