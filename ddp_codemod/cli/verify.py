"""``verify PATH...``: run each process-group call for real."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource
from msgspec import Struct
from msgspec.structs import replace

from ddp_codemod.cli.console import Console
from ddp_codemod.cli.errors import DONE, FOUND, Failure, make_failure
from ddp_codemod.cli.options import completed_by_files, machine_options, verbose
from ddp_codemod.cli.run import configure_project, existing_path, find_project_root
from ddp_codemod.cli.settings import Settings
from ddp_codemod.cli.translate import Command, option
from ddp_codemod.messages import render
from ddp_codemod.model import Reason

if TYPE_CHECKING:
    from ddp_codemod.catalog.diagnostics import Diagnostics
    from ddp_codemod.catalog.load import Rules
    from ddp_codemod.catalog.model import Platform
    from ddp_codemod.health import Trial, TrialResult, VerifiedSite

BOTH = "both"


class Request(Struct, frozen=True):
    """What is to be tried, with what."""

    python: str
    ranks: tuple[int, ...]
    launches: tuple[str, ...]
    seconds: float


@click.command("verify", cls=Command, help="help-verify")
@click.argument("paths", nargs=-1, metavar="PATH...", shell_complete=completed_by_files)
@option("--python", metavar="EXE", help="help-python")
@option("--platform", metavar="ID", help="help-verify-platform")
@option("-n", "--ranks", default="2", metavar="N", help="help-verify-ranks")
@option("--launch", type=click.Choice(["spawn", "torchrun", BOTH]), default=BOTH, help="help-verify-launch")
@option("--timeout", type=click.FloatRange(min=1), default=60.0, metavar="SECONDS", help="help-verify-timeout")
@option("--run", "own", metavar="COMMAND", help="help-verify-run")
@option("--record", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="help-verify-record")
@option("--report", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="help-verify-report")
@option("--steps", type=click.IntRange(0, 0), metavar="0", help="help-verify-steps")
@verbose("help-verbose-ranks")
@machine_options
def command(
    settings: Settings,
    python: str | None,
    ranks: str,
    launch: str,
    timeout: float,
    own: str | None,
    record: Path | None,
    report: Path | None,
    steps: int | None,
) -> int:
    """Try every site, or watch a command of the user's."""
    from ddp_codemod.machine.verify import LAUNCHES

    console = Console(settings.lang, settings.color, settings.quiet)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # whoever ends this ends its ranks
    if own is not None:
        from ddp_codemod.cli.watch import WatchRequest, run_watched

        given = click.get_current_context().get_parameter_source("timeout") is not ParameterSource.DEFAULT
        wish = WatchRequest(own, steps == 0, timeout if given or steps == 0 else None, python, record, report)
        return run_watched(settings, console, wish)
    if record is not None or report is not None:
        raise make_failure("verify-record-alone", option="--record" if record is not None else "--report")
    if not settings.paths:
        raise make_failure("verify-usage")
    exe = python or find_trial_python(console, find_project_root([existing_path(path) for path in settings.paths]))
    request = Request(exe, _parse_ranks(ranks), LAUNCHES if launch == BOTH else (launch,), timeout)
    return _run_verify(settings, console, request)


def find_trial_python(console: Console, root: Path) -> str:
    """The active Python, or this one where only it has torch."""
    from ddp_codemod.cli.doctor import find_chosen_python
    from ddp_codemod.machine.interview import has_torch

    exe = find_chosen_python(console, root)
    return sys.executable if not has_torch(exe) and has_torch(sys.executable) else exe


def _parse_ranks(text: str) -> tuple[int, ...]:
    """2 -> (2,); 1..6 -> (1, 2, 4, 6)."""
    first, dots, last = text.partition("..")
    if not first.isdigit() or (dots and not last.isdigit()) or int(first) < 1 or (dots and int(last) < int(first)):
        raise make_failure("verify-ranks-usage", ranks=text)
    if not dots:
        return (int(first),)
    steps, n = [int(first)], 1
    while n <= int(last):
        steps += [n] if n > steps[-1] else []
        n *= 2
    return tuple(dict.fromkeys([*steps, int(last)]))


