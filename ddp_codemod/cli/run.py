"""What every command does that reads a project: check its options, load rules, choose a platform, tell the exit code."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click
from click.core import ParameterSource
from msgspec import Struct
from msgspec.structs import replace

from ddp_codemod.cli.console import Console
from ddp_codemod.cli.errors import DONE, FOUND, Failure, make_failure, unknown_word
from ddp_codemod.cli.settings import Settings, command_line
from ddp_codemod.messages import in_language, render
from ddp_codemod.model import Action, Applicability, Reason

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ddp_codemod.catalog.load import Rules
    from ddp_codemod.cli.platform import Choice
    from ddp_codemod.discover.config import Config
    from ddp_codemod.health import RecordedGroup
    from ddp_codemod.model import Edit, Skipped, Survey
    from ddp_codemod.report.view import View
    from ddp_codemod.run.options import Options
    from ddp_codemod.versions import Stated


class Job(Struct, frozen=True):
    """A checked request: ready for the pipeline and for the reports."""

    settings: Settings
    console: Console
    options: Options
    root: Path

    def view(self, survey: Survey, stream: TextIO | None = None) -> View:
        """How to show a survey to this reader, on standard output if no other stream is named."""
        from ddp_codemod.report.view import View

        stream = stream or sys.stdout
        ink, width = self.console.ink(stream), self.console.width(stream)
        rules, lang = self.options.rules, self.settings.lang
        titles = {advice.id: in_language(advice, "title", lang) for advice in rules.advice.values()}
        titles |= {fix.id: in_language(fix, "title", lang) for fix in rules.fixes.values()}
        first = {advice.id for advice in rules.advice.values() if advice.first}
        return View(survey, lang, ink, Path.cwd(), self.settings.verbose, width, titles, first)


ENDING = ("check", "diff", "scan", "explain")  # commands that have nothing to do once they have told what they found
_PATCHES = (".diff", ".patch")
PORTING = ("apply", "check", "diff", "scan")  # commands that are about the tree as it is


def prepare_job(settings: Settings, writes: bool = False) -> Job:
    """Check what the options say, before a file of the project is read; an apply that was cut off is fixed first.

    Raises Failure for a missing path, a bad configuration or rule file, an unknown rule, and an unknown or uncertain platform.
    """
    from ddp_codemod.cli.change_records import is_ported_portably, list_ported_platforms, tell_earlier_ports, tell_needless_rule
    from ddp_codemod.cli.fast_exit import kept_objects
    from ddp_codemod.cli.platform import choose_platform
    from ddp_codemod.cli.recovery import recover_project, tell_interrupted
    from ddp_codemod.machine.detect import Machine

    console = Console(settings.lang, settings.color, settings.quiet)
    paths = tuple(existing_path(path) for path in settings.paths)
    root = find_project_root(paths)
    config, rules = configure_project(root, settings.folders)
    check_rule_ids(settings.rules, rules)
    choice = choose_platform(settings, config, rules, Machine(), lambda: list_ported_platforms(root))
    recorded: tuple[RecordedGroup, ...] = ()
    if settings.from_run is not None:
        from ddp_codemod.cli.from_run import read_record

        recorded = read_record(settings.from_run, root)
    _announce_platform(settings, console, choice)
    if not _has_style(settings) and is_ported_portably(root, choice.platform.id):
        settings = replace(settings, style="portable")
        if settings.format == "text":
            console.say("  " + console.text("style-last"))
    versions = read_versions(settings, rules)
    (recover_project if writes else tell_interrupted)(console, root)
    if settings.format == "text" and settings.command in PORTING:
        tell_earlier_ports(console, root, choice.platform.id, settings.paths[:1])
        tell_needless_rule(console, root, rules, choice.platform.id, settings.rules)
    from ddp_codemod.run.options import Options  # not before it is clear that there is work
    from ddp_codemod.write.ported_lines import find_ported_lines

    kept = kept_objects() if settings.command in ENDING else None
    options = Options(
        paths=paths,
        platform=choice.platform,
        rules=rules,
        fixes=tuple(dict.fromkeys((*config.rules, *settings.rules))),
        root=root,
        progress=console.progress,
        keep=None if kept is None else kept.append,
        scope=config.scope.without((*settings.apart, *dict(settings.others))),
        others=dict(settings.others),
        env_in="shell" if settings.env_in == "shell" else "python",
        versions=versions,
        cache=not settings.no_cache and not recorded,  # what a run executed as text is looked for in files that no answer knows
        style="portable" if settings.style == "portable" else "pin",
        starts=settings.command in ("apply", "diff") and settings.format == "text" and not settings.quiet,
        recorded=recorded,
        ported=find_ported_lines(root, choice.platform.id),
    )
    return Job(settings, console, options, root)


STDIN = "-"  # what a path is where a program reads what is piped into it


def existing_path(name: str, missing: str = "path-missing") -> Path:
    """The path of an argument. Raises Failure where nothing is there: the message ``missing`` where nothing is called alike."""
    path = Path(name)
    try:
        if path.exists():
            return path
        siblings = [entry.name for entry in path.absolute().parent.iterdir() if entry.exists()]  # a link to nothing is no help
    except (OSError, ValueError):
        siblings = []
    if name == STDIN:
        raise make_failure("path-stdin")
    from difflib import get_close_matches

    near = get_close_matches(path.name, siblings, n=1)
    raise make_failure("path-near", path=name, near=path.parent / near[0]) if near else make_failure(missing, path=name)


def find_project_root(paths: Sequence[Path]) -> Path:
    """The project's root. Raises Failure for paths of several projects, for links out of it, and for pipes and devices."""
    from ddp_codemod.discover.listing import is_outside_root
    from ddp_codemod.discover.root import find_root

    for path in paths:
        if not path.is_file() and not path.is_dir():
            raise make_failure("path-special", path=path)
        if path.suffix in _PATCHES and path.is_file():
            raise make_failure("path-patch", path=path)
    try:
        root = find_root(paths)
    except ValueError as why:
        raise make_failure("path-roots", why=why) from None
    for path in paths:
        if is_outside_root(path, root):
            raise make_failure("path-outside", path=path, root=root, place=os.path.realpath(path))
    return root


