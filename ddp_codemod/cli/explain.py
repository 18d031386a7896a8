"""``explain FILE:LINE``: why a line is edited, kept or needs review."""

from __future__ import annotations

from pathlib import Path

import click
from msgspec.structs import replace

from ddp_codemod.cli.change_records import find_change_records, format_change_record
from ddp_codemod.cli.console import Console
from ddp_codemod.cli.errors import DONE, make_failure
from ddp_codemod.cli.formats import encode_document
from ddp_codemod.cli.options import completed_by_files, survey_options
from ddp_codemod.cli.recorded_changes import list_changes
from ddp_codemod.cli.run import existing_path, exit_code, find_project_root, prepare_job
from ddp_codemod.cli.settings import MACHINES, Settings
from ddp_codemod.cli.translate import Command
from ddp_codemod.cli.unported import explain_unported_line


@click.command("explain", cls=Command, help="help-explain")
@click.argument("place", metavar="FILE:LINE", shell_complete=completed_by_files)
@survey_options
def command(settings: Settings, place: str) -> int:
    """Print each decision that touches the line, step by step; for a file or folder, the changes there that are on record."""
    name, _, number = place.rpartition(":")
    if not name or not number.isascii() or not number.isdigit():
        if Path(place).exists() and (listed := list_changes(settings, Path(place))):
            console = Console(settings.lang, settings.color)
            for text in listed:
                console.out(text)
            return DONE
        raise make_failure("explain-usage", place=place)
    path, line = existing_path(name), int(number)
    # the whole project: whether a line is edited can depend on calls and origins in other files
    root = find_project_root([path])
    records = find_change_records(root, path, line)
    job = prepare_job(replace(settings, paths=(str(root), name), applied=records[0].platform if records else None))
    from ddp_codemod.report import json
    from ddp_codemod.report.edit_sites import sites_of_edit
    from ddp_codemod.report.explain import explain_site
    from ddp_codemod.report.text import format_advisories, format_edits, format_uncovered
    from ddp_codemod.run.survey import explain as survey

    found = survey(job.options, path, line)
    if settings.format in MACHINES:
        job.console.raw(encode_document(job, found))
        return exit_code(found, settings)
    if settings.format == "json":
        job.console.raw(json.dumps(found, settings.json_lang))
        return exit_code(found, settings)
    view = job.view(found)
    for text in (text for why in records for text in format_change_record(view, path, line, why)):
        job.console.out(text)
    for decision in found.decisions:
        for text in explain_site(view, decision):
            job.console.out(text)
        job.console.out()
    for text in (*format_advisories(view, found.advisories), *format_uncovered(view, found.uncovered)):
        job.console.out(text)
    bare = [edit for edit in found.edits if not sites_of_edit(edit, found)]
    for text in format_edits(view, bare, shown=0, sure=True):
        job.console.out(text)
    if not (records or bare or found.decisions or found.advisories or found.uncovered):
        for text in explain_unported_line(job, view, path, line):
            job.console.out(text)
    return exit_code(found, settings)
