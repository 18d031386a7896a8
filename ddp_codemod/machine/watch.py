"""Runs a command of the user's with a recorder in each of its Python processes."""

from __future__ import annotations

import json
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ddp_codemod.machine.processes import Crew

RECORDER = Path(__file__).with_name("recorder")
MARK = b"@@ddp-codemod "
DUMP_SECONDS = 3.0  # for the ranks to show their stacks
BETWEEN = 0.2  # seconds between two looks at the record


@dataclass
class Watched:
    """What the ranks of a command got."""

    code: int | None = None  # None: time was up
    asked: list[dict[str, Any]] = field(default_factory=list)
    formed: list[dict[str, Any]] = field(default_factory=list)
    groups: list[dict[str, Any]] = field(default_factory=list)  # further ones, by new_group
    steps: list[dict[str, Any]] = field(default_factory=list)  # what the first optimizer steps of each rank worked with
    imitated: list[dict[str, Any]] = field(default_factory=list)  # answered by a stand-in: nothing was formed
    left: int = 0  # processes that still ran when the command had ended
    output: bytes = b""

    def take(self, line: bytes, tell: Callable[[bytes], None]) -> None:
        """Sort in a line that a process said or put on record, and tell it, but for what there may be hundreds of."""
        at = line.find(MARK)
        if at < 0:
            tell(line)
            return
        try:
            entry = json.loads(line[at + len(MARK) :])
        except ValueError:
            return
        kinds = {
            "group": self.groups,
            "asked": self.asked,
            "formed": self.formed,
            "imitated": self.imitated,
            "stepped": self.steps,
        }
        kinds[entry["step"]].append(entry)
        if entry["step"] not in ("group", "stepped"):
            tell(line)


class Record:
    """The folder in which each process of a command has a file of its own: what it tells does not depend on where its streams go."""

    def __init__(self, folder: Path, take: Callable[[bytes], None]) -> None:
        self._folder, self._take = folder, take
        self._read: dict[str, int] = {}
        self._over = threading.Event()
        self._reader = threading.Thread(target=self._follow_files, daemon=True)
        self._reader.start()

    def _follow_files(self) -> None:
        while not self._over.wait(BETWEEN):
            self._read_new_lines()

    def close(self) -> None:
        """Read what is there to its end."""
        self._over.set()
        self._reader.join()
        self._read_new_lines()

    def _read_new_lines(self) -> None:
        for path in sorted(self._folder.iterdir(), key=lambda one: one.stat().st_mtime_ns):
            with path.open("rb") as file:
                file.seek(self._read.get(path.name, 0))
                for line in file:
                    if not line.endswith(b"\n"):
                        break  # the rest is still to come
                    self._read[path.name] = self._read.get(path.name, 0) + len(line)
                    self._take(line)


def watch_command(
    command: Sequence[str],
    stop: bool,
    seconds: float | None,
    tell: Callable[[bytes], None],
    root: Path | None = None,
    facts: Mapping[str, Any] | None = None,
    folder: Path | None = None,
    sharding: Iterable[str] = (),
    variables: Mapping[str, str] | None = None,
) -> Watched:
    """Run the command to its end, or with ``stop`` until the group has formed; ``tell`` gets each line of its output.

    With the ``root`` of the project the frames of its stack are recorded. With ``stop`` a group that this machine cannot form is
    answered by a stand-in, and torch says of a machine that lacks the platform's device what the ``facts`` say of the platform.
    It runs in ``folder``, else where this process does, with ``variables`` beside the environment of this process. ``sharding``:
    modules and classes with which each rank trains a part of its own. Raises OSError where it cannot be started.
    """
    found = Watched()
    telling = threading.Lock()

    def take(line: bytes) -> None:
        with telling:
            found.take(line, tell)

    own = {**os.environ, **(variables or {})}
    folders = [str(RECORDER), *filter(None, [own.get("PYTHONPATH")])]
    environment = {**own, "PYTHONPATH": os.pathsep.join(folders), "PYTHONUNBUFFERED": "1"}
    environment["DDP_CODEMOD_SHARDING"] = ",".join(sharding)
    if stop:
        environment |= {"DDP_CODEMOD_STEPS": "0", "DDP_CODEMOD_FACTS": json.dumps(facts or {})}
    if root is not None:
        environment["DDP_CODEMOD_ROOT"] = os.path.realpath(root)
    if seconds is not None:
        environment["DDP_CODEMOD_UNTIL"] = str(time.time() + seconds)
    with tempfile.TemporaryDirectory(prefix="ddp-codemod-", ignore_cleanup_errors=True) as record_folder:
        environment["DDP_CODEMOD_RECORD"] = record_folder
        with Crew(environment, folder) as crew:
            crew.start(command, listen=take)
            record = Record(Path(record_folder), take)
            try:
                in_time = crew.wait(None if seconds is None else seconds + DUMP_SECONDS)
                code = crew.codes[0]
                found.left = crew.left() if in_time else 0
                crew.end()
            finally:
                record.close()
            found.code = code if in_time else None
            found.output = crew.output()
    return found
