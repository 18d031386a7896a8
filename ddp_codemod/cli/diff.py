"""``diff``: the patch on standard output, which ``git apply`` takes; nothing is written."""

from __future__ import annotations

import sys

import click

from ddp_codemod.cli.commit import SUMMARY, format_markdown, format_mbox
from ddp_codemod.cli.formats import encode_document
from ddp_codemod.cli.options import from_run_option, narrow_options, patch_options, paths_argument, submodules_option
from ddp_codemod.cli.patches import make_patch
from ddp_codemod.cli.run import prepare_job
from ddp_codemod.cli.settings import MACHINES, Settings
from ddp_codemod.cli.translate import Command


@click.command("diff", cls=Command, help="help-diff")
@paths_argument
@SUMMARY
@from_run_option
@submodules_option
@narrow_options
@patch_options
def command(settings: Settings, summary: str | None) -> int:
    """Print the patch."""
    job = prepare_job(settings)
    patch = make_patch(job)
    from ddp_codemod.report.screen import SCREEN, format_closing, format_screen

    console = job.console
    if summary:
        console.raw(format_markdown(patch))
        return patch.code
    if settings.format == "mbox":
        console.raw(format_mbox(patch))
        return patch.code
    if settings.format in MACHINES:
        console.raw(encode_document(job, patch.survey))
        return patch.code
    if settings.format == "json":
        console.raw(patch.json(written=False))
        return patch.code
    view, outcome = job.view(patch.survey, sys.stderr), patch.outcome("shown")
    for line in format_screen(view, outcome, console.room(SCREEN - 1)):
        console.say(line)
    console.say("")
    data = patch.whole
    ink = console.ink(sys.stdout)
    if ink.on:
        for name, part in patch.parts.items():
            encoding = patch.survey.sources[name].file.encoding.removesuffix("-sig")
            console.out(ink.diff(part.decode(encoding, "surrogateescape").replace("\r\n", "\n").rstrip("\n")))
    else:
        console.raw(data)
    if sys.stdout.isatty() and data.count(b"\n") > SCREEN:
        for line in format_closing(view, outcome):
            console.say(line)
    return patch.code
