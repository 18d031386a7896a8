"""``doctor``: check the machine that training will run on."""

from __future__ import annotations

import contextlib
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import Struct
from msgspec.structs import replace

from ddp_codemod import __version__
from ddp_codemod.cli.console import Console
from ddp_codemod.cli.errors import DONE, FOUND, make_failure
from ddp_codemod.cli.options import complete_ids, completed_by_files, machine_options
from ddp_codemod.cli.run import configure_project, existing_path, find_project_root, load_rules
from ddp_codemod.cli.settings import Settings, command_line
from ddp_codemod.cli.translate import Command, option

if TYPE_CHECKING:
    from ddp_codemod.catalog.load import Rules
    from ddp_codemod.health import Checkup


class _Project(Struct, frozen=True):
    """A project that is checked with the machine."""

    root: Path
    rules: Rules
    settings: Settings


@click.command("doctor", cls=Command, help="help-doctor")
@click.argument("folder", required=False, metavar="[FOLDER]", shell_complete=completed_by_files)
@option("--platform", metavar="ID", help="help-doctor-platform", shell_complete=complete_ids("platforms"))
@option("--python", metavar="EXE", help="help-python")
@option("--report", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False), help="help-report")
@machine_options
def command(settings: Settings, folder: str | None, python: str | None, report: Path | None) -> int:
    """Ask the environment, print the checks; with a folder, also what its project states."""
    from ddp_codemod.report import checkup as reports

    console = Console(settings.lang, settings.color, settings.quiet)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # whoever ends this ends the Python that it asks
    project = _find_project(settings, folder)
    settings = project.settings if project is not None else settings
    checkup = examine_python(settings, console, python, settings.platform, project.root if project is not None else None)
    if project is not None:
        from ddp_codemod.machine.project_checks import check_project

        own = checkup.asked or checkup.platform
        stated = check_project(project.root, checkup.facts, project.rules, project.rules.platforms.get(own or ""))
        checkup = replace(checkup, checks=(*checkup.checks, *stated))
    rules = project.rules if project is not None else load_rules(settings.folders)
    fact = [word for fix in rules.fixes.values() if fix.bare for word in ("--rule", fix.id)]
    line = make_command(
        checkup, rules, folder or ".", *(fact if checkup.bare and checkup.asked in (None, checkup.platform) else ())
    )
    if settings.format == "json":
        console.raw(reports.encode_checkup(checkup, settings.json_lang, line))
    else:
        for text in reports.format_checkup(checkup, settings.lang, console.ink(sys.stdout), line):
            console.out(text)
        if (other := _find_vendor_command(checkup, rules, folder or ".")) is not None:
            console.out(console.text("doctor-next-vendor", command=console.ink(sys.stdout)(other, "bold", "green")))
        if checkup.platform is None and checkup.asked is None:
            from ddp_codemod.report.platform_table import table_rows
            from ddp_codemod.report.table import format_table

            for text in (
                console.text("machines-which"),
                *format_table(table_rows(load_rules(settings.folders).platforms, settings.lang)),
            ):
                console.out(text)
        states = [check.state for check in checkup.checks]
        console.say(console.text("doctor-counts", warnings=states.count("warning"), problems=states.count("problem")))
    if report is not None:
        _write_report(
            console, report, reports.format_issue_report(checkup, settings.json_lang, __version__, line, _find_private_names())
        )
    return FOUND if any(check.state == "problem" for check in checkup.checks) else DONE


def _find_project(settings: Settings, folder: str | None) -> _Project | None:
    """The project in a folder, with the platform that it states where no option names one. Raises Failure for what is no folder."""
    if folder is None:
        return None
    path = existing_path(folder)
    if not path.is_dir():
        raise make_failure("doctor-no-folder", path=folder, command=command_line(["ddp-codemod", "diagnose", folder]))
    root = find_project_root([path])
    config, rules = configure_project(root, settings.folders)
    return _Project(
        root,
        rules,
        replace(settings, platform=settings.platform or config.platform, folders=config.all_folders(settings.folders)),
    )


def make_command(checkup: Checkup, rules: Rules, path: str = ".", *more: str) -> str | None:
    """The command that ports a project to the platform that the user names, else to the detected one; None where there is neither.

    One that lacks the device of most code needs the unsafe fixes too: without them the code still asks for that device.
    """
    platform = checkup.asked or checkup.platform
    own = rules.platforms[platform].device if platform else None
    words = [*more, "--unsafe"] if own is not None else more
    return command_line(["ddp-codemod", "apply", path, "--platform", platform, *words]) if platform else None


def _find_vendor_command(checkup: Checkup, rules: Rules, path: str) -> str | None:
    """The command that imports the module of a device's maker instead, which maps the code's device; None where there is none."""
    platform = checkup.asked or checkup.platform
    fix = next((one for one in rules.fixes.values() if one.recipe == "import-at-entries" and one.platform == platform), None)
    words = ["ddp-codemod", "apply", path, "--platform", platform or ""]
    return command_line([*words, "--rule", fix.id, "--unsafe"]) if fix is not None else None


def examine_python(
    settings: Settings, console: Console, python: str | None, named: str | None = None, project: Path | None = None
) -> Checkup:
    """Ask a Python (the active one, if none is named), also what it has of the platform ``named``. Raises Failure where it cannot be asked."""
    from ddp_codemod.cli.platform import known_platform
    from ddp_codemod.machine.doctor import examine
    from ddp_codemod.machine.interview import interview_python
    from ddp_codemod.machine.recognise import accelerators_to_ask_for

    rules = load_rules(settings.folders)
    asked = known_platform(named, rules) if named is not None else None
    newest = next((package.newest for package in rules.packages.values() if package.asked), "")
    exe = python or find_chosen_python(console, project or Path.cwd())
    console.say(console.text("doctor-asking", python=exe))
    try:
        facts = interview_python(
            exe,
            lambda section: console.working(console.text(f"doctor-section-{section}")),
            waiting=lambda section: console.say(console.text("doctor-waiting", what=console.text(f"doctor-section-{section}"))),
            words=accelerators_to_ask_for(rules.platforms),
        )
    except OSError as why:
        raise make_failure("doctor-python-fails", python=exe, why=why) from None
    gpus = {gpu: one.id for one in rules.platforms.values() for detection in one.detection for gpu in detection.gpus}
    return examine(facts, rules.platforms, newest, gpus, asked)


def find_chosen_python(console: Console, folder: Path) -> str:
    """The Python that the user has chosen, with a word about one in the project that was not, and about a script in its place."""
    from ddp_codemod.machine.interview import default_python, find_environment_python, find_script_starter

    exe, inside = default_python(), find_environment_python(folder)
    if inside is not None and inside != exe:
        console.say(console.text("doctor-own-python", python=command_line([inside])))
    if (shell := find_script_starter(exe)) is not None:
        console.say(console.text("doctor-shim", python=command_line([exe]), shell=shell))
    return exe


def _write_report(console: Console, path: Path, text: str) -> None:
    from ddp_codemod.write.document import write_document

    try:
        write_document(path, text)
    except OSError as why:
        raise make_failure("doctor-report-fails", path=path, why=why.strerror or why) from None
    console.say(console.text("doctor-report-written", path=path))


def _find_private_names() -> list[str]:
    """Names that do not belong into a bug report: the user's, the machine's, the home folder's."""
    import getpass
    import socket

    host = socket.gethostname()
    names = [str(Path.home()), host, host.partition(".")[0]]
    with contextlib.suppress(OSError, KeyError, ImportError):
        names.append(getpass.getuser())
    return [name for name in names if name not in ("/", "root", "localhost")]
