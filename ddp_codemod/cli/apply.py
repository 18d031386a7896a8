"""``apply``: write the changes, and show what changed and why."""

from __future__ import annotations

from dataclasses import replace

import click

from ddp_codemod.cli.errors import refused
from ddp_codemod.cli.formats import MACHINES, document
from ddp_codemod.cli.options import Settings, paths_argument, survey_options
from ddp_codemod.cli.patching import Patching, patching
from ddp_codemod.cli.run import prepare
from ddp_codemod.cli.translate import Command, option


@click.command("apply", cls=Command, help="help-apply")
@paths_argument
@option("--dry-run", is_flag=True, help="help-dry-run")
@option("--allow-dirty", is_flag=True, help="help-allow-dirty")
@survey_options
def command(settings: Settings, dry_run: bool, allow_dirty: bool) -> int:
    """Write the changes, then show them: a reader that goes away stops nothing."""
    patch = patching(prepare(settings))
    if not dry_run and patch.rendered.changes:
        _write(patch, allow_dirty)
    _show(patch, dry_run)
    return patch.code


def _write(patch: Patching, allow_dirty: bool) -> None:
    from ddp_codemod.write.apply import apply_changes
    from ddp_codemod.write.errors import WriteError

    try:
        apply_changes(patch.job.root, patch.rendered.changes, allow_dirty=allow_dirty)
    except WriteError as why:
        raise refused(why, patch.job.root) from None


def _show(patch: Patching, dry_run: bool) -> None:
    from ddp_codemod.report.patch import patch as patch_report
    from ddp_codemod.report.shift import shifted
    from ddp_codemod.report.summary import summary

    job, rendered = patch.job, patch.rendered
    if job.settings.format in MACHINES:
        job.console.raw(document(job, patch.survey))
        return
    if job.settings.format == "json":
        job.console.raw(patch.json(written=not dry_run))
        return
    view = job.view(patch.survey)
    if not dry_run:
        view = replace(view, line_now=shifted(rendered.changes))
    block = [] if job.settings.quiet else patch_report(view, {change.name: change for change in rendered.changes}, patch.parts)
    for line in block + summary(view, patch.outcome("shown" if dry_run else "written")):
        job.console.out(line)
