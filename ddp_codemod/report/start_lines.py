"""The commands that start the program, as the last lines of the screen: what to type, where, and its source."""

from __future__ import annotations

from ddp_codemod.kinds import Meaning
from ddp_codemod.model import Action
from ddp_codemod.report.device_kinds import launched, list_apart
from ddp_codemod.report.outcome import Outcome
from ddp_codemod.report.summary import WIDE, format_commands
from ddp_codemod.report.view import NAMED, View, name_first
from ddp_codemod.start import Start

RANKS = 2  # processes that show whether ranks train together
FEW_STARTS, MOST_CELLS = 2, 200  # commands of which each has lines of its own, where none after the first is longer


def format_start_commands(view: View, outcome: Outcome) -> list[str]:
    """The commands that start the program, and where they come from."""
    starts = view.survey.starts if outcome.made else ()
    variable = next(iter(launched(view, outcome.made) if not list_apart(view) else ()), None)
    few = len(starts) <= FEW_STARTS and not (view.width and any(len(one.command) > MOST_CELLS for one in starts[1:]))
    lines = [line for one in (starts if few else starts[:1]) for line in _format_start(view, one, variable, few)]
    if not few:
        others = name_first(view, (_name_start(view, one) for one in starts[1:]), len(starts) if view.verbose else NAMED)
        lines += view.folded(view.say("screen-start-others", names=others), 2, 2)
    lines += _format_single_starts(view)
    for one in [one for one in starts[:1] if outcome.done == "written" and one.trial and not one.placeholders]:
        lines += _start(view, "screen-verify", one, outcome.again("verify", one.folder or "", one.trial))
    return lines


def _name_start(view: View, start: Start) -> str:
    """What a command starts, and its source."""
    name = start.name if start.folder is None else view.path(start.name)
    return f"{name} ({view.path(start.source[0])}:{start.source[1]})" if start.source[0] else name


def _format_start(view: View, start: Start, variable: str | None, alone: bool) -> list[str]:
    """One command with what a user has to know of it."""
    command = f"{variable}={RANKS} {start.command}" if start.counts and variable is not None else start.command
    key = "screen-start" if start.whole else "screen-start-file" if alone else "screen-start-some"
    said: list[str] = []
    (name, line), (option, count) = start.source, start.count
    place = f"{view.path(name)}:{line}"
    if name and not start.whole:
        said.append(view.say("screen-start-arguments", place=place))
    elif name and start.single:
        said.append(view.say("screen-start-single", place=place))
    elif name and option:
        said.append(view.say("screen-start-count", place=place, count=count, option=option))
    elif name:
        said.append(view.say("screen-start-source", place=place))
    if start.placeholders:
        said.append(view.say("screen-start-replace", names=view.say("list-comma").join(start.placeholders)))
    if start.counts and variable is None:
        said.append(view.say("screen-start-counts"))
    return [*_start(view, key, start, command), *(line for one in said for line in view.folded(one, 2, 2))]


def _format_single_starts(view: View) -> list[str]:
    """The commands that start one process, where a framework then makes no group and nothing else sees to that."""
    kept = (
        dict(one.reason.args) for one in view.survey.decisions if one.action is Action.KEEP and one.reason.means is Meaning.ALONE
    )
    commands = dict.fromkeys(str(said["command"]) for said in kept if said.get("command"))
    return [line for one in commands for line in format_commands(view, [(view.say("screen-start-one"), one)], WIDE)]


def _start(view: View, key: str, start: Start, command: str) -> list[str]:
    folder = "." if start.folder is None else view.path(start.folder or ".")
    message = view.say(key) if folder == "." else view.say(f"{key}-in", folder=folder)
    return format_commands(view, [(message, command)], WIDE)
