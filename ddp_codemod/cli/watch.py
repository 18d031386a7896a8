"""``verify --run COMMAND``: what each rank of a command of the user's really gets."""

from __future__ import annotations

import io
import shlex
import sys
from typing import TYPE_CHECKING

from ddp_codemod.cli.console import Console
from ddp_codemod.cli.errors import DONE, FOUND, fail

if TYPE_CHECKING:
    from ddp_codemod.machine.watch import Watched
    from ddp_codemod.model import Survey


def watched(console: Console, own: str, stop: bool, seconds: float | None, read: Survey | None = None) -> int:
    """Run the command with the recorder, to its end or for so many seconds; then hold what it got against what was read."""
    from ddp_codemod.machine.watch import watch

    words = shlex.split(own, posix=sys.platform != "win32")
    if not words:
        raise fail("verify-usage")
    try:
        found = watch(words, stop, seconds, lambda line: console.raw(_plain(line)), read.root if read else None)
    except OSError as why:
        raise fail("doctor-python-fails", python=words[0], why=why.strerror or why) from None
    ranks = len({entry["rank"] for entry in found.formed})
    if found.code is None:
        console.say(console.text("verify-run-time", seconds=f"{seconds or 0:.0f}", n=ranks))
    else:
        console.say(console.text("verify-run-done", code=found.code, n=ranks))
    missed = _compare(console, found, read) if read is not None else False
    if found.code == 0 and found.formed:
        return FOUND if missed else DONE
    _explain(console, found.output)
    return FOUND


def _compare(console: Console, found: Watched, read: Survey) -> bool:
    """Print each place where a group was made, and whether reading had it; true where reading missed one."""
    from ddp_codemod.machine.overlay import AGREES, compared, not_reached

    seen = compared(read, [*found.asked, *found.groups])
    for one in seen:
        place = f"{one.path}:{one.line}" if one.path else console.text("overlay-no-place")
        values = ", ".join(repr(value) for value in one.predicted)
        asked = "None" if one.backend is None else repr(one.backend)
        console.out(console.text(f"overlay-{one.state}", place=place, backend=asked, read=values, platform=read.platform))
    for path, line in not_reached(read, seen):
        console.out(console.text("overlay-not-reached", place=f"{path}:{line}"))
    return any(one.state not in AGREES for one in seen)


def _explain(console: Console, output: bytes) -> None:
    from ddp_codemod.catalog.diagnostics import load_diagnostics
    from ddp_codemod.cli.diagnose import cure_command
    from ddp_codemod.cli.run import load_rules
    from ddp_codemod.machine.diagnose import diagnose
    from ddp_codemod.report import diagnosis

    reading = diagnose(io.BytesIO(output), load_diagnostics())
    for one in reading.diagnoses[:1]:
        ink = console.ink(sys.stdout)
        for line in diagnosis.lead(one, console.text("diagnose-output"), console.lang, ink, cure_command(load_rules(()), ".")):
            console.out(line)


def _plain(line: bytes) -> bytes:
    """The recorder's lines as people read them; the command's own as they are."""
    import json

    from ddp_codemod.machine.watch import MARK

    at = line.find(MARK)
    if at < 0:
        return line
    entry = json.loads(line[at + len(MARK) :])
    if entry["step"] == "asked":
        environment = "".join(f" {name}={value}" for name, value in entry["environment"].items())
        said = f"rank {entry['rank']}: init_process_group(backend={entry['backend']!r}, init_method={entry['init_method']!r}){environment}"
    elif entry["step"] == "group":
        said = f"rank {entry['rank']}: new_group(backend={entry['backend']!r})"
    else:
        said = f"rank {entry['rank']} of {entry['ranks']}: group formed over {entry['backend']} in {entry['seconds']:.2f} s"
    return line[:at] + f"[ddp-codemod] {said}\n".encode()
