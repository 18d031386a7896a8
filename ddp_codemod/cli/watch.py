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
from ddp_codemod.cli.errors import DONE, FOUND, make_failure
from ddp_codemod.cli.run import load_rules
from ddp_codemod.cli.run_overlay import Project, compare_with_run, read_project
from ddp_codemod.cli.settings import Settings, command_line
from ddp_codemod.health import Overlay, StepAgreement
from ddp_codemod.machine.step_agreement import compare_steps
from ddp_codemod.machine.watch import Watched, watch_command
from ddp_codemod.report.overlay import Ran

_VARIABLE = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)


class WatchRequest(Struct, frozen=True):
    """A command that is to be watched."""

    own: str
    stop: bool  # as soon as the group has formed
    seconds: float | None
    python: str | None
    record: Path | None
    report: Path | None = None  # what of reading the run shows to be wrong


class WatchedRun(Struct, frozen=True):
    """A command that was watched, and its project as it was read before."""

    project: Project | None
    found: Watched
    laid: Overlay | None
    ran: Ran

    @property
    def needs_no_group(self) -> bool:
        """Whether the command ended well without a group, on a platform where one process is to have none."""
        if self.project is None or self.found.code != 0 or self.found.asked or self.found.imitated:
            return False
        rules = self.project.rules
        return any(rules.fixes[ident].recipe == "guard-entries" for ident in self.project.platform.rules)

    @property
    def trains_apart(self) -> bool:
        """Whether the ranks of a group share nothing of what they learn."""
        return self.ran.in_step is not None and self.ran.in_step.apart


def observe_command(
    settings: Settings, console: Console, wish: WatchRequest, tell: Callable[[bytes], None], folder: Path | None = None
) -> WatchedRun:
    """Read the project, run the command with the recorder, and hold its groups against what was read. Raises Failure."""
    words, variables = _words(wish.own)
    if not words:
        raise make_failure("verify-usage")
    asked = wish.python or _find_command_python(words)
    project = read_project(settings, console, asked)
    if project is None and (wish.record is not None or wish.report is not None):
        raise make_failure("verify-record-unread", option="--record" if wish.record is not None else "--report")
    since = time.time()
    root = project.survey.root if project else None
    rules = project.rules if project else load_rules(())
    sharding = [name for table in rules.processes for name in table.sharding]
    facts = dict(to_builtins(project.platform.facts)) if project else {}
    try:
        found = watch_command(words, wish.stop, wish.seconds, tell, root, facts, folder, sharding, variables)
    except OSError as why:
        raise make_failure("doctor-python-fails", python=words[0], why=why.strerror or why) from None
    ranks, imitated = (len({entry["rank"] for entry in some}) for some in (found.formed, found.imitated))
    laid = compare_with_run(project, [*found.asked, *found.groups], words, settings, console, asked) if project else None
    ran = Ran(
        wish.own, found.code, ranks, compare_steps(found.steps), imitated, found.left, _hash_group_files(project, laid, since)
    )
    return WatchedRun(project, found, laid, ran)


def run_watched(settings: Settings, console: Console, wish: WatchRequest) -> int:
    """Run the command, to its end or for so many seconds, and report."""
    from ddp_codemod.machine.overlay import find_missed_groups

    for path in filter(None, (wish.record, wish.report)):
        if not path.absolute().parent.is_dir():
            raise make_failure("output-folder", path=path, folder=path.parent)
    tell = console.raw if settings.format == "text" else _write_aside
    seen = observe_command(settings, console, wish, lambda line: tell(_format_line(line)))
    found = seen.found
    _report_run(settings, console, seen.project, seen.laid, seen.ran, wish.record)
    for line in report_end(console, found, seen.ran, wish, seen.needs_no_group):
        console.say(line)
    if wish.report is not None:
        _write_report(console, wish.report, seen)
    if found.code == 0 and (found.formed or found.imitated):
        return FOUND if seen.trains_apart or (seen.laid is not None and any(find_missed_groups(seen.laid))) else DONE
    if seen.needs_no_group:
        return DONE
    if settings.format == "text":
        _explain_errors(console, found.output)
    return FOUND


def _write_report(console: Console, path: Path, seen: WatchedRun) -> None:
    """Write what of reading was wrong, where anything was."""
    from ddp_codemod.cli.from_run import write_record
    from ddp_codemod.report.ink import Ink
    from ddp_codemod.report.overlay import report
    from ddp_codemod.report.view import View

    bugs = sum(one.bug for one in seen.laid.held) if seen.laid is not None else 0
    if not bugs or seen.project is None or seen.laid is None:
        console.say(console.text("verify-report-none", path=path))
        return
    write_record(path, report(View(seen.project.survey, "en", Ink(False), Path.cwd()), seen.laid).encode())
    console.say(console.text("verify-report-written", path=path, n=bugs))


