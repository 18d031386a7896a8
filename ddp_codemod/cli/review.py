"""``review``: take or leave each change, in the terminal or on a page."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from msgspec import Struct
from msgspec.structs import replace

from ddp_codemod.cli.commit import back, check_commit, commit_options
from ddp_codemod.cli.commit import commit as make_commit
from ddp_codemod.cli.errors import fail, refused
from ddp_codemod.cli.options import completed_by_files, from_run_option, narrow_options, review_options
from ddp_codemod.cli.patching import Patching, patched, patching
from ddp_codemod.cli.recorded import recorded
from ddp_codemod.cli.run import exit_code, prepare
from ddp_codemod.cli.settings import Settings
from ddp_codemod.cli.translate import Command, option
from ddp_codemod.edits.units import Unit, units
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
        raise fail("review-no-terminal", command=settings.again("review", "--html", "review.html"))
    job = prepare(replace(settings, unsafe=True), writes=page is None)  # unsafe changes are shown too: here each one is seen
    whole = patching(job, converted=allow_dirty)
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
        from ddp_codemod.cli.ask import Questions, piped, typed

        broken = {id(edit) for edit in self.whole.rendered.failed_edits}
        choices = [unit for unit in units(self.whole.survey) if unit.applicability is not Applicability.MANUAL]
        choices = [unit for unit in choices if not any(id(edit) in broken for edit in unit.edits)]
        choices = [replace(unit, number=number) for number, unit in enumerate(choices, 1)]
        self._check()
        questions = Questions(
            choices,
            self.whole.job.console,
            lambda unit: self._show(unit, len(choices)),
            self._edit,
            piped() if self.answers else typed(),
        )
        taken = questions.ask()
        return self._write(taken, questions.undecided, len(choices))

    def _check(self) -> None:
        """Refuse before the first question what would be refused after the last one."""
        from ddp_codemod.write.apply import check_changes
        from ddp_codemod.write.errors import WriteError

        try:
            check_changes(self.whole.job.root, self.whole.rendered.changes, allow_dirty=self.allow_dirty)
        except WriteError as why:
            raise refused(why, self.whole.job.root) from None

    def _alone(self, unit: Unit) -> Patching:
        survey = replace(self.whole.survey, edits=unit.edits)
        return patched(self.whole.job, survey, self.allow_dirty)

    def _show(self, shown: Unit, total: int) -> None:
        from ddp_codemod.report.unit import unit

        alone = self._alone(shown)
        console = self.whole.job.console
        console.out()
        for line in unit(self.whole.job.view(self.whole.survey), shown, total, alone.rendered.changes, alone.parts):
            console.out(line)

    def _edit(self, unit: Unit) -> Unit | None:
        """What an editor makes of a unit's patch; None, with a word, where it stays as it is."""
        from ddp_codemod.cli.ask import has_editor
        from ddp_codemod.edits.manual import PatchError, edited

        console, alone = self.whole.job.console, self._alone(unit)
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
            changed = edited(unit, text, sources)
        except PatchError as why:
            console.out(self.whole.job.view(self.whole.survey).reason(why.reason))
            return None
        again = self._alone(changed)
        for failed in again.rendered.failed:
            console.out(self.whole.job.view(self.whole.survey).reason(failed.reason))
        return changed if again.rendered.changes and not again.rendered.failed else None

    def _write(self, taken: list[Unit], undecided: int, total: int) -> int:
        from ddp_codemod.report.outcome import Outcome
        from ddp_codemod.report.unit import closing
        from ddp_codemod.write.apply import apply_changes
        from ddp_codemod.write.errors import WriteError

        job = self.whole.job
        done = patched(job, _with(self.whole.survey, taken), self.allow_dirty)
        again, made = done.outcome("written").again, None
        if self.commits and done.rendered.changes:
            made = make_commit(done, self.branch, self.run_hooks)
        else:
            try:
                why = recorded(done.survey, done.rendered.changes, job.options.style == "portable")
                apply_changes(job.root, done.rendered.changes, allow_dirty=self.allow_dirty, why=why)
            except WriteError as why:
                raise refused(why, job.root) from None
        job.console.out()
        if made is not None:
            take_back, id_ = back(made), made.id[:10]
            job.console.out(job.console.text("commit-done", id=id_, branch=made.branch))
            again = lambda *_: take_back  # noqa: E731
        failed = (*self.whole.rendered.failed, *done.rendered.failed)
        outcome = Outcome("written", done.made, (), failed, again)
        for line in closing(job.view(self.whole.survey), outcome, undecided, total):
            job.console.out(line)
        return exit_code(self.whole.survey, job.settings, failed)


def _with(survey: Survey, taken: list[Unit]) -> Survey:
    """The survey with the edits of these units; one that several need is in it once."""
    edits = {id(edit): edit for unit in taken for edit in unit.edits}
    return replace(survey, edits=tuple(edits.values()))
