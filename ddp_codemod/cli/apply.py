"""``apply``: write the changes, and show what changed and why."""

from __future__ import annotations

import click
from msgspec.structs import replace

from ddp_codemod.cli.change_records import make_change_records
from ddp_codemod.cli.commit import (
    SUMMARY,
    check_commit,
    commit_options,
    format_markdown,
    format_undo_command,
    prepared,
    requested,
)
from ddp_codemod.cli.commit import write_commit as make_commit
from ddp_codemod.cli.errors import make_failure, refusal_failure
from ddp_codemod.cli.formats import encode_document
from ddp_codemod.cli.options import from_run_option, narrow_options, paths_argument, submodules_option, survey_options
from ddp_codemod.cli.patches import Patching, make_patch, tell_cost
from ddp_codemod.cli.run import make_command_builder, prepare_job
from ddp_codemod.cli.settings import MACHINES, Settings
from ddp_codemod.cli.translate import Command, option


@click.command("apply", cls=Command, help="help-apply")
@paths_argument
@option("--dry-run", is_flag=True, help="help-dry-run")
@option("--allow-dirty", is_flag=True, help="help-allow-dirty")
@commit_options
@option("--pull-request", is_flag=True, help="help-pull-request")
@SUMMARY
@from_run_option
@submodules_option
@narrow_options
@survey_options
def command(
    settings: Settings,
    dry_run: bool,
    allow_dirty: bool,
    commit: bool,
    branch: str | None,
    run_hooks: bool,
    pull_request: bool,
    summary: str | None,
) -> int:
    """Write the changes, then show them: a reader that goes away stops nothing."""
    commits = commit or branch is not None
    check_commit(commits, allow_dirty, run_hooks)
    if pull_request and branch is None:
        raise make_failure("request-branch")
    patch = make_patch(prepare_job(settings, writes=not dry_run), converted=allow_dirty)
    if patch.survey.elsewhere and patch.rendered.changes and not dry_run:
        names = {"platform": patch.survey.platform, "other": patch.survey.elsewhere}
        raise make_failure("apply-elsewhere", **names, command=make_command_builder(patch.job)("undo"))
    result = opening = None
    if not dry_run and patch.rendered.changes:
        opening = prepared(patch) if pull_request else None
        if commits:
            result = make_commit(patch, branch, run_hooks)
        else:
            _write_changes(patch, allow_dirty)
    take_back = format_undo_command(result) if result else None
    try:
        if summary:
            tell_cost(patch)
            patch.job.console.raw(format_markdown(patch))
        else:
            _show_changes(patch, dry_run, take_back)
        patch.job.console.flush()
    except OSError as why:
        if dry_run or not patch.rendered.changes or isinstance(why, BrokenPipeError):
            raise
        command = take_back or make_command_builder(patch.job)("undo")
        raise make_failure("apply-report-lost", files=len(patch.rendered.changes), why=why, command=command) from None
    if result is not None:
        patch.job.console.say(patch.job.console.text("commit-done", id=result.id[:10], branch=result.branch))
        if opening is not None:
            url = requested(patch, opening, result.branch, run_hooks)
            patch.job.console.say(patch.job.console.text("request-opened", url=url))
    elif commits and not dry_run:
        patch.job.console.say(patch.job.console.text("commit-nothing"))
    return patch.code


def _write_changes(patch: Patching, allow_dirty: bool) -> None:
    from ddp_codemod.write.apply import apply_changes
    from ddp_codemod.write.errors import WriteError

    try:
        why = make_change_records(patch.survey, patch.rendered.changes, patch.job.options.style == "portable")
        apply_changes(patch.job.root, patch.rendered.changes, allow_dirty=allow_dirty, why=why)
    except WriteError as why:
        raise refusal_failure(why, patch.job.root) from None


def _show_changes(patch: Patching, dry_run: bool, take_back: str | None) -> None:
    from ddp_codemod.report.line_shift import make_line_mapper
    from ddp_codemod.report.patch import format_patch as patch_report
    from ddp_codemod.report.screen import SCREEN, format_closing, format_screen

    job, rendered = patch.job, patch.rendered
    if job.settings.format in MACHINES:
        job.console.raw(encode_document(job, patch.survey))
        return
    if job.settings.format == "json":
        job.console.raw(patch.json(written=not dry_run))
        return
    view = job.view(patch.survey)
    if not dry_run:
        view = replace(view, line_now=make_line_mapper(rendered.changes))
    outcome = patch.outcome("shown" if dry_run else "written")
    if take_back is not None:
        offer = outcome.again
        instead = {"undo": take_back, "record": "git show"}  # the message of a commit has the reasons
        outcome = replace(outcome, again=lambda name, *words: instead.get(name) or offer(name, *words))
    listed = not job.settings.quiet
    block = format_screen(view, outcome, job.console.room(SCREEN - 1), listed)
    if listed and rendered.changes:
        shown = patch_report(view, {change.name: change for change in rendered.changes}, patch.parts)
        block += ["", *shown]
        if sum(part.count("\n") + 1 for part in shown) > SCREEN:
            block += format_closing(view, outcome)
    for line in block:
        job.console.out(line)
