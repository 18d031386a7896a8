"""Matches what files beside the programs give to surfaces: by a ``_target_``, by a path of keys, on the command line of a framework's program."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ddp_codemod.catalog.fix import Fix
from ddp_codemod.policy.decide_command import decide_command
from ddp_codemod.policy.decide_configuration import decide_configuration, decide_configuration_variable
from ddp_codemod.policy.decide_configuration_key import decide_configuration_key
from ddp_codemod.policy.decide_configuration_object import decide_configuration_object
from ddp_codemod.policy.default_argument import inherit_unsafe
from ddp_codemod.policy.findings import Context, Finding
from ddp_codemod.sites.command_uses import find_command_uses
from ddp_codemod.sites.config_uses import ConfiguredUse, find_config_uses
from ddp_codemod.sites.key_path_uses import find_key_path_uses
from ddp_codemod.sites.surface_users import SurfaceUsers


def decide_files(
    context: Context, users: SurfaceUsers, fixes: Sequence[Fix], writable: Callable[[str], bool]
) -> Iterator[Finding]:
    """The findings of all configuration and launch files that may be written."""
    project, finder = context.tracer.resolver.project, users.finder
    for use in find_config_uses(project, finder, users.derived):
        if writable(use.module.name):
            yield from _decide_configuration_use(context, use, fixes)
    for keyed in find_key_path_uses(project, finder.surfaces):
        for fix in fixes if writable(keyed.module.name) else ():
            for parameter in keyed.surface.parameters if fix.recipe == "replace-backend" else ():
                decide = decide_configuration_object if parameter.add == "object" else decide_configuration_key
                if (found := decide(context, keyed, parameter, fix)) is not None:
                    yield found
    for command in find_command_uses(project, finder.surfaces):
        for fix in fixes if writable(command.module.name) else ():
            for parameter in command.surface.parameters if fix.recipe == "replace-backend" else ():
                yield decide_command(context, command, parameter, fix)


def _decide_configuration_use(context: Context, use: ConfiguredUse, fixes: Sequence[Fix]) -> Iterator[Finding]:
    backends: list[Finding] = []
    for fix in fixes:
        for parameter in use.surface.parameters if fix.recipe == "replace-backend" else ():
            if parameter.role == "backend":
                if parameter.add == "object":
                    found = decide_configuration_object(context, use, parameter, fix)
                    backends += [found] if found is not None else []
                else:
                    backends += decide_configuration(context, use, parameter, fix)
    if not backends and any(parameter.add == "object" for parameter in use.surface.parameters):
        return  # the object that it is passed is a site of its own
    yield from backends
    for fix in fixes:
        if (variable := decide_configuration_variable(context, use, fix, backends)) is not None:
            yield inherit_unsafe(context, variable, backends)
