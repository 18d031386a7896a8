"""``diagnose LOG``: known errors in a training log, with cause and the fix as a command."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from ddp_codemod.cli.console import Console
from ddp_codemod.cli.errors import DONE, FOUND, UNKNOWN, make_failure
from ddp_codemod.cli.log_origin import explain_foreign_log, explain_other_copy, is_message
from ddp_codemod.cli.options import complete_ids, completed_by_files, machine_options, verbose
from ddp_codemod.cli.run import STDIN, configure_project, existing_path, find_project_root
from ddp_codemod.cli.settings import Settings, command_line
from ddp_codemod.cli.translate import Command, option
from ddp_codemod.model import Applicability

if TYPE_CHECKING:
    from ddp_codemod.catalog.diagnostics import Diagnostics
    from ddp_codemod.catalog.load import Rules
    from ddp_codemod.catalog.model import Platform
    from ddp_codemod.catalog.signature import Cure
    from ddp_codemod.discover.config import Config
    from ddp_codemod.health import Frame, Reading
    from ddp_codemod.model import Survey


@click.command("diagnose", cls=Command, help="help-diagnose")
@click.argument("log", required=False, metavar="LOG", shell_complete=completed_by_files)
@option("--platform", metavar="ID", help="help-diagnose-platform", shell_complete=complete_ids("platforms"))
@option("--hang", is_flag=True, help="help-hang")
@option("--apply", "target", metavar="PATH", help="help-diagnose-apply")
@verbose("help-verbose-sources")
@machine_options
def command(settings: Settings, log: str | None, hang: bool, target: str | None) -> int:
    """Say what happened, why, and what to type."""
    from ddp_codemod.cli.platform import known_platform
    from ddp_codemod.machine.diagnose import diagnose
    from ddp_codemod.machine.trial_cures import fit_reading, list_machine_hints
    from ddp_codemod.report import diagnosis

    if log is None and not hang:
        raise make_failure("diagnose-usage")
    if target is not None and settings.format == "json":
        raise make_failure("diagnose-apply-json")
    project = existing_path(target or ".")
    config, rules = configure_project(find_project_root([project]), settings.folders)
    settings = replace(settings, folders=config.all_folders(settings.folders))
    console = Console(settings.lang, settings.color, settings.quiet)
    typed = log is not None and log != STDIN and is_message(log)
    name = console.text("diagnose-stdin") if log == STDIN else console.text("diagnose-argument") if typed else log or ""
    size = 0 if typed or log in (None, STDIN) else _find_log(name).stat().st_size
    with _open_log(log) as stream:
        whole = size >> 20  # in megabytes; a log of less is read before anybody looks
        shown = (lambda done: console.progress(name, min(done >> 20, whole - 1), whole)) if whole else None
        known = known_errors(settings)
        platform = known_platform(settings.platform, rules) if settings.platform is not None else None
        hints = list_machine_hints(platform, known.hints) if platform is not None else ()
        reading = diagnose(stream, known, hang=hang, hints=hints, progress=shown)
    reading = usable_reading(reading, rules)
    if platform is not None:
        done = target is None and bool(reading.diagnoses) and _is_ported(config, rules, platform, find_project_root([project]))
        check = command_line(["ddp-codemod", "check", ".", "--platform", platform.id])
        reading = fit_reading(reading, platform, check if done else None)
    found = _find_sites(settings, config, rules, reading, project, console)
    told = cure_command(rules, target or ".", found[0] if found else None)
    foreign = explain_foreign_log(console, reading, platform)
    if settings.format == "json":
        console.raw(diagnosis.dumps(reading, log or "", settings.json_lang, told, found and _encode_survey(settings, found[0])))
        return exit_code_of(reading)
    if log is not None:
        console.say(console.text("diagnose-read", name=name, lines=reading.lines))
    if hang:
        _show_gpu_load(console)
    for line in (*foreign, *(found[2] if found else ())):
        console.out(console.folded(line, sys.stdout))
        console.out()
    _show_reading(settings, console, reading, name, told)
    for line in found[1] if found else ():
        console.out(line)
    return _apply_cure(console, rules, reading, target) if target is not None else exit_code_of(reading)


def exit_code_of(reading: Reading) -> int:
    """The exit code of a reading: no error in the log, a known cause, or an error that is not known."""
    if not reading.diagnoses:
        return DONE
    return FOUND if reading.diagnoses[0].signature is not None else UNKNOWN


def _open_log(log: str | None) -> Any:
    import io

    if log is None:
        return io.BytesIO(b"")
    if log == STDIN:
        return nullcontext(sys.stdin.buffer)
    if is_message(log):
        return io.BytesIO(log.encode("utf-8", "replace"))
    if _find_log(log).is_dir():
        raise make_failure("diagnose-folder", path=log)
    return Path(log).open("rb")


def _find_log(name: str) -> Path:
    """The file of a log. Raises Failure where nothing is there, with how to pass the text of an error."""
    return existing_path(name, "diagnose-missing")


def known_errors(settings: Settings) -> Diagnostics:
    """The shipped signatures and those of the user's folders. Raises Failure for a file that cannot be used."""
    from ddp_codemod.catalog.diagnostics import load_diagnostics
    from ddp_codemod.catalog.files import RuleError

    try:
        return load_diagnostics(settings.folders)
    except RuleError as why:
        raise make_failure("rules-bad", str(why)) from None


