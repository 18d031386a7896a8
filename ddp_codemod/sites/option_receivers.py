"""Which files of the project take an option of a launch file: the program of its command, or those of scripts that source the file."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ddp_codemod.model import Reason
from ddp_codemod.parse.shell import Option, Script
from ddp_codemod.sites.project import Project

_PROGRAM = re.compile(r"(?:-m\s+([\w.]+)|([\w./-]+\.py)\b)")
_JOINED = re.compile(r"\\\r?\n")  # a line that goes on in the next one


def find_option_receivers(project: Project, script: Script, option: Option) -> list[str]:
    """The files that can be passed an option, as far as that can be told.

    A list of options that its own file hands to nothing (``gpt_options="--backend nccl"``) goes to the programs of the lines with the
    list, in the scripts that source the file. Where only a run could tell which file is sourced, every file with such a list counts.
    """
    if not option.variable or option.program:
        return project.started(option.program)
    found: dict[str, None] = {}
    for other in project.scripts(option.variable):
        if other is not script and any(_may_be_file(path, script.name) for path in other.sourced):
            for program in _find_option_programs(other.source.text, option.variable):
                found.update(dict.fromkeys(project.started(program)))
    return list(found)


def _find_option_programs(text: str, variable: str) -> Iterator[str]:
    """The programs on the lines that hand a list of options on; comments do not count."""
    used = re.compile(rf"\$\{{?{re.escape(variable)}\b")
    for line in _JOINED.sub(" ", text).splitlines():
        if not line.lstrip().startswith("#") and used.search(line):
            yield from (module or path for module, path in _PROGRAM.findall(line))


def _may_be_file(path: str, name: str) -> bool:
    """Whether what a script sources can be a file of the project; "" is any."""
    return not path or f"/{name}".endswith("/" + re.sub(r"^(?:\.{0,2}/)+", "", path))


def explain_launch_value(option: Option) -> Reason:
    """What to say of a value that a command line gives, with the program where the line names one."""
    if option.program:
        return Reason.of("hop-launch", name=option.name, program=option.program)
    return Reason.of("hop-launch-here", name=option.name)
