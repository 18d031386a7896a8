"""Environment rules in launch files: the variable is set before the line that starts the program, not in its Python."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from ddp_codemod.catalog.objects import Environment
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.values import Value
from ddp_codemod.kinds import OriginKind
from ddp_codemod.model import Action, Reason
from ddp_codemod.parse.shell import Launch, Script, Setting
from ddp_codemod.policy.calling_files import find_launches_of
from ddp_codemod.policy.findings import Change, Context, Finding, NewText, NewVariable, Splice
from ddp_codemod.sites.launch_commands import LaunchCommands

_SHOWN = 3  # places that a reason names
_INHERITED = frozenset({"export", "command", "image"})
_TARGET = re.compile(r"(?m)^[^\s#:=][^:=\r\n]*:(?!=)")


def set_in_launch_files(context: Context, launches: LaunchCommands, finding: Finding) -> Iterator[Finding]:
    """The finding with what it would set in Python set in the launch files; where none starts the program, or none is edited, for review."""
    variables = [change for change in finding.changes if isinstance(change, NewVariable)]
    if finding.action is not Action.EDIT or not variables:
        yield finding
        return
    assert finding.rule is not None
    environment = variables[0].environment
    arguments = {"variable": environment.name, "value": environment.value}
    starts = dict.fromkeys(
        start for change in variables for start in find_launches_of(context, launches, change.module, change.node)
    )
    if not starts:
        names = ", ".join(dict.fromkeys(change.module.name for change in variables))
        yield finding.review(finding.rule, Reason.of("review-no-launch", name=names, **arguments))
        return
    changes: list[Change] = [change for change in finding.changes if change not in variables]
    places, by_hand = [], []
    for script, launch in starts:
        there = _find_setting(script, launch, environment.name)
        made = _correct_setting(script, there, environment) if there else _insert_setting(script, launch, environment)
        if made is not None:
            changes.append(made)
            places.append(f"{script.name}:{script.source.position(launch.start)[0]}")
        elif there is None:
            by_hand.append((script, launch))
    if changes:
        places = list(dict.fromkeys(places))
        shown = ", ".join(places[:_SHOWN]) + (f", +{len(places) - _SHOWN}" if len(places) > _SHOWN else "")
        reason = Reason.of("edit-environment-launch", where=shown, **arguments)
        yield replace(finding, changes=tuple(changes), reason=reason)
    elif not by_hand:
        yield replace(finding, changes=()).keep(_explain_keep(environment))
    for script, launch in by_hand:
        made_by_hand = finding.review(finding.rule, Reason.of("review-launch-line", line=_format_setting(script, environment)))
        yield replace(made_by_hand, at=(Value(script, launch, OriginKind.LAUNCH),))


def keep_if_launches_set(context: Context, launches: LaunchCommands, finding: Finding) -> Finding:
    """The finding; kept where every launch file that starts the program sets the variable already."""
    variables = [change for change in finding.changes if isinstance(change, NewVariable)]
    if finding.action is not Action.EDIT or not variables or len(variables) < len(finding.changes):
        return finding
    environment = variables[0].environment
    if not context.tracer.resolver.project.scripts(environment.name):
        return finding
    starts = dict.fromkeys(
        start for change in variables for start in find_launches_of(context, launches, change.module, change.node)
    )
    there = [_find_setting(script, launch, environment.name) for script, launch in starts]
    if there and all(setting and (not environment.override or setting.value == environment.value) for setting in there):
        return replace(finding, changes=()).keep(_explain_keep(environment))
    return finding


def _explain_keep(environment: Environment) -> Reason:
    return Reason.of("keep-environment-launch", variable=environment.name, value=environment.value)


def _find_setting(script: Script, launch: Launch, name: str) -> Setting | None:
    """Where the file sets the variable for a command."""
    before = [setting for setting in script.settings if setting.name == name and setting.kind in _INHERITED]
    return next((setting for setting in reversed(before) if setting.start < launch.end), None)


def _correct_setting(script: Script, there: Setting, environment: Environment) -> Change | None:
    """The other value, where the variable has to have the rule's."""
    if not environment.override or there.value == environment.value or not script.editable:
        return None
    return NewText(Value(script, there, OriginKind.LAUNCH_VARIABLE, Known(there.value)), environment.value)


def _insert_setting(script: Script, launch: Launch, environment: Environment) -> Change | None:
    """The new line in front of the command; None where a user has to write it."""
    where, indent = _locate_insertion(script, launch)
    if where is None:
        return None
    text = f"{indent}{_format_setting(script, environment)}{script.source.newline}"
    return Splice(script, where, text, script.place(launch))


def _locate_insertion(script: Script, launch: Launch) -> tuple[int | None, str]:
    """Start of the line that the new one goes above, and how far that is indented."""
    if script.source.file is not script.source or not script.editable:
        return None, ""
    if script.kind == "docker":
        return _locate_instruction(script, launch), ""
    if script.kind == "make":
        heads = [found.start() for found in _TARGET.finditer(script.source.text, 0, launch.start)]
        return heads[-1] if heads else None, ""
    return launch.insert, launch.indent


def _locate_instruction(script: Script, launch: Launch) -> int:
    """The start of a Dockerfile's instruction, which may go over several lines."""
    start = script.source.line_span(launch.start)[0]
    while start and script.source.text[:start].rstrip("\r\n").endswith("\\"):
        start = script.source.line_span(start - 1)[0]
    return start


def _format_setting(script: Script, environment: Environment) -> str:
    """The statement that sets the variable; what the user gives stays, unless the rule overrides it."""
    name, value = environment.name, environment.value
    if script.source.file is not script.source:
        return f"%env {name}={value}"
    if script.kind == "docker":
        return f"ENV {name}={value}"  # "docker run -e" goes above it
    if script.kind == "make":
        return f"export {name} := {value}" if environment.override else f"export {name} ?= {value}"
    if script.kind == "batch":
        return f"set {name}={value}"
    if script.kind == "powershell":
        return f'$env:{name} = "{value}"'
    return f"export {name}={value}" if environment.override else f'export {name}="${{{name}:-{value}}}"'
