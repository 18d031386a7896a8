"""Matches what files beside the programs give to surfaces: by a ``_target_``, by a path of keys, on the command line of a framework's program."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ddp_codemod.catalog.fix import Fix
from ddp_codemod.policy.decide_commanded import decide_commanded
from ddp_codemod.policy.decide_configured import decide_configured, decide_variable
from ddp_codemod.policy.decide_configured_object import decide_configured_object
from ddp_codemod.policy.decide_keyed import decide_keyed
from ddp_codemod.policy.findings import Context, Finding
from ddp_codemod.policy.left_out import tied
from ddp_codemod.sites.commanded import commanded_uses
from ddp_codemod.sites.configured import ConfiguredUse, configured_uses
from ddp_codemod.sites.keyed import keyed_uses
from ddp_codemod.sites.users import Users


def decide_files(context: Context, users: Users, fixes: Sequence[Fix], writable: Callable[[str], bool]) -> Iterator[Finding]:
    """The findings of all configuration and launch files that may be written."""
    project, finder = context.tracer.resolver.project, users.finder
    for use in configured_uses(project, finder, users.derived):
        if writable(use.module.name):
            yield from _configured(context, use, fixes)
    for keyed in keyed_uses(project, finder.surfaces):
        for fix in fixes if writable(keyed.module.name) else ():
            for parameter in keyed.surface.parameters if fix.recipe == "replace-backend" else ():
                decide = decide_configured_object if parameter.add == "object" else decide_keyed
                if (found := decide(context, keyed, parameter, fix)) is not None:
                    yield found
    for command in commanded_uses(project, finder.surfaces):
        for fix in fixes if writable(command.module.name) else ():
            for parameter in command.surface.parameters if fix.recipe == "replace-backend" else ():
                yield decide_commanded(context, command, parameter, fix)


def _configured(context: Context, use: ConfiguredUse, fixes: Sequence[Fix]) -> Iterator[Finding]:
    backends: list[Finding] = []
    for fix in fixes:
        for parameter in use.surface.parameters if fix.recipe == "replace-backend" else ():
            if parameter.role == "backend":
                if parameter.add == "object":
                    found = decide_configured_object(context, use, parameter, fix)
                    backends += [found] if found is not None else []
                else:
                    backends += decide_configured(context, use, parameter, fix)
    if not backends and any(parameter.add == "object" for parameter in use.surface.parameters):
        return  # the object that it is given is a site of its own
    yield from backends
    for fix in fixes:
        if (variable := decide_variable(context, use, fix, backends)) is not None:
            yield tied(context, variable, backends)
