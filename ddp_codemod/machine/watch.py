"""Runs a command of the user's with a recorder in each of its Python processes."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ddp_codemod.machine.processes import Crew

RECORDER = Path(__file__).with_name("recorder")
MARK = b"@@ddp-codemod "
DUMP_SECONDS = 3.0  # for the ranks to show their stacks


@dataclass
class Watched:
    """What the ranks of a command got."""

    code: int | None = None  # None: time was up
    asked: list[dict[str, Any]] = field(default_factory=list)
    formed: list[dict[str, Any]] = field(default_factory=list)
    groups: list[dict[str, Any]] = field(default_factory=list)  # further ones, by new_group
    steps: list[dict[str, Any]] = field(default_factory=list)  # what the first optimizer steps of each rank worked with
    output: bytes = b""


def watch(
    command: Sequence[str],
    stop: bool,
    seconds: float | None,
    tell: Callable[[bytes], None],
    root: Path | None = None,
    sharding: Iterable[str] = (),
) -> Watched:
    """Run the command to its end, or with ``stop`` until the group has formed; ``tell`` gets each line of its output.

    With the ``root`` of the project the frames of its stack are recorded; ``sharding``: modules and classes with which each rank
    trains a part of its own. Raises OSError where it cannot be started.
    """
    found = Watched()
    folders = [str(RECORDER), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders), "PYTHONUNBUFFERED": "1"}
    environment["DDP_CODEMOD_SHARDING"] = ",".join(sharding)
    if stop:
        environment["DDP_CODEMOD_STEPS"] = "0"
    if root is not None:
        environment["DDP_CODEMOD_ROOT"] = os.path.realpath(root)
    if seconds is not None:
        environment["DDP_CODEMOD_UNTIL"] = str(time.time() + seconds)

    def listen(line: bytes) -> None:
        at = line.find(MARK)
        if at < 0:
            tell(line)
            return
        try:
            entry = json.loads(line[at + len(MARK) :])
        except ValueError:
            return
        if entry["step"] in ("group", "stepped"):  # there may be hundreds
            (found.groups if entry["step"] == "group" else found.steps).append(entry)
            return
        (found.asked if entry["step"] == "asked" else found.formed).append(entry)
        tell(line)

    with Crew(environment) as crew:
        crew.start(command, listen=listen)
        in_time = crew.wait(None if seconds is None else seconds + DUMP_SECONDS)
        code = crew.codes[0]
        crew.end()
        found.code = code if in_time else None
        found.output = crew.output()
    return found