def _run_verify(settings: Settings, console: Console, request: Request) -> int:
    from ddp_codemod.cli.diagnose import cure_command, known_errors
    from ddp_codemod.machine.recognise import platforms_by_accelerator
    from ddp_codemod.machine.trials import plan_trials
    from ddp_codemod.report import trials as report
    from ddp_codemod.report.view import View
    from ddp_codemod.run.options import Options
    from ddp_codemod.run.survey import survey

    paths = tuple(existing_path(path) for path in settings.paths)
    root = find_project_root(paths)
    config, rules = configure_project(root, settings.folders)
    settings = replace(settings, folders=config.all_folders(settings.folders))
    platform = rules.platforms[_find_platform(settings, console, request, rules)]
    stores = tuple(ident for ident, fix in rules.fixes.items() if fix.recipe == "init-method-query")
    found = survey(Options(paths=paths, platform=platform, rules=rules, fixes=stores, root=root, scope=config.scope))
    console.say(console.text("verify-platform", platform=platform.id))
    device = next((name for name, ident in platforms_by_accelerator(rules.platforms).items() if ident == platform.id), None)
    tried = TrialRunner(console, request, known_errors(settings), device, platform, rules.platforms)
    command = cure_command(rules, settings.paths[0])
    view = View(found, settings.lang, console.ink(sys.stdout), Path.cwd(), settings.verbose)
    done: list[VerifiedSite] = []
    told: set[Trial | None] = set()
    for one in plan_trials(found, rules.surfaces, platform):
        result = replace(one, tried=tuple(tried(one.trial))) if one.trial is not None else one
        done.append(result)
        if settings.format == "text":
            for line in report.format_site(
                result, view.at(one.path, one.line), settings.lang, view.ink, command, settings.verbose, result.trial in told
            ):
                console.out(line)
        told.add(result.trial)
    if settings.format == "json":
        console.raw(report.encode_trials(done, platform.id, settings.json_lang, command))
    return _report_end(console, done)


def _find_platform(settings: Settings, console: Console, request: Request, rules: Rules) -> str:
    """The option, else what doctor takes this machine for. Raises Failure where nothing says it, or torch is missing."""
    from ddp_codemod.cli.doctor import examine_python
    from ddp_codemod.cli.platform import known_platform

    if settings.platform is not None:
        return known_platform(settings.platform, rules).id
    checkup = examine_python(settings, console, request.python)
    if not checkup.can_train:
        raise make_failure("verify-no-torch", python=request.python)
    if checkup.platform is None:
        because = {f"because{suffix}": render(checkup.because, lang) for suffix, lang in (("", "en"), ("_zh", "zh"))}
        raise Failure(Reason.of("verify-no-platform", **because))
    return checkup.platform


class TrialRunner:
    """Tries each distinct trial once, however many sites share it."""

    def __init__(
        self,
        console: Console,
        request: Request,
        known: Diagnostics,
        device: str | None,
        platform: Platform,
        platforms: Mapping[str, Platform],
    ) -> None:
        self._console, self._request, self._known = console, request, known
        self._device, self._platform, self._platforms = device, platform, platforms
        self._done: dict[Trial, list[TrialResult]] = {}

    def __call__(self, trial: Trial) -> list[TrialResult]:
        if trial not in self._done:
            self._done[trial] = list(self._run_trial(trial))
        return self._done[trial]

    def _run_trial(self, trial: Trial) -> Iterator[TrialResult]:
        from ddp_codemod.machine.trial_cures import fit_to_platform, list_machine_hints
        from ddp_codemod.machine.verify import attempt_trial

        request = self._request
        hints = list_machine_hints(self._platform, self._known.hints)
        for launch in request.launches:
            for n in request.ranks:
                self._console.working(self._console.text("verify-trying", launch=launch, n=n, backend=trial.backend))
                try:
                    tried = attempt_trial(
                        trial, launch, n, python=request.python, seconds=request.seconds,
                        known=self._known, device=self._device, hints=hints,
                    )  # fmt: skip
                except OSError as why:
                    raise make_failure("doctor-python-fails", python=request.python, why=why) from None
                if _is_torch_missing(tried):
                    raise make_failure("verify-no-torch", python=request.python)
                yield fit_to_platform(tried, trial, self._platform, self._platforms)
                if tried.state in ("failed", "hung"):
                    break


def _is_torch_missing(tried: TrialResult) -> bool:
    return "No module named 'torch'" in tried.error or "No module named torch" in tried.output


def _report_end(console: Console, done: list[VerifiedSite]) -> int:
    tried = [attempt.state for one in done for attempt in one.tried]
    left = sum(one.trial is None for one in done) + tried.count("skipped") + tried.count("elsewhere")
    failed = tried.count("failed") + tried.count("hung")
    if not failed and "passed" not in tried and "elsewhere" not in tried:
        console.say(console.text("verify-none"))
    console.say(console.text("verify-summary", passed=tried.count("passed"), failed=failed, left=left))
    return DONE if "passed" in tried and not failed else FOUND
