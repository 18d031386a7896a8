"""``check``: list what would change, for continuous integration and pre-commit."""

from __future__ import annotations

import sys

import click

from ddp_codemod.cli.formats import MACHINES, document
from ddp_codemod.cli.options import Settings, paths_argument, survey_options
from ddp_codemod.cli.run import again, applicable, exit_code, prepare
from ddp_codemod.cli.translate import Command


@click.command("check", cls=Command, help="help-check")
@paths_argument
@survey_options
def command(settings: Settings) -> int:
    """List the edits that ``apply`` would make."""
    job = prepare(settings)
    from ddp_codemod.report import text
    from ddp_codemod.report.summary import Outcome, summary
    from ddp_codemod.survey import survey

    found = survey(job.options)
    if settings.format in MACHINES:
        job.console.raw(document(job, found))
        return exit_code(found, settings, edits_count=True)
    if settings.format == "json":
        from ddp_codemod.report import json

        job.console.raw(json.dumps(found, settings.json_lang))
        return exit_code(found, settings, edits_count=True)
    made = tuple(edit for edit in found.edits if applicable(edit, settings.unsafe))
    left = tuple(edit for edit in found.edits if not applicable(edit, settings.unsafe))
    view = job.view(found)
    for edit in made:
        job.console.out(text.edit(view, edit))
    for line in summary(job.view(found, sys.stderr), Outcome("found", made, left, again=again(job))):
        job.console.say(line)
    return exit_code(found, settings, edits_count=True)