def _hash_group_files(project: Project | None, laid: Overlay | None, since: float) -> dict[str, str]:
    """The files that the groups were made from, with what they hold."""
    from ddp_codemod.cli.from_run import hash_files

    if project is None or laid is None:
        return {}
    names = dict.fromkeys(frame.path for one in laid.held for frame in one.made.stack)
    return hash_files(project.survey.root, names, since)


def report_end(console: Console, found: Watched, ran: Ran, wish: WatchRequest, alone: bool = False) -> Iterator[str]:
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
        yield console.text("verify-run-alone" if alone else "verify-run-none")
    if ran.left:
        yield console.text("verify-run-left", n=ran.left)
    if ran.in_step is not None:
        yield _report_agreement(console, ran.in_step)


def _report_agreement(console: Console, stepped: StepAgreement) -> str:
    """That the ranks train one model, or each its own."""
    place = f" ({stepped.stack[0].path}:{stepped.stack[0].line})" if stepped.stack else ""
    arguments = {"n": stepped.ranks, "step": stepped.number, "place": place}
    sums = ", ".join(f"{value:.6g}" for value in stepped.sums)
    return console.text("verify-run-apart" if stepped.apart else "verify-run-in-step", sums=sums, **arguments)


def _words(command: str) -> tuple[list[str], dict[str, str]]:
    """The words of a command, and the variables that a shell takes in front of them, as READMEs have it: no shell reads it here."""
    words = shlex.split(command, posix=sys.platform != "win32")
    variables: dict[str, str] = {}
    while words and (one := _VARIABLE.fullmatch(words[0])):
        variables[one[1]] = one[2]
        words.pop(0)
    return words, variables


def _find_command_python(words: list[str]) -> str:
    """The Python of the command, where it names one."""
    from ddp_codemod.machine.interview import default_python

    return words[0] if Path(words[0]).name.startswith("python") else default_python()


def _write_aside(data: bytes) -> None:
    """Write what the command prints where it is not mistaken for the document."""
    sys.stderr.buffer.write(data)
    sys.stderr.buffer.flush()


def _report_run(
    settings: Settings, console: Console, project: Project | None, laid: Overlay | None, ran: Ran, record: Path | None
) -> None:
    from ddp_codemod.model import Survey
    from ddp_codemod.report import overlay, trials
    from ddp_codemod.report.view import View

    survey = project.survey if project else Survey(Path.cwd(), "", (), (), (), ())
    ink, width = console.ink(sys.stdout), console.width(sys.stdout)
    if settings.format == "json" or record is not None:
        from ddp_codemod.cli.from_run import write_record

        view = View(survey, settings.json_lang, ink, Path.cwd())
        platform = project.platform.id if project else None
        document = trials.encode_trials((), platform, settings.json_lang, lambda _: None, overlay.encode_run(view, laid, ran))
        if record is not None:
            write_record(record, document)
        if settings.format == "json":
            console.raw(document)
            return
    if laid is not None and laid.held:
        view = View(survey, settings.lang, ink, Path.cwd(), settings.verbose, width)
        words = ["ddp-codemod", "apply", *(settings.paths[:1] or (".",)), "--platform", laid.platform]
        from_run = command_line([*words, "--from-run", str(record), "--unsafe"]) if record is not None else ""
        for line in overlay.format_overlay(view, laid, command_line(words), from_run):
            console.out(line)


def _explain_errors(console: Console, output: bytes) -> None:
    from ddp_codemod.catalog.diagnostics import load_diagnostics
    from ddp_codemod.cli.diagnose import cure_command
    from ddp_codemod.cli.run import load_rules
    from ddp_codemod.machine.diagnose import diagnose
    from ddp_codemod.report import diagnosis

    reading = diagnose(io.BytesIO(output), load_diagnostics())
    for one in reading.diagnoses[:1]:
        ink = console.ink(sys.stdout)
        for line in diagnosis.format_leading_diagnosis(
            one, console.text("diagnose-output"), console.lang, ink, cure_command(load_rules(()), ".")
        ):
            console.out(line)


def _format_line(line: bytes) -> bytes:
    """The recorder's lines as people read them; the command's own as they are."""
    import json

    from ddp_codemod.machine.watch import MARK

    at = line.find(MARK)
    if at < 0:
        return line
    entry = json.loads(line[at + len(MARK) :])
    if entry["step"] == "asked":
        environment = "".join(f" {name}={value}" for name, value in entry["environment"].items())
        text = f"rank {entry['rank']}: init_process_group(backend={entry['backend']!r}, init_method={entry['init_method']!r}){environment}"
    elif entry["step"] == "imitated":
        text = f"rank {entry['rank']} of {entry['ranks']}: answered by a stand-in, this machine lacks {entry['lacking']}: no group, no training"
    else:
        text = f"rank {entry['rank']} of {entry['ranks']}: group formed over {entry['backend']} in {entry['seconds']:.2f} s"
    return line[:at] + f"[ddp-codemod] {text}\n".encode()
