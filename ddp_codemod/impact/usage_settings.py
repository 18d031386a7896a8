"""Finds in files of settings and launch files what an advice is about: a key with one of some values, an option of a command."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ddp_codemod.catalog.advisory import Pattern
from ddp_codemod.policy.findings import Context


def in_settings(context: Context, pattern: Pattern) -> Iterator[tuple[str, int]]:
    """The files and lines, where the project imports one of the packages."""
    project = context.tracer.resolver.project
    if not any(project.mentioning(package) for package in pattern.names):
        return
    for key in pattern.keywords:
        for document in project.documents(key):
            for entry in document.ending(key):
                beside = {one.path[-1] for one in document.mapping(entry.path[:-1], entry.document)}
                if entry.value.lower() in pattern.texts and not (pattern.within and beside.isdisjoint(pattern.within)):
                    yield document.name, document.source.position(entry.start)[0]


def in_commands(context: Context, pattern: Pattern) -> Iterator[tuple[str, int]]:
    """The launch files and lines where a command that starts a program of the project has one of the options."""
    project = context.tracer.resolver.project
    written = {f"--{option}" for option in pattern.keywords}
    given = re.compile(rf"(?<!\S)(?:{'|'.join(map(re.escape, sorted(written)))})(?:[ =]+(\w+))?")
    for script in project.scripts(*sorted(written)):
        for launch in script.launches:
            if not any(name.encode() in project.data(file) for file in project.started(launch.program) for name in pattern.names):
                continue
            command = script.source.text[launch.start : _end(script.source.text, launch.start)]
            if any(f"--{other}" in command for other in pattern.without):
                continue
            for found in given.finditer(command):
                if (found[1] or "true").lower() != "false":
                    yield script.name, script.source.position(launch.start + found.start())[0]


def _end(text: str, start: int) -> int:
    """The end of a command that goes on behind a backslash."""
    at = start
    while True:
        end = text.find("\n", at)
        if end < 0:
            return len(text)
        if not text[at:end].rstrip("\r").endswith("\\"):
            return end
        at = end + 1
