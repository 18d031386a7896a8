"""``review``: take or leave each change, in the terminal or on a page."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from msgspec import Struct
from msgspec.structs import replace

from ddp_codemod.cli.change_records import make_change_records
from ddp_codemod.cli.commit import check_commit, commit_options, format_undo_command
from ddp_codemod.cli.commit import write_commit as make_commit
from ddp_codemod.cli.errors import make_failure, refusal_failure
from ddp_codemod.cli.options import completed_by_files, from_run_option, narrow_options, review_options
from ddp_codemod.cli.patches import Patching, make_patch, make_patch_of_survey
from ddp_codemod.cli.run import exit_code, prepare_job
from ddp_codemod.cli.settings import Settings
from ddp_codemod.cli.translate import Command, option
from ddp_codemod.edits.units import Unit, build_units
from ddp_codemod.model import Applicability, Survey


@click.command("review", cls=Command, help="help-review")
@click.argument("paths", nargs=-1, metavar="[PATH]...", shell_complete=completed_by_files)
@option("--html", "page", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="help-review-html")
@option("--answers", is_flag=True, help="help-review-answers")
@option("--allow-dirty", is_flag=True, help="help-allow-dirty")
@commit_options
@from_run_option
@narrow_options
@review_options
def command(
    settings: Settings,
    page: Path | None,
    answers: bool,
    allow_dirty: bool,
    commit: bool,
    branch: str | None,
    run_hooks: bool,
) -> int:
    """Go through the changes one by one."""
    settings = replace(settings, paths=settings.paths or (".",))
    commits = commit or branch is not None
    check_commit(commits, allow_dirty, run_hooks)
    if page is None and not answers and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise make_failure("review-no-terminal", command=settings.again("review", "--html", "review.html"))
    job = prepare_job(replace(settings, unsafe=True), writes=page is None)  # unsafe changes are shown too: here each one is seen
    whole = make_patch(job, converted=allow_dirty)
    if page is not None:
        from ddp_codemod.cli.page import write_page

        return write_page(whole, page, settings.unsafe)
    return _Review(whole, answers, allow_dirty, commits, branch, run_hooks).run()


class _Review(Struct):
    whole: Patching
    answers: bool
    allow_dirty: bool
    commits: bool
    branch: str | None
    run_hooks: bool

    def run(self) -> int:
        from ddp_codemod.cli.ask import Questions, read_piped_answers, read_typed_answers

        broken = {id(edit) for edit in self.whole.rendered.failed_edits}
        choices = [unit for unit in build_units(self.whole.survey) if unit.applicability is not Applicability.MANUAL]
        choices = [unit for unit in choices if not any(id(edit) in broken for edit in unit.edits)]
        choices = [replace(unit, number=number) for number, unit in enumerate(choices, 1)]
        self._check_writable()
        questions = Questions(
            choices,
            self.whole.job.console,
            lambda unit: self._show_unit(unit, len(choices)),
            self._edit_unit,
            read_piped_answers() if self.answers else read_typed_answers(),
        )
        taken = questions.ask()
        return self._write_units(taken, questions.undecided, len(choices))

    def _check_writable(self) -> None:
        """Refuse before the first question what would be refused after the last one."""
        from ddp_codemod.write.apply import check_changes
        from ddp_codemod.write.errors import WriteError

        try:
            check_changes(self.whole.job.root, self.whole.rendered.changes, allow_dirty=self.allow_dirty)
        except WriteError as why:
            raise refusal_failure(why, self.whole.job.root) from None

    def _make_unit_patch(self, unit: Unit) -> Patching:
        survey = replace(self.whole.survey, edits=unit.edits)
        return make_patch_of_survey(self.whole.job, survey, self.allow_dirty)

    def _show_unit(self, shown: Unit, total: int) -> None:
        from ddp_codemod.report.review_unit import format_unit

        alone = self._make_unit_patch(shown)
        console = self.whole.job.console
        console.out()
        for line in format_unit(self.whole.job.view(self.whole.survey), shown, total, alone.rendered.changes, alone.parts):
            console.out(line)

    def _edit_unit(self, unit: Unit) -> Unit | None:
        """What an editor makes of a unit's patch; None, with a word, where it stays as it is."""
        from ddp_codemod.cli.ask import has_editor
        from ddp_codemod.edits.patched_units import PatchError, apply_patch

        console, alone = self.whole.job.console, self._make_unit_patch(unit)
        if self.answers and not has_editor():
            console.out(console.text("review-no-editor"))
            return None
        sources = [alone.survey.sources[change.name] for change in alone.rendered.changes]
        parts = [
            alone.parts[source.name].decode(source.file.encoding.removesuffix("-sig"), "backslashreplace") for source in sources
        ]
        guide = "".join(f"# {line}\n" for line in console.text("review-edit-guide").splitlines())
        before = "".join(parts).replace("\r\n", "\n")
        text = click.edit(guide + before, extension=".diff")
        if text is None or text.removeprefix(guide) == before:
            return None
        try:
            changed = apply_patch(unit, text, sources)
        except PatchError as why:
            console.out(self.whole.job.view(self.whole.survey).reason(why.reason))
            return None
        again = self._make_unit_patch(changed)
        for failed in again.rendered.failed:
            console.out(self.whole.job.view(self.whole.survey).reason(failed.reason))
        return changed if again.rendered.changes and not again.rendered.failed else None

    def _write_units(self, taken: list[Unit], undecided: int, total: int) -> int:
        from ddp_codemod.report.outcome import Outcome
        from ddp_codemod.report.review_unit import format_closing
        from ddp_codemod.write.apply import apply_changes
        from ddp_codemod.write.errors import WriteError

        job = self.whole.job
        done = make_patch_of_survey(job, _select_units(self.whole.survey, taken), self.allow_dirty)
        again, result = done.outcome("written").again, None
        if self.commits and done.rendered.changes:
            result = make_commit(done, self.branch, self.run_hooks)
        else:
            try:
                why = make_change_records(done.survey, done.rendered.changes, job.options.style == "portable")
                apply_changes(job.root, done.rendered.changes, allow_dirty=self.allow_dirty, why=why)
            except WriteError as why:
                raise refusal_failure(why, job.root) from None
        job.console.out()
        if result is not None:
            take_back, id_ = format_undo_command(result), result.id[:10]
            job.console.out(job.console.text("commit-done", id=id_, branch=result.branch))
            again = lambda *_: take_back  # noqa: E731
        failed = (*self.whole.rendered.failed, *done.rendered.failed)
        outcome = Outcome("written", done.made, (), failed, again)
        for line in format_closing(job.view(self.whole.survey), outcome, undecided, total):
            job.console.out(line)
        return exit_code(self.whole.survey, job.settings, failed)


def _select_units(survey: Survey, taken: list[Unit]) -> Survey:
    """The survey with the edits of these units; one that several need is in it once."""
    edits = {id(edit): edit for unit in taken for edit in unit.edits}
    return replace(survey, edits=tuple(edits.values()))