def load_rules(folders: Iterable[Path]) -> Rules:
    """The shipped rules and those of the folders. Raises Failure for a file that cannot be used."""
    from ddp_codemod.catalog.files import RuleError
    from ddp_codemod.catalog.load import load

    try:
        return load(tuple(folders))
    except RuleError as why:
        raise make_failure("rules-bad", str(why)) from None


def read_versions(settings: Settings, rules: Rules) -> dict[str, Stated]:
    """The version that --torch-version names. Raises Failure where it is none."""
    if settings.torch_version is None:
        return {}
    from ddp_codemod.versions import parse_stated

    asked = (package.name for package in rules.packages.values() if package.asked)
    try:
        return {name: parse_stated(settings.torch_version, name, "--torch-version") for name in asked}
    except ValueError:
        raise make_failure("torch-version-bad", word=settings.torch_version) from None


def configure_project(root: Path, folders: Iterable[Path]) -> tuple[Config, Rules]:
    """What a project says about itself, and the rules with those that it enables. Raises Failure for what cannot be used."""
    from ddp_codemod.discover.config import ConfigError, check_ids, read

    try:
        config = read(root)
        rules = load_rules(config.all_folders(folders))
        check_ids(config, rules)
    except ConfigError as why:
        raise Failure(why.reason) from None
    return config, rules


def load_local_rules(settings: Settings) -> Rules:
    """The rules that a command typed here would use: the shipped ones, those of the project around, those of the options."""
    return configure_project(find_project_root([Path()]), settings.folders)[1]


def check_rule_ids(idents: Iterable[str], rules: Rules) -> None:
    """Check the ids of rules. Raises Failure that names the nearest one."""
    for ident in idents:
        if ident not in rules.fixes:
            if ident in rules.platforms:
                raise make_failure("rule-is-platform", rule=ident)
            raise unknown_word("rule-unknown", ident, rules.fixes)


def _has_style(settings: Settings) -> bool:
    """Whether the user names a style, or a program that no command line starts."""
    context = click.get_current_context(silent=True)
    source = context.get_parameter_source("style") if context is not None else None
    return settings.style != "pin" or source is not ParameterSource.DEFAULT


def _announce_platform(settings: Settings, console: Console, choice: Choice) -> None:
    if settings.format != "text":
        return
    ink = console.ink(sys.stderr)
    title = in_language(choice.platform, "title", settings.lang)
    head = console.folded(console.text("platform-chosen", platform=choice.platform.id, title=title), sys.stderr)
    console.say(head.replace(choice.platform.id, ink(choice.platform.id, "bold"), 1))
    if choice.reason != Reason.of("platform-option"):
        console.say("  " + render(choice.reason, settings.lang))
    for other in choice.others:
        command = settings.same(other.id)
        console.say("  " + console.text("platform-other", command=command, title=in_language(other, "title", settings.lang)))


def is_applicable(edit: Edit, unsafe: bool) -> bool:
    """Whether ``apply`` with these options would take the edit."""
    return edit.applicability is Applicability.SAFE or (unsafe and edit.applicability is Applicability.UNSAFE)


def exit_code(survey: Survey, settings: Settings, failed: Iterable[Skipped] = (), *, edits_count: bool = False) -> int:
    """The exit code of a survey (design.md, "Exit"): ``edits_count`` where an edit to be made is a finding, as for ``check``."""
    if survey.elsewhere or any(skipped.candidate for skipped in (*survey.skipped, *failed)):
        return FOUND
    if edits_count and any(is_applicable(edit, settings.unsafe) for edit in survey.edits):
        return FOUND
    if settings.strict and (
        survey.advisories
        or survey.uncovered
        or any(decision.action is Action.REVIEW for decision in survey.decisions)
        or any(not is_applicable(edit, settings.unsafe) for edit in survey.edits)
    ):
        return FOUND
    return DONE


def build_whole_command(job: Job, survey: Survey) -> str:
    """The same command for the whole project; "" where this run is about that already, or found edits."""
    if not survey.partial or survey.edits:
        return ""
    return job.settings.again(job.settings.command, platform=job.options.platform.id, paths=(os.path.relpath(job.root),))


def make_command_builder(job: Job) -> Callable[..., str]:
    """Makes the command lines that reports offer next."""

    def command(name: str, *words: str) -> str:
        settings = job.settings
        if name == "rules":
            return command_line(["ddp-codemod", "rules", "list"])
        if name == "record":  # the changes that are written, and why
            return command_line(["ddp-codemod", "explain", *(settings.paths[:1] or (".",))])
        if name == "undo":
            return command_line(["ddp-codemod", "undo", *settings.paths[:1]])
        platform = job.options.platform.id
        if name == "verify":  # a program of the project, typed in its folder
            folder, own = words
            paths = tuple(os.path.relpath(path, job.root / folder) for path in settings.paths[:1] or (".",))
            return command_line(["ddp-codemod", name, *paths, "--platform", platform, "--run", own])
        if name == "explain":
            return settings.again(name, platform=platform, paths=words)
        return settings.again(name, *words, platform=platform)

    return command
