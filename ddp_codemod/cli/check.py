"""``check``: list what would change, for continuous integration and pre-commit."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ddp_codemod.cli import second_run
from ddp_codemod.cli.errors import make_failure
from ddp_codemod.cli.formats import encode_document
from ddp_codemod.cli.narrowing import survey_narrowed
from ddp_codemod.cli.options import from_run_option, narrow_options, paths_argument, submodules_option, survey_options
from ddp_codemod.cli.run import build_whole_command, exit_code, is_applicable, make_command_builder, prepare_job
from ddp_codemod.cli.settings import MACHINES, Settings
from ddp_codemod.cli.translate import Command, option


@click.command("check", cls=Command, help="help-check")
@paths_argument
@option("--baseline", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="help-baseline")
@option("--update-baseline", is_flag=True, help="help-update-baseline")
@option("--statistics", is_flag=True, help="help-statistics")
@option("--after-apply", is_flag=True, help="help-after-apply")
@option("--add-ignore", is_flag=True, help="help-add-ignore")
@from_run_option
@submodules_option
@narrow_options
@survey_options
def command(settings: Settings, statistics: bool, after_apply: bool, add_ignore: bool) -> int:
    """List the edits that ``apply`` would make."""
    if settings.update_baseline and settings.baseline is None:
        raise make_failure("baseline-which")
    if statistics and settings.format != "text":
        raise make_failure("statistics-format", format=settings.format)
    if add_ignore and (after_apply or settings.format != "text"):
        raise make_failure("add-ignore-alone")
    job = prepare_job(settings)
    from ddp_codemod.report import text
    from ddp_codemod.report.outcome import Outcome
    from ddp_codemod.report.summary import format_details, format_opening

    found = second_run.survey_after_apply(job) if after_apply else survey_narrowed(job)
    if add_ignore:
        from ddp_codemod.cli.add_ignore import add_ignore as write_comments

        return write_comments(job, found)
    if settings.format in MACHINES:
        job.console.raw(encode_document(job, found))
        return exit_code(found, settings, edits_count=True)
    if settings.format == "json":
        from ddp_codemod.report import json

        job.console.raw(json.dumps(found, settings.json_lang))
        return exit_code(found, settings, edits_count=True)
    result = tuple(edit for edit in found.edits if is_applicable(edit, settings.unsafe))
    left = tuple(edit for edit in found.edits if not is_applicable(edit, settings.unsafe))
    view, talk = job.view(found), job.view(found, sys.stderr)
    offer = make_command_builder(job)
    # apply knows no baseline: it would make the changes that are passed over here too
    beyond = {"apply"} if settings.baseline is not None and found.hidden else set()
    whole = build_whole_command(job, found)
    outcome = Outcome(
        "found",
        result,
        left,
        again=lambda name, *words: "" if name in beyond else offer(name, *words),
        base=settings.diff_base or "",
        whole=whole,
    )
    for line in format_opening(talk, outcome):
        job.console.say(line)
    if statistics:
        from ddp_codemod.report.statistics import format_statistics as counted

        job.console.say("")
        for line in counted(view, found):
            job.console.out(line)
        return exit_code(found, settings, edits_count=True)
    if result:
        job.console.say("")
    for line in text.format_edits(view, result, shown=0, sure=True):
        job.console.out(line)
    for line in format_details(talk, outcome):
        job.console.say(line)
    return exit_code(found, settings, edits_count=True)
