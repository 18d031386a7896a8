"""Which files of the project take an option of a launch file: the program of its command, or those of scripts that source the file."""

from __future__ import annotations

import re

from ddp_codemod.parse.shell import Option, Script
from ddp_codemod.sites.project import Project

_PROGRAM = re.compile(r"[\w./-]+\.py\b")


def takers(project: Project, script: Script, option: Option) -> list[str]:
    """The files that can be given an option, as far as that can be told.

    A list of options that its own file hands to nothing (``gpt_options="--backend nccl"``) goes to the programs of the scripts that
    source the file and speak of the list. Where only a run could tell which file is sourced, every file with such a list counts.
    """
    if not option.variable or option.program:
        return project.started(option.program)
    found: dict[str, None] = {}
    for other in project.scripts(option.variable):
        if other is not script and any(_means(path, script.name) for path in other.sourced):
            for program in dict.fromkeys(_PROGRAM.findall(other.source.text)):
                found.update(dict.fromkeys(project.started(program)))
    return list(found)


def _means(path: str, name: str) -> bool:
    """Whether what a script sources can be a file of the project; "" is any."""
    return not path or f"/{name}".endswith("/" + re.sub(r"^(?:\.{0,2}/)+", "", path))