def usable_reading(reading: Reading, rules: Rules) -> Reading:
    """The reading without cures whose platform or rules are not there."""

    def usable(cure: Cure) -> bool:
        return (cure.platform is None or cure.platform in rules.platforms) and all(rule in rules.fixes for rule in cure.rules)

    return replace(
        reading,
        diagnoses=tuple(replace(one, cures=tuple(cure for cure in one.cures if usable(cure))) for one in reading.diagnoses),
    )


def cure_command(rules: Rules, path: str, found: Survey | None = None) -> Callable[[Cure], str | None]:
    """Tells the apply of a cure on a project; None for plain advice and for platforms and rules that are not there.

    ``found``: what is known of the project on the platform of one of them: whether it takes an unsafe fix.
    """
    unsure = found is not None and any(edit.applicability is Applicability.UNSAFE for edit in found.edits)

    def told(cure: Cure) -> str | None:
        if (cure.platform or "") not in {"", *rules.platforms} or not set(cure.rules) <= set(rules.fixes):
            return None
        if cure.platform is None and not cure.rules:
            return None
        words = ["ddp-codemod", "apply", path]
        words += ["--platform", cure.platform] if cure.platform else []
        words += [word for rule in cure.rules for word in ("--rule", rule)]
        needed = cure.unsafe or (unsure and found is not None and cure.platform == found.platform)
        return command_line([*words, "--unsafe"] if needed else words)

    return told


def _is_ported(config: Config, rules: Rules, platform: Platform, root: Path) -> bool:
    """Whether an apply has ported the project of this folder, and no change for the platform is left."""
    from ddp_codemod.run.options import Options
    from ddp_codemod.run.survey import survey
    from ddp_codemod.write.ported_lines import find_ported_lines

    ported = find_ported_lines(root, platform.id)
    if not ported:
        return False
    return not survey(Options((root,), platform, rules, root=root, scope=config.scope, ported=ported)).edits


def _show_reading(settings: Settings, console: Console, reading: Reading, name: str, told: Callable[[Cure], str | None]) -> None:
    from ddp_codemod.report import diagnosis

    ink = console.ink(sys.stdout)
    if not reading.diagnoses:
        key = "diagnose-nothing" if reading.size else "diagnose-empty"
        console.out(
            console.text(
                key,
                lines=reading.lines,
                command=command_line(
                    ["ddp-codemod", "diagnose", *([name] if reading.size and Path(name).is_file() else []), "--hang"]
                ),
            )
        )
        return
    first, *others = reading.diagnoses
    for line in diagnosis.format_leading_diagnosis(first, name, settings.lang, ink, told, settings.verbose, bool(others)):
        console.out(line)
    for line in diagnosis.format_other_diagnoses(others, name, settings.lang, ink):
        console.out(line)


