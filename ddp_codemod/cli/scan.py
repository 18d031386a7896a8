"""``scan``: every site, where its value starts and what it resolves to."""

from __future__ import annotations

import sys

import click

from ddp_codemod.cli.formats import encode_document
from ddp_codemod.cli.narrowing import survey_narrowed
from ddp_codemod.cli.options import narrow_options, paths_argument, submodules_option, survey_options
from ddp_codemod.cli.run import build_whole_command, exit_code, is_applicable, make_command_builder, prepare_job
from ddp_codemod.cli.settings import MACHINES, Settings
from ddp_codemod.cli.translate import Command


@click.command("scan", cls=Command, help="help-scan")
@paths_argument
@submodules_option
@narrow_options
@survey_options
def command(settings: Settings) -> int:
    """Print the sites."""
    job = prepare_job(settings)
    from ddp_codemod.report import text
    from ddp_codemod.report.outcome import Outcome
    from ddp_codemod.report.summary import format_summary

    found = survey_narrowed(job)
    if settings.format in MACHINES:
        job.console.raw(encode_document(job, found))
        return exit_code(found, settings)
    if settings.format == "json":
        from ddp_codemod.report import json

        job.console.raw(json.dumps(found, settings.json_lang))
        return exit_code(found, settings)
    view = job.view(found)
    for decision in found.decisions:
        for line in text.format_site(view, decision):
            job.console.out(line)
    result = tuple(edit for edit in found.edits if is_applicable(edit, settings.unsafe))
    left = tuple(edit for edit in found.edits if not is_applicable(edit, settings.unsafe))
    whole = build_whole_command(job, found)
    outcome = Outcome("scanned", result, left, again=make_command_builder(job), whole=whole)
    for line in format_summary(job.view(found, sys.stderr), outcome):
        job.console.say(line)
    return exit_code(found, settings)
