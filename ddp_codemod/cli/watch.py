"""``verify --run COMMAND``: what each rank of a command of the user's really gets, and whether reading had it."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import Struct, to_builtins

from ddp_codemod.cli.console import Console
from ddp_codemod.cli.errors import DONE, FOUND, fail
from ddp_codemod.cli.laid_over import Project, lay_over, read
from ddp_codemod.cli.run import load_rules
from ddp_codemod.cli.settings import Settings, command_line
from ddp_codemod.health import InStep, Overlay
from ddp_codemod.machine.in_step import in_step
from ddp_codemod.machine.watch import Watched, watch
from ddp_codemod.report.overlay import Ran

_VARIABLE = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)


class Wish(Struct, frozen=True):
    """A command that is to be watched."""

    own: str
    stop: bool  # as soon as the group has formed
    seconds: float | None
    python: str | None
    record: Path | None
    report: Path | None = None  # what of reading the run shows to be wrong


class Seen(Struct, frozen=True):
    """A command that was watched, and its project as it was read before."""

    project: Project | None
    found: Watched
    laid: Overlay | None
    ran: Ran

    @property
    def trains_apart(self) -> bool:
        """Whether the ranks of a group share nothing of what they learn."""
        return self.ran.in_step is not None and self.ran.in_step.apart


def observe(settings: Settings, console: Console, wish: Wish, tell: Callable[[bytes], None], folder: Path | None = None) -> Seen:
    """Read the project, run the command with the recorder, and hold its groups against what was read. Raises Failure."""
    words, variables = _words(wish.own)
    if not words:
        raise fail("verify-usage")
    asked = wish.python or _own_python(words)
    project = read(settings, console, asked)
    if project is None and (wish.record is not None or wish.report is not None):
        raise fail("verify-record-unread", option="--record" if wish.record is not None else "--report")
    since = time.time()
    root = project.survey.root if project else None
    rules = project.rules if project else load_rules(())
    sharding = [name for table in rules.processes for name in table.sharding]
    facts = dict(to_builtins(project.platform.facts)) if project else {}
    try:
        found = watch(words, wish.stop, wish.seconds, tell, root, facts, folder, sharding, variables)
    except OSError as why:
        raise fail("doctor-python-fails", python=words[0], why=why.strerror or why) from None
    ranks, imitated = (len({entry["rank"] for entry in some}) for some in (found.formed, found.imitated))
    laid = lay_over(project, [*found.asked, *found.groups], words, settings, console, asked) if project else None
    ran = Ran(wish.own, found.code, ranks, in_step(found.steps), imitated, found.left, _files(project, laid, since))
    return Seen(project, found, laid, ran)


def watched(settings: Settings, console: Console, wish: Wish) -> int:
    """Run the command, to its end or for so many seconds, and report."""
    from ddp_codemod.machine.overlay import missed

    for path in filter(None, (wish.record, wish.report)):
        if not path.absolute().parent.is_dir():
            raise fail("output-folder", path=path, folder=path.parent)
    tell = console.raw if settings.format == "text" else _aside
    seen = observe(settings, console, wish, lambda line: tell(_plain(line)))
    found = seen.found
    _report(settings, console, seen.project, seen.laid, seen.ran, wish.record)
    for line in ended(console, found, seen.ran, wish):
        console.say(line)
    if wish.report is not None:
        _write_report(console, wish.report, seen)
    if found.code == 0 and (found.formed or found.imitated):
        return FOUND if seen.trains_apart or (seen.laid is not None and any(missed(seen.laid))) else DONE
    if settings.format == "text":
        _explain(console, found.output)
    return FOUND


def _write_report(console: Console, path: Path, seen: Seen) -> None:
    """Write what of reading was wrong, where anything was."""
    from ddp_codemod.cli.from_run import written
    from ddp_codemod.report.ink import Ink
    from ddp_codemod.report.overlay import report
    from ddp_codemod.report.view import View

    bugs = sum(one.bug for one in seen.laid.held) if seen.laid is not None else 0
    if not bugs or seen.project is None or seen.laid is None:
        console.say(console.text("verify-report-none", path=path))
        return
    written(path, report(View(seen.project.survey, "en", Ink(False), Path.cwd()), seen.laid).encode())
    console.say(console.text("verify-report-written", path=path, n=bugs))


def _files(project: Project | None, laid: Overlay | None, since: float) -> dict[str, str]:
    """The files that the groups were made from, with what they hold."""
    from ddp_codemod.cli.from_run import hashes

    if project is None or laid is None:
        return {}
    names = dict.fromkeys(frame.path for one in laid.held for frame in one.made.stack)
    return hashes(project.survey.root, names, since)


def ended(console: Console, found: Watched, ran: Ran, wish: Wish) -> Iterator[str]:
    """How the run ended, and what it came to."""
    if found.code is None:
        yield console.text("verify-run-time", seconds=f"{wish.seconds or 0:.0f}", n=ran.ranks)
    elif found.code < 0:
        with contextlib.suppress(ValueError):
            yield console.text("verify-run-killed", signal=signal.Signals(-found.code).name, n=ran.ranks)
    elif not ran.imitated:
        yield console.text("verify-run-done", code=found.code, n=ran.ranks)
    if ran.imitated:
        lacking = ", ".join(dict.fromkeys(entry["lacking"] for entry in found.imitated))
        yield console.text("verify-run-imitated", n=ran.imitated, lacking=lacking)
    if not found.asked:
        yield console.text("verify-run-none")
    if ran.left:
        yield console.text("verify-run-left", n=ran.left)
    if ran.in_step is not None:
        yield _of_ranks(console, ran.in_step)


def _of_ranks(console: Console, stepped: InStep) -> str:
    """That the ranks train one model, or each its own."""
    place = f" ({stepped.stack[0].path}:{stepped.stack[0].line})" if stepped.stack else ""
    said = {"n": stepped.ranks, "step": stepped.number, "place": place}
    sums = ", ".join(f"{value:.6g}" for value in stepped.sums)
    return console.text("verify-run-apart" if stepped.apart else "verify-run-in-step", sums=sums, **said)


def _words(command: str) -> tuple[list[str], dict[str, str]]:
    """The words of a command, and the variables that a shell takes in front of them, as READMEs have it: no shell reads it here."""
    words = shlex.split(command, posix=sys.platform != "win32")
    variables: dict[str, str] = {}
    while words and (one := _VARIABLE.fullmatch(words[0])):
        variables[one[1]] = one[2]
        words.pop(0)
    return words, variables


def _own_python(words: list[str]) -> str:
    """The Python of the command, where it names one."""
    from ddp_codemod.machine.interview import default_python

    return words[0] if Path(words[0]).name.startswith("python") else default_python()


def _aside(data: bytes) -> None:
    """Write what the command prints where it is not taken for the document."""
    sys.stderr.buffer.write(data)
    sys.stderr.buffer.flush()


def _report(
    settings: Settings, console: Console, project: Project | None, laid: Overlay | None, ran: Ran, record: Path | None
) -> None:
    from ddp_codemod.model import Survey
    from ddp_codemod.report import overlay, trials
    from ddp_codemod.report.view import View

    survey = project.survey if project else Survey(Path.cwd(), "", (), (), (), ())
    ink, width = console.ink(sys.stdout), console.width(sys.stdout)
    if settings.format == "json" or record is not None:
        from ddp_codemod.cli.from_run import written

        view = View(survey, settings.json_lang, ink, Path.cwd())
        platform = project.platform.id if project else None
        document = trials.dumps((), platform, settings.json_lang, lambda _: None, overlay.entry(view, laid, ran))
        if record is not None:
            written(record, document)
        if settings.format == "json":
            console.raw(document)
            return
    if laid is not None and laid.held:
        view = View(survey, settings.lang, ink, Path.cwd(), settings.verbose, width)
        words = ["ddp-codemod", "apply", *(settings.paths[:1] or (".",)), "--platform", laid.platform]
        from_run = command_line([*words, "--from-run", str(record), "--unsafe"]) if record is not None else ""
        for line in overlay.lines(view, laid, command_line(words), from_run):
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
    elif entry["step"] == "imitated":
        said = f"rank {entry['rank']} of {entry['ranks']}: answered by a stand-in, this machine lacks {entry['lacking']}: no group, no training"
    else:
        said = f"rank {entry['rank']} of {entry['ranks']}: group formed over {entry['backend']} in {entry['seconds']:.2f} s"
    return line[:at] + f"[ddp-codemod] {said}\n".encode()
