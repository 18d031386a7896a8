"""``verify --run COMMAND``: what each rank of a command of the user's really gets, and whether reading had it."""

from __future__ import annotations

import io
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ddp_codemod.cli.console import Console
from ddp_codemod.cli.errors import DONE, FOUND, fail
from ddp_codemod.cli.settings import Settings, command_line
from ddp_codemod.report.overlay import Ran

if TYPE_CHECKING:
    from ddp_codemod.cli.laid_over import Project
    from ddp_codemod.health import InStep, Overlay


def watched(settings: Settings, console: Console, own: str, stop: bool, seconds: float | None, python: str | None) -> int:
    """Run the command with the recorder, to its end or for so many seconds, and hold its groups against what reading finds."""
    from ddp_codemod.cli.laid_over import lay_over, read
    from ddp_codemod.cli.run import load_rules
    from ddp_codemod.machine.in_step import in_step
    from ddp_codemod.machine.overlay import missed
    from ddp_codemod.machine.watch import watch

    words = shlex.split(own, posix=sys.platform != "win32")
    if not words:
        raise fail("verify-usage")
    asked = python or _own_python(words)
    project = read(settings, console, asked)
    tell = console.raw if settings.format == "text" else _aside
    rules = project.rules if project else load_rules(())
    sharding = [name for table in rules.processes for name in table.sharding]
    try:
        found = watch(words, stop, seconds, lambda line: tell(_plain(line)), project.survey.root if project else None, sharding)
    except OSError as why:
        raise fail("doctor-python-fails", python=words[0], why=why.strerror or why) from None
    ranks = len({entry["rank"] for entry in found.formed})
    laid = lay_over(project, [*found.asked, *found.groups], words, settings, console, asked) if project else None
    stepped = in_step(found.steps)
    _report(settings, console, project, laid, Ran(own, found.code, ranks, stepped))
    if found.code is None:
        console.say(console.text("verify-run-time", seconds=f"{seconds or 0:.0f}", n=ranks))
    else:
        console.say(console.text("verify-run-done", code=found.code, n=ranks))
    if stepped is not None:
        console.say(_of_ranks(console, stepped))
    if found.code == 0 and found.formed:
        apart = stepped is not None and stepped.apart
        return FOUND if apart or (laid is not None and any(missed(laid))) else DONE
    if settings.format == "text":
        _explain(console, found.output)
    return FOUND


def _of_ranks(console: Console, stepped: InStep) -> str:
    """That the ranks train one model, or each its own."""
    place = f" ({stepped.stack[0].path}:{stepped.stack[0].line})" if stepped.stack else ""
    said = {"n": stepped.ranks, "step": stepped.number, "place": place}
    sums = ", ".join(f"{value:.6g}" for value in stepped.sums)
    return console.text("verify-run-apart" if stepped.apart else "verify-run-in-step", sums=sums, **said)


def _own_python(words: list[str]) -> str:
    """The Python of the command, where it names one."""
    from ddp_codemod.machine.interview import default_python

    return words[0] if Path(words[0]).name.startswith("python") else default_python()


def _aside(data: bytes) -> None:
    """Write what the command prints where it is not taken for the document."""
    sys.stderr.buffer.write(data)
    sys.stderr.buffer.flush()


def _report(settings: Settings, console: Console, project: Project | None, laid: Overlay | None, ran: Ran) -> None:
    from ddp_codemod.model import Survey
    from ddp_codemod.report import overlay, trials
    from ddp_codemod.report.view import View

    survey = project.survey if project else Survey(Path.cwd(), "", (), (), (), ())
    ink, width = console.ink(sys.stdout), console.width(sys.stdout)
    if settings.format == "json":
        view = View(survey, settings.json_lang, ink, Path.cwd())
        platform = project.platform.id if project else None
        console.raw(trials.dumps((), platform, settings.json_lang, lambda _: None, overlay.entry(view, laid, ran)))
    elif laid is not None and laid.held:
        view = View(survey, settings.lang, ink, Path.cwd(), settings.verbose, width)
        command = command_line(["ddp-codemod", "apply", *(settings.paths[:1] or (".",)), "--platform", laid.platform])
        for line in overlay.lines(view, laid, command):
            console.out(line)


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
    else:
        said = f"rank {entry['rank']} of {entry['ranks']}: group formed over {entry['backend']} in {entry['seconds']:.2f} s"
    return line[:at] + f"[ddp-codemod] {said}\n".encode()