def find_code_cure(reading: Reading) -> Cure | None:
    """The first cure of the leading diagnosis that is a change of code."""
    cures = reading.diagnoses[0].cures if reading.diagnoses and reading.diagnoses[0].signature is not None else ()
    return next((cure for cure in cures if cure.platform or cure.rules), None)


def _find_sites(
    settings: Settings, config: Config, rules: Rules, reading: Reading, project: Path, console: Console
) -> tuple[Survey, list[str], list[str]] | None:
    """The sites of the project that the leading error's traceback goes through, the lines that tell of them, and what does not fit."""
    frames: Sequence[Frame] = reading.diagnoses[0].first.frames if reading.diagnoses else ()
    cure = find_code_cure(reading)
    if not frames or cure is None:
        return None
    platform = cure.platform or next((rules.fixes[rule].platform for rule in cure.rules), None)
    if platform is None:
        return None
    from ddp_codemod.machine.locate import locate_frames

    places = locate_frames(frames, project)
    if not places:
        return None
    from ddp_codemod.discover.listing import make_absolute
    from ddp_codemod.report import text
    from ddp_codemod.report.view import View
    from ddp_codemod.run.options import Options
    from ddp_codemod.run.survey import limit_to_line, survey

    inside = next((at for at in places[0][0].parents if at == project or (at / ".git").exists()), project)
    options = Options(
        paths=(inside,),
        platform=rules.platforms[platform],
        rules=rules,
        fixes=cure.rules,
        root=find_project_root([inside]),
        scope=config.scope,
    )
    found = survey(options)
    near = [(Path(make_absolute(path)), line) for path, line in places[:3]]
    parts = (
        limit_to_line(found, path.relative_to(found.root).as_posix(), line)
        for path, line in near
        if path.is_relative_to(found.root)
    )
    whole = next((part for part in parts if part.decisions), None)
    if whole is None:
        return None
    view = View(whole, settings.lang, console.ink(sys.stdout), Path.cwd(), settings.verbose)
    lines = ["", view.ink(view.say("diagnose-site", platform=platform), "bold")]
    signature = reading.diagnoses[0].signature
    other = explain_other_copy(view, whole, signature.backend if signature else None, rules.backends)
    return whole, lines + ["  " + line for decision in whole.decisions for line in text.format_site(view, decision)], other


def _encode_survey(settings: Settings, survey: Survey) -> dict[str, Any]:
    from ddp_codemod.report.json import dumps

    document: dict[str, Any] = json.loads(dumps(survey, settings.json_lang))
    return document


def _show_gpu_load(console: Console) -> None:
    """Say how busy the GPUs of this machine are, where that can be asked."""
    from ddp_codemod.machine.probe import probe_nvidia_gpus

    gpus = probe_nvidia_gpus()
    if gpus:
        listed = ", ".join(f"{gpu['index']}: {gpu['utilization']} %" for gpu in gpus)
        console.say(console.text("diagnose-busy", gpus=listed))


def _apply_cure(console: Console, rules: Rules, reading: Reading, target: str) -> int:
    """Go on to the patch of the leading diagnosis."""
    from ddp_codemod.cli import apply

    cure = find_code_cure(reading)
    if cure is None:
        console.error(console.text("diagnose-no-edit"))
        return exit_code_of(reading)
    line = cure_command(rules, target)(cure)
    console.out()
    console.say(console.text("diagnose-applying", command=line))
    code: int = click.get_current_context().invoke(
        apply.command, paths=(target,), platform=cure.platform, rules=cure.rules, unsafe=cure.unsafe, color=console.color
    )
    return code
