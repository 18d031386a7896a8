"""A power loss at any moment of an apply: what was written is recorded, and replayed up to each point.

Of a file's bytes a disk surely has those that were brought to it, of a folder's names those of its last bringing, or all that came since: the
system writes them when it likes. So at each point four disks are looked at: the newest or the oldest names, of the project and of the journal.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from unittest.mock import patch

from msgspec import Struct

from ddp_codemod.write import atomic
from ddp_codemod.write.journal_folders import journal_folder
from proofs.faults import NEW, OLD, planned, project, state, write
from proofs.proof import Trial


class Event(Struct, frozen=True):
    """Bytes or names that were brought to the disk, or names that changed."""

    kind: str  # data, names, moved, exchanged
    path: str
    other: str = ""
    data: bytes = b""
    folders: frozenset[str] = frozenset()  # that a folder held


@contextmanager
def recorded(events: list[Event]) -> Iterator[None]:
    """Note what this process does to files from here on."""
    fsync, replace, swap = os.fsync, os.replace, atomic.swap

    def brought(handle: int) -> None:
        fsync(handle)
        path = os.readlink(f"/proc/self/fd/{handle}")
        if os.path.isdir(path):
            events.append(Event("names", path, folders=frozenset(one.path for one in os.scandir(path) if one.is_dir())))
        else:
            events.append(Event("data", path, data=Path(path).read_bytes()))

    def moved(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> None:
        replace(one, other)
        events.append(Event("moved", os.fspath(one), os.fspath(other)))

    def exchanged(one: Path, other: Path) -> bool:
        done = swap(one, other)
        if done:
            events.append(Event("exchanged", str(one), str(other)))
        return done

    with ExitStack() as stack:
        for where, name, instead in ((os, "fsync", brought), (os, "replace", moved), (atomic, "swap", exchanged)):
            stack.enter_context(patch.object(where, name, instead))
        yield


Disk = dict[str, bytes]


def disks(before: Disk, events: list[Event], journal: str) -> Iterator[Disk]:
    """What a disk can hold when the power goes after the events."""
    content: list[bytes] = list(before.values())  # of each file, which keeps its number whatever its name
    live = {path: number for number, path in enumerate(before)}
    kept, folders = dict(live), {os.path.dirname(path) for path in before} | {journal}

    def number_of(path: str) -> int:
        if path not in live:
            content.append(b"")  # it was made, and none of its bytes were brought anywhere
            live[path] = len(content) - 1
        return live[path]

    for event in events:
        number = number_of(event.path) if event.kind != "names" else 0
        if event.kind == "data":
            content[number] = event.data
        elif event.kind == "moved":
            live[event.other] = live.pop(event.path)
        elif event.kind == "exchanged":
            live[event.path], live[event.other] = number_of(event.other), number
        else:
            kept = {path: number for path, number in kept.items() if os.path.dirname(path) != event.path}
            kept |= {path: number for path, number in live.items() if os.path.dirname(path) == event.path}
            folders |= event.folders
    for first in (live, kept):
        for second in (live, kept):
            there = {path: number for path, number in first.items() if not path.startswith(journal)}
            there |= {
                path: number
                for path, number in second.items()
                if path.startswith(journal) and (second is live or os.path.dirname(path) in folders)
            }
            yield {path: content[number] for path, number in there.items()}


def fault(disk: Disk, before: Disk) -> str:
    """What could not be put right on a disk; "" where all can."""
    wrong = [path for path, old in before.items() if disk.get(path) not in (old, old.replace(OLD, NEW))]
    if wrong:
        return f"{os.path.basename(wrong[0])} is neither the old file nor the new one"
    new = [path for path, old in before.items() if disk[path] != old]
    records = {os.path.basename(path): path for path in disk if os.path.basename(path) in ("record.json", "pending.json")}
    if "record.json" in records and len(new) < len(before):
        return "the apply is on record as done, and not every file is new"
    if not new:
        return ""
    try:
        path = next(iter(records.values()))
        files = json.loads(disk[path])["files"]
        old = [hashlib.sha256(disk[os.path.join(os.path.dirname(path), str(number))]).hexdigest() for number in range(len(files))]
    except (StopIteration, ValueError, KeyError):
        return "files are new, and no record can be read"
    return "" if old == [one["before"] for one in files] else "files are new, and their old bytes are lost"


def prove(trial: Trial) -> int:
    """Replay an apply up to each of its events; how many disks were looked at."""
    folder = trial.folder / "power"
    root, looked = project(folder, 5), 0
    events: list[Event] = []
    with state(folder):
        before = {str(root / change.name): change.before for change in planned(root) if not (root / change.name).is_symlink()}
        journal = str(journal_folder(root))
        with recorded(events):
            write(root, "apply")
    if sum(event.kind in ("exchanged", "moved") for event in events) < len(before):
        trial.fail("power: not every rename was recorded")
    for point in range(len(events) + 1):
        for disk in disks(before, events[:point], journal):
            looked += 1
            if why := fault(disk, before):
                last = events[point - 1] if point else None
                trial.fail(f"power lost after {point} of {len(events)} steps ({last.kind if last else 'none'}): {why}")
    return looked
